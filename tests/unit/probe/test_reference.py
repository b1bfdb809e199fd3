"""The reference pages say what the code says."""

import re
from pathlib import Path

from pacewatch.words.flag import Flag
from pacewatch.words.outcome import OUTCOME_MEANINGS, VOTING_OUTCOMES, Outcome

PAGE = Path(__file__).parents[3] / "docs/reference/outcomes.md"


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the first table after a heading, by their first cell's word."""
    _, _, text = PAGE.read_text(encoding="utf-8").partition(f"# {heading}\n")
    found = re.findall(r"^\| `([a-z_]+)` \|(.*)\|$", text.split("\n## ")[0], re.MULTILINE)
    return {word: [cell.strip() for cell in rest.split("|")] for word, rest in found}


def test_every_outcome_has_its_row_in_order_with_its_meaning_and_its_vote():
    found = rows("Outcomes")

    assert list(found) == [str(outcome) for outcome in Outcome]
    for outcome in Outcome:
        meaning, vote = found[outcome]
        assert meaning == OUTCOME_MEANINGS[outcome]
        assert (vote == "yes") is (outcome in VOTING_OUTCOMES)


def test_every_flag_has_its_row():
    assert list(rows("Flags")) == [str(flag) for flag in Flag]
