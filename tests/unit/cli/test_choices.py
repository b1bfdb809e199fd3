import pytest
import typer

from pacewatch.cli.choices import choice_of, metavar_of, number_of
from pacewatch.words.slot import Load


def test_one_of_the_words_is_read_and_any_other_is_refused_with_those_that_are_known():
    assert choice_of(Load)("parallel") is Load.PARALLEL
    with pytest.raises(typer.BadParameter, match=r'^unknown word "x" \(known: single, parallel\)$'):
        choice_of(Load)("x")


@pytest.mark.parametrize("told", ["x", "0", "-1", "1.5", "", "9" * 19, "\u0663"])
def test_what_is_no_number_is_refused_with_what_is(told):
    assert number_of("a silence")("12") == 12
    with pytest.raises(typer.BadParameter) as refused:
        number_of("a silence")(told)
    assert str(refused.value) == (
        f'"{told}" is no number of a silence (allowed: a whole number from 1 on)'
    )


def test_help_shows_the_words():
    assert metavar_of(Load) == "[single|parallel]"
