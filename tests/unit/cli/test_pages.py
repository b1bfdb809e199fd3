"""The commands that pages have people call are there, with the options that they are told with."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pacewatch.cli.app import app

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLACED = r"(?:docker compose exec \S+ )?(?:[A-Z_]+=\S+ )*pacewatch ([a-z][^`\n]*)"
"""A command, with what may stand before it."""


def told_in(text: str) -> list[str]:
    """The commands of a page: in its shell blocks, and in its sentences."""
    blocks = re.findall(r"^ *```(?:sh|console)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    lines = [
        found[1]
        for block in blocks
        for line in block.replace("\\\n", " ").splitlines()
        if (found := re.fullmatch(rf"\s*(?:\$ )?{PLACED}", line))
    ]
    return lines + re.findall(
        rf"`{PLACED}`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    )


def words_of(command: str) -> list[str]:
    """Its words, without what the shell does with its output, and with a word for the value of an
    option that is only named.
    """
    words = shlex.split(re.sub(r"[\[\]]", "", command), comments=True)
    ends = [n for n, word in enumerate(words) if word in ("|", ">", "<", "&&", "&")]
    words = words[: min(ends, default=len(words))]
    return [*words, "x"] if words[-1].startswith("--") else words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_is_one(page):
    for command in told_in(page.read_text("utf-8")):
        done = CliRunner().invoke(app, [*words_of(command), "--help"])

        assert (done.exit_code, done.exception) == (0, None), f"{command}: {done.output}"


def test_commands_are_found_on_the_pages_and_one_that_is_none_is_told_from_them():
    found = [command for page in PAGES for command in told_in(page.read_text("utf-8"))]

    assert len(found) > 100
    for wrong in ("stattus", "status --jsn", "incidents show 7 --to me"):
        assert CliRunner().invoke(app, [*wrong.split(), "--help"]).exit_code == 2
