import itertools

from pacewatch.sim.text import write_tokens
from probe.tokens import count_chunks, count_tokens


def test_every_item_is_one_token_in_whatever_text_it_stands():
    for seed in range(20):
        items = list(itertools.islice(write_tokens(str(seed)), 1_500))

        assert {count_tokens(item) for item in set(items)} == {1}
        assert count_chunks(items, "a" * len(items)).of_chunks == (1,) * len(items)


def test_two_seeds_write_different_texts():
    texts = {"".join(itertools.islice(write_tokens(str(n)), 40)) for n in range(50)}

    assert len(texts) == 50


def test_no_short_cycle_fills_the_text():
    items = list(itertools.islice(write_tokens(str(1)), 300))

    assert len(set(items)) > 60
