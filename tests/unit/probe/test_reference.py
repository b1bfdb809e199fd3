"""The reference pages say what the code says."""

import re
from pathlib import Path

import pytest
from support.timings import make_timing

import probe
from pacewatch.words.endpoint import Limits
from pacewatch.words.figures import ARRIVAL_GAP_US, SHORTEST_WINDOW_US, figures_of
from pacewatch.words.flag import FLAG_MEANINGS, Figure, Flag, leaves_text
from pacewatch.words.outcome import OUTCOME_MEANINGS, VOTING_OUTCOMES, Outcome
from pacewatch.words.timing import Chunks
from probe.alarm import AFTER_END_NS
from probe.flags import CLOCK_GAP_NS

REFERENCE = Path(__file__).parents[3] / "docs/reference"
OUTCOMES = (REFERENCE / "outcomes.md").read_text(encoding="utf-8")
DEFINITIONS = (REFERENCE / "definitions.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the first table after a heading, by their first cell's word."""
    _, _, text = OUTCOMES.partition(f"# {heading}\n")
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


def test_every_flag_says_when_it_is_set_and_which_figures_it_takes_out():
    told = {flag: (when, taken.partition(";")[0]) for flag, (when, taken) in rows("Flags").items()}

    assert told == {str(flag): (FLAG_MEANINGS[flag], leaves_text(flag)) for flag in Flag}


def test_every_figure_of_a_request_is_defined():
    assert {str(figure) for figure in Figure} <= set(
        re.findall(r"^\|[^|]*\| `([a-z_]+)` \|", DEFINITIONS, re.MULTILINE)
    )


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("each come at most {} us after the one before", ARRIVAL_GAP_US),
        ("first and last are under {} ms apart", SHORTEST_WINDOW_US // 1000),
        ("over {} ms between the two is flagged `clock_gap`", CLOCK_GAP_NS // 1_000_000),
        ("| connect | {} s |", round(Limits().connect_s)),
        ("| first token | {} s, 300 s", round(Limits().first_token_s)),
        ("| stall | {} s |", round(Limits().stall_s)),
        ("| total | {} s |", round(Limits().total_s)),
        ("| usage | {} s |", AFTER_END_NS // 1_000_000_000),
    ],
)
def test_the_numbers_of_the_definitions_are_those_of_the_code(sentence, value):
    assert sentence.format(value) in DEFINITIONS


def test_the_worked_example_is_right():
    timing = make_timing(
        Chunks(at_us=(200_000, 300_000, 500_000), size_bytes=(1,) * 3, tokens=(3, 4, 6), kind="aaa")
    )
    figures = figures_of(timing)

    assert (figures.ttft_s, figures.end_to_end_s, figures.stall_s) == (0.2, 0.5, 0.2)
    assert round(figures.output_tokens_per_s or 0, 1) == 33.3
    assert "33.3 tokens/s" in DEFINITIONS


def test_every_word_for_what_is_malformed_is_explained():
    folder = Path(probe.__file__).parent
    code = "".join(file.read_text(encoding="utf-8") for file in folder.rglob("*.py"))
    said = set(re.findall(r'MalformedAnswer\("([a-z_]+)"\)', code))

    assert len(said) > 8
    assert {word for word in said if f"`{word}`" not in OUTCOMES} == set()
