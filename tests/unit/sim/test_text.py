import itertools
import warnings
from typing import Any

import pytest

from pacewatch.sim.text import write_tokens


@pytest.fixture(scope="module")
def encoding() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it reads its data the old way
        import bpe_openai

        return bpe_openai.get_encoding("o200k_base")


def test_every_item_is_one_token_in_whatever_text_it_stands(encoding):
    for seed in range(20):
        items = list(itertools.islice(write_tokens(str(seed)), 1_500))

        tokens = encoding.encode_ordinary("".join(items))

        assert [item.encode() for item in items] == [
            encoding.decode_single_token_bytes(token) for token in tokens
        ]


def test_two_seeds_write_different_texts():
    texts = {"".join(itertools.islice(write_tokens(str(n)), 40)) for n in range(50)}

    assert len(texts) == 50


def test_no_short_cycle_fills_the_text():
    items = list(itertools.islice(write_tokens(str(1)), 300))

    assert len(set(items)) > 60
