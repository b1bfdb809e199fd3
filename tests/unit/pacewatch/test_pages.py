"""What the pages show as a file is one, and the names they use are ours."""

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest

from pacewatch.catalog import own_key_name, parse_catalog, read_catalog
from pacewatch.config import read_fleet
from pacewatch.environment import VARIABLES, environment_faults
from pacewatch.words.fleet import Fleet

ROOT = Path(__file__).parents[3]
PACKAGES = ("pacewatch", "probe", "aggregator", "dashboards")


def blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"^( *)```toml\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL)
    return [re.sub(f"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


def read(text: str) -> Fleet:
    """Return the fleet of a block, its prices left alone."""
    return read_fleet(
        tomllib.loads(text) | {"endpoints": []},
        place="p.toml",
        folder=ROOT,
        environment={"HOME": ""},
        today=date(2026, 12, 1),
    )


@pytest.mark.parametrize(
    "page",
    [
        "docs/reference/settings.md",
        "docs/how-to/add-a-provider.md",
        "docs/how-to/keep-within-limits.md",
        "docs/how-to/run-on-one-machine.md",
        "README.md",
    ],
)
def test_every_file_that_a_page_shows_can_be_read(page):
    found = blocks(page)

    assert found
    for block in found:
        if "auth =" in block:
            assert parse_catalog({"acme": block}).endpoints
        else:
            assert read(block)


def test_the_page_of_settings_has_every_key_of_the_file():
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    sources = [
        ROOT / "pacewatch" / f"{name}.py" for name in ("config", "amounts", "facts", "own", "picks")
    ]
    read_keys = {
        key
        for source in sources
        for key in re.findall(
            r"\.(?:text|texts|whole|number|flag|table|tables|mapping)\(\"([a-z_]+)\"",
            source.read_text(encoding="utf-8"),
        )
    }

    assert len(read_keys) > 20
    assert {key for key in read_keys if f"{key}" not in page} == set()


def test_every_variable_that_the_code_reads_is_known_to_check():
    named = {
        name
        for package in PACKAGES
        for source in (ROOT / package).rglob("*.py")
        for name in re.findall(r"PACEWATCH_[A-Z_]+[A-Z]\b", source.read_text(encoding="utf-8"))
    }
    endpoints = read_catalog().endpoints.values()

    assert len(named) > 8
    assert environment_faults({name: "" for name in named}, endpoints) == []


def test_every_variable_has_its_row_in_the_docs():
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")

    for name, sentence in VARIABLES.items():
        assert f"| `{name}` | {sentence} |" in page


def test_the_variable_of_a_provider_is_made_of_its_id():
    assert own_key_name("my-box.local") == "PACEWATCH_MY_BOX_LOCAL_API_KEY"
