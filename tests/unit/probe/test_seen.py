import pytest

from aggregator import record
from pacewatch.words.timing import ANSWER, REASONING, ProviderTokens
from probe import seen
from probe.protocols.interface import Chunk, MalformedAnswer, Usage, Whole
from probe.seen import Seen
from probe.stamps import Portion


def test_an_endless_answer_is_kept_up_to_its_bound_and_no_further():
    held = Seen(most_chunks=3)
    for moment in range(3):
        held.take(Chunk(kind=ANSWER, text="word"), Portion(data=b"word", stamp_ns=moment))

    with pytest.raises(MalformedAnswer, match="endless"):
        held.take(Chunk(kind=ANSWER, text="word"), Portion(data=b"word", stamp_ns=3))

    assert (len(held.at_ns), len(held.kinds), len(held.texts)) == (3, 3, 3)


def test_the_centre_takes_as_many_chunks_as_a_worker_keeps():
    assert seen.MAX_CHUNKS <= record.MAX_CHUNKS


@pytest.mark.parametrize(
    ("told", "whole"),
    [
        ([{"input": 1_000, "cached_input": 960}, {"input": 40, "output": 9}], 1_000),
        ([{"input": 1_000, "cached_input": 960}, {"input": 1_200, "output": 9}], 1_200),
        ([{"input": 1_000, "cached_input": 960}, {"input": 40, "cached_input": 0}], 40),
        ([{"input": 12, "cached_input": 0}, {"input": 10}], 10),
        ([{"input": 0}, {"input": 40}, {}], 40),
    ],
)
def test_the_last_total_counts_unless_it_leaves_the_cached_part_of_the_prompt_untold(told, whole):
    held = Seen()
    for tokens in told:
        held.take(Usage(tokens=ProviderTokens(**tokens)), Portion(data=b"x", stamp_ns=0))

    assert held.tokens is not None
    assert held.tokens.input == whole


def test_a_usage_that_tells_nothing_is_none():
    held = Seen()
    held.take(Usage(tokens=ProviderTokens()), Portion(data=b"x", stamp_ns=0))

    assert held.tokens is None


@pytest.mark.parametrize(
    ("pieces", "texts"),
    [
        ([Chunk(kind=ANSWER, text="Low"), Whole(kind=ANSWER, text="Low tide")], ["Low"]),
        ([Whole(kind=ANSWER, text="Low"), Whole(kind=ANSWER, text="Low")], ["Low"]),
        ([Whole(kind=ANSWER, text="Low"), Whole(kind=ANSWER, text="tide")], ["Low", "tide"]),
        ([Chunk(kind=REASONING, text="Hm"), Whole(kind=ANSWER, text="Low")], ["Hm", "Low"]),
    ],
)
def test_a_text_told_whole_counts_once_and_only_where_nothing_of_its_kind_was_streamed(
    pieces, texts
):
    held = Seen()
    for piece in pieces:
        held.take(piece, Portion(data=b"x", stamp_ns=0))

    assert held.texts == texts
