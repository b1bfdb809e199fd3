import pytest

from aggregator import record
from pacewatch.words.timing import ANSWER
from probe import seen
from probe.protocols.interface import Chunk, MalformedAnswer
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
