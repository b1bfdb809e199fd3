"""The how-tos, followed step by step."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from support.answers import good_case
from support.catalog_page import endpoint_table, provider_table
from support.guide import copy_tree, follow, page, run_in
from support.replay import replay

from pacewatch.catalog import parse_catalog

PACKAGES = ("pacewatch", "probe", "aggregator", "dashboards")

MEASURE = """
import asyncio, json
from support.probing import probe
from support.simulator import make_endpoint, running_simulator
from pacewatch.words.endpoint import Protocol

endpoint = make_endpoint(
    "acme/tide", base_url="https://api.acme.example/v1", protocol=Protocol("plain-words"),
    tokens_per_s=300.0,
)
with running_simulator(endpoint, regions=("eu-west",)) as simulator:
    run = probe(
        endpoint.base_url, region=simulator.region("eu-west"), key=None, id=endpoint.id,
        provider=endpoint.provider, provider_model=endpoint.provider_model,
        protocol=endpoint.protocol, auth=endpoint.auth,
    )
    sent = simulator.settled_answers()[-1]
(timing,) = run.timings
print(json.dumps([timing.outcome, sum(timing.chunks.tokens), sent["tokens"]]))
"""


@pytest.fixture(scope="module")
def with_protocol(tmp_path_factory) -> Path:
    """A copy of the tree in which the page on protocols has been followed."""
    names = (*PACKAGES, "tests", "pyproject.toml")
    tree = copy_tree(tmp_path_factory.mktemp("protocol"), *names)
    follow(page("how-to/add-a-protocol.md"), tree)
    return tree


def test_the_pages_protocol_is_read_and_spoken(with_protocol):
    done = run_in(with_protocol, "-c", MEASURE)

    outcome, counted, sent = json.loads(done.stdout or "[0, 0, 0]")
    assert outcome == "ok", done.stderr
    assert counted == sent > 0


def test_the_checks_that_the_page_ends_with_find_the_protocol_whole(with_protocol):
    done = run_in(
        with_protocol,
        *("-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *("tests/unit/probe/protocols/test_table.py", "tests/unit/sim/test_voices.py"),
    )

    assert done.returncode == 0, done.stdout


def test_a_server_of_ones_own_is_checked_planned_and_measured_as_the_page_says(tmp_path):
    text = page("how-to/add-a-provider.md")
    (block,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (words,) = re.findall(r"^pacewatch (probe .*)$", text, re.MULTILINE)
    with replay(good_case()) as served:
        port = str(served.port)
        (tmp_path / "pacewatch.toml").write_text(block.replace("9911", port))
        checked = run_in(tmp_path, "-m", "pacewatch", "check")
        planned = run_in(tmp_path, "-m", "pacewatch", "plan")
        asked_before = len(served.asked)
        measured = run_in(tmp_path, "-m", "pacewatch", *words.replace("9911", port).split())

    assert (checked.returncode, planned.returncode, asked_before) == (0, 0, 0)
    assert f"127.0.0.1-{port}/smollm2" in planned.stdout
    assert measured.returncode == 0, measured.stdout + measured.stderr
    assert "Time to first token" in measured.stdout
    assert len(served.asked) == 1


@pytest.fixture(scope="module")
def provider_file() -> str:
    """The file of a provider that the page shows."""
    text = page("how-to/add-a-provider.md")
    (block,) = re.findall(r"^   ```toml\n(.*?)^   ```", text, re.MULTILINE | re.DOTALL)
    return re.sub("^   ", "", block, flags=re.MULTILINE)


def test_a_provider_of_the_page_is_known_to_check_and_plan(tmp_path, provider_file):
    tree = copy_tree(tmp_path, *PACKAGES)
    (tree / "pacewatch/providers/acme.toml").write_text(provider_file)
    key = {"PACEWATCH_ACME_API_KEY": "test-key-0123456789"}
    checked = run_in(tree, "-m", "pacewatch", "check", **key)
    planned = run_in(tree, "-m", "pacewatch", "plan", "--json", **key)

    assert checked.returncode == 0, checked.stderr
    assert "acme/gpt-oss-120b@fp8" in planned.stdout
    assert "test-key" not in checked.stdout + planned.stdout


def test_a_provider_of_the_page_has_its_rows_in_both_tables(provider_file):
    catalog = parse_catalog({"acme": provider_file})

    assert "| `acme` | Acme | openai-chat |" in provider_table(catalog)
    assert "| `acme/gpt-oss-120b@fp8` | `acme/gpt-oss-120b` | yes | 300.0 |" in endpoint_table(
        catalog
    )
    assert tomllib.loads(provider_file)["endpoint"][0]["price"]["source"]
