from hypothesis import given
from hypothesis import strategies as st

from probe.tokens import count_chunks, count_tokens, text_bytes


def test_a_token_belongs_to_the_chunk_that_brought_its_last_byte():
    counted = count_chunks(["Salt", " a", "ir", " rises"], "aaaa")

    assert counted.of_chunks == (1, 0, 1, 1)


def test_each_kind_is_tokenised_as_a_whole():
    counted = count_chunks(["Low", "Hi", " water", " there"], "rara")

    assert counted.of_chunks == (1, 1, 1, 1)
    assert sum(counted.of_chunks) == count_tokens("Low water") + count_tokens("Hi there")


def test_a_character_of_several_tokens_belongs_to_its_chunk():
    assert count_chunks(["tide ", "🌊"], "aa").of_chunks == (2, 2)


def test_no_text_has_no_tokens():
    assert count_chunks([], "").of_chunks == ()


def test_special_tokens_in_a_text_are_text():
    assert count_tokens("<|endoftext|>") > 1


def test_half_a_surrogate_pair_is_counted_and_does_no_harm():
    counted = count_chunks(["a\ud83c", "\udf0ab"], "aa")

    assert sum(counted.of_chunks) == len(counted.ids) > 0
    assert text_bytes("\ud83c") == 3


@given(st.lists(st.text(max_size=12), min_size=1, max_size=12))
def test_however_a_text_is_parted_its_tokens_are_those_of_the_whole(texts):
    counted = count_chunks(texts, "a" * len(texts))

    assert sum(counted.of_chunks) == count_tokens("".join(texts))
    assert all(count >= 0 for count in counted.of_chunks)


def test_a_text_beyond_one_portion_is_counted_whole():
    counted = count_chunks(["tide " * 60_000, " end"], "aa")

    assert counted.of_chunks[1] == 1
