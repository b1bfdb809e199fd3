import pytest
import typer

from pacewatch.cli.choices import choice_of, metavar_of
from pacewatch.words.slot import Load


def test_one_of_the_words_is_read_and_any_other_is_refused_with_those_that_are_known():
    assert choice_of(Load)("parallel") is Load.PARALLEL
    with pytest.raises(typer.BadParameter, match=r'^unknown word "x" \(known: single, parallel\)$'):
        choice_of(Load)("x")


def test_help_shows_the_words():
    assert metavar_of(Load) == "[single|parallel]"
