"""The how-tos, followed step by step."""

import json
import re
from pathlib import Path

import pytest
from support.answers import good_case
from support.guide import copy_tree, follow, page, run_in
from support.replay import replay
from support.simulator import running_simulator

from pacewatch.catalog import parse_catalog

PACKAGES = ("pacewatch", "probe", "aggregator", "dashboards")

MEASURE = """
import json, subprocess, sys
from support.simulator import make_endpoint, running_simulator
from pacewatch.words.endpoint import Protocol

endpoint = make_endpoint(
    "acme/tide", base_url="https://api.acme.example/v1", protocol=Protocol("plain-words"),
    tokens_per_s=300.0,
)
with running_simulator(endpoint, regions=("eu-west",)) as simulator:
    words = [simulator.address.regions["eu-west"] + "/acme/v1" if "127.0.0.1" in word else word
             for word in sys.argv[1:]]
    command = [sys.executable, "-m", "pacewatch", *words, "--json"]
    done = subprocess.run(command, capture_output=True)
    sent = simulator.settled_answers()[-1]
(request,) = json.loads(done.stdout)["requests"]
print(json.dumps([request["outcome"], sum(request["chunks"]["tokens"]), sent["tokens"]]))
"""
"""Measures, as the page's command says, a server of the simulator's."""

SOME = "table or voices or plain and (two-words or none-1 or fail-503 or overloaded or filter)"
"""Of the tests that the page runs: transcript, a good answer, and a few faults in place of all."""


@pytest.fixture(scope="module")
def with_protocol(tmp_path_factory) -> Path:
    """A copy of the tree in which the page on protocols has been followed."""
    names = (*PACKAGES, "tests", "pyproject.toml")
    tree = copy_tree(tmp_path_factory.mktemp("protocol"), *names)
    follow(page("how-to/add-a-protocol.md"), tree)
    return tree


def run_tests(tree: Path, *words: str) -> None:
    done = run_in(tree, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *words)
    assert done.returncode == 0, done.stdout


def test_the_checks_of_the_page_find_the_protocol_whole_and_probe_it_with_its_faults(with_protocol):
    probed = "tests/integration/probe"
    run_tests(
        with_protocol,
        *("tests/unit/probe/protocols/test_table.py", "tests/unit/sim/test_voices.py"),
        *(f"{probed}/test_cases.py", f"{probed}/test_every_outcome.py", "-k", SOME),
    )


def test_the_pages_command_measures_the_protocol(with_protocol):
    (words,) = re.findall(r"^pacewatch (probe .*)$", page("how-to/add-a-protocol.md"), re.MULTILINE)
    done = run_in(with_protocol, "-c", MEASURE, *words.split())

    outcome, counted, sent = json.loads(done.stdout or "[0, 0, 0]")
    assert outcome == "ok", done.stderr
    assert counted == sent == 300


def test_a_server_of_ones_own_is_checked_planned_and_measured_as_the_page_says(tmp_path):
    text = page("how-to/add-a-provider.md")
    (block,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (words,) = re.findall(r"^pacewatch (probe .*)$", text, re.MULTILINE)  # not the one indented
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


KEY = "test-key-0123456789"


@pytest.fixture(scope="module")
def provider_file() -> str:
    """The file of a provider that the page shows."""
    return block_of("toml")


def block_of(kind: str) -> str:
    """What the page shows in the steps for everybody."""
    (block,) = re.findall(
        rf"^   ```{kind}\n(.*?)^   ```",
        page("how-to/add-a-provider.md"),
        re.MULTILINE | re.DOTALL,
    )
    return re.sub("^   ", "", block, flags=re.MULTILINE)


def with_provider(tree: Path, provider_file: str) -> Path:
    """A copy of the tree in which the file and the rows of the page have been added."""
    copy_tree(tree, *PACKAGES, "tests", "docs", "pyproject.toml")
    (tree / "pacewatch/providers/acme.toml").write_text(provider_file)
    catalog = tree / "docs/reference/catalog.md"
    lines = catalog.read_text().split("\n")
    for row in block_of("text").splitlines():
        cells = row.count("|")
        like = [n for n, line in enumerate(lines) if line.startswith("| `") and is_alike(line, row)]
        place = next((n for n in like if lines[n] > row), like[-1] + 1)
        assert lines[place].count("|") == cells
        lines.insert(place, row)
    catalog.write_text("\n".join(lines))
    return tree


def is_alike(line: str, row: str) -> bool:
    """Tell whether a line is of the row's table: of as many cells, with ids of that form."""
    first, other = line.split("|")[1], row.split("|")[1]
    return line.count("|") == row.count("|") and ("/" in first) == ("/" in other)


def test_a_provider_of_the_page_goes_through_every_step_to_its_first_measurement(
    tmp_path, provider_file
):
    tree = with_provider(tmp_path, provider_file)
    run_tests(tree, "tests/unit/pacewatch/test_catalog.py")
    key = {"PACEWATCH_ACME_API_KEY": KEY}
    checked = run_in(tree, "-m", "pacewatch", "check", **key)
    planned = run_in(tree, "-m", "pacewatch", "plan", "--json", **key)
    (endpoint,) = [
        one
        for one in parse_catalog({"acme": provider_file}).endpoints.values()
        if one.provider == "acme"
    ]
    with running_simulator(endpoint, regions=("eu-west",)) as simulator:
        address = simulator.address.regions["eu-west"] + "/acme/v1"
        moved = provider_file.replace(endpoint.base_url, address)
        (tree / "pacewatch/providers/acme.toml").write_text(moved)
        (words,) = re.findall(
            r"^   pacewatch (probe .*)$", page("how-to/add-a-provider.md"), re.MULTILINE
        )
        measured = run_in(tree, "-m", "pacewatch", *words.split(), **key)
        unkeyed = run_in(tree, "-m", "pacewatch", *words.split())
        (answer,) = simulator.settled_answers()

    assert checked.returncode == 0, checked.stderr
    assert "acme/gpt-oss-120b@fp8" in planned.stdout
    assert measured.returncode == 0, measured.stdout + measured.stderr
    assert "Time to first token" in measured.stdout
    assert (answer["endpoint"], answer["end"]) == ("acme/gpt-oss-120b@fp8", "complete")
    assert unkeyed.returncode == 2
    assert KEY not in checked.stdout + planned.stdout + measured.stdout
