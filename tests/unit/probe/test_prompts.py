import time
from random import Random

import pytest

from pacewatch.words.slot import WORKLOADS
from probe import prompts
from probe.prompts import make_prompt
from probe.tokens import count_tokens


@pytest.mark.parametrize("size", [16, 20, 21, 59, 60, 61, 64, 100, 107, 1_000, 10_000])
def test_a_prompt_has_the_asked_size_to_the_token(size):
    for seed in range(20):
        assert count_tokens(make_prompt(size, 300, Random(seed))) == size  # noqa: S311 - repeatable


def test_the_largest_prompt_has_its_size_within_a_part_in_a_thousand():
    assert count_tokens(make_prompt(100_000, 2_000)) == pytest.approx(100_000, rel=0.001)


def test_no_two_prompts_share_their_beginning():
    size = WORKLOADS["sentinel"].input_tokens
    heads = [make_prompt(size, 64).partition(".")[0] for _ in range(2_000)]

    assert len(set(heads)) == len(heads)
    assert len({head.split()[0] for head in heads}) > 60


def test_every_word_is_one_token_where_it_may_stand():
    for word in (*prompts._ADJECTIVES, *prompts._NOUNS, *prompts._VERBS):
        assert count_tokens(f" {word}") == 1, word
    for word in prompts._OPENERS:
        assert count_tokens(word) == 1, word


def test_a_large_prompt_is_made_in_milliseconds():
    def took_s() -> float:
        began = time.thread_time()
        make_prompt(100_000, 2_000)
        return time.thread_time() - began

    assert min(took_s() for _ in range(5)) < 0.05


def test_a_prompt_without_room_for_its_order_is_refused():
    with pytest.raises(ValueError, match="at least 16"):
        make_prompt(11, 64)
