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


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workloads_prompt_has_its_size_within_two_percent(name):
    workload = WORKLOADS[name]
    prompt = make_prompt(workload.input_tokens, workload.output_tokens)

    assert count_tokens(prompt) == pytest.approx(workload.input_tokens, rel=0.02)


@pytest.mark.parametrize("name", WORKLOADS)
def test_no_two_prompts_are_alike_in_their_first_64_tokens(name):
    workload = WORKLOADS[name]
    tries = 1_000_000 // max(1_000, workload.input_tokens)
    prompts_made = [make_prompt(workload.input_tokens, 64) for _ in range(tries)]
    heads = {first_tokens(prompt, 64) for prompt in prompts_made}

    assert len(heads) == tries


def test_the_very_first_word_differs_from_prompt_to_prompt():
    firsts = {make_prompt(20, 64).split()[0] for _ in range(2_000)}

    assert len(firsts) > 60


def first_tokens(text: str, count: int) -> str:
    """The text of so many tokens at most: words are single tokens, and so are their stops."""
    words, tokens = [], 0
    for word in text.split(" "):
        tokens += 1 + word.endswith(".")
        if tokens > count:
            break
        words.append(word)
    return " ".join(words)


def test_every_word_is_one_token_where_it_may_stand():
    for word in (*prompts._ADJECTIVES, *prompts._NOUNS, *prompts._VERBS):
        assert count_tokens(f" {word}") == 1, word
    for word in prompts._OPENERS:
        assert count_tokens(word) == 1, word


def test_a_prompt_without_room_for_its_order_is_refused():
    with pytest.raises(ValueError, match="at least 16"):
        make_prompt(11, 64)
