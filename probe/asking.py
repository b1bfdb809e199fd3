"""Questions asked together: each on its own ready connection, off at once, and heard out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from probe import classify
from probe.channel import Channel, ReaderLost
from probe.connect import Link, open_link
from probe.reading import Reading
from probe.request import Question, measure
from probe.seen import MAX_CHUNKS, MAX_RUN_CHUNKS, Seen
from probe.together import Start

Watch = Callable[[Sequence[Seen]], None]
"""Is shown the answers in the making, once, when the requests are about to leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What became of one question."""

    seen: Seen
    link: Link | None
    """None where no connection came about."""


async def ask_together(
    questions: Sequence[Question | Exception],
    reading: Reading | None,
    watch: Watch | None = None,
) -> list[Heard]:
    """Ask all, and return what was seen of each; an exception in a question's place is its ending.

    They are on ready connections before the first is sent, and leave together. Those whose
    connection does not come about are not waited for.
    """
    async with _channel(reading) as channel:
        links = await asyncio.gather(*(_ready(question, channel) for question in questions))
        start = Start(sum(isinstance(link, Link) for link in links))
        most = min(MAX_CHUNKS, MAX_RUN_CHUNKS // max(len(questions), 1))
        seen = [Seen(most_chunks=most) for _ in questions]
        if watch is not None:
            watch(seen)
        asked = zip(questions, links, seen, strict=True)
        await asyncio.gather(*(_measured(*one, start) for one in asked))
    return [
        Heard(seen=one, link=link if isinstance(link, Link) else None)
        for one, link in zip(seen, links, strict=True)
    ]


@asynccontextmanager
async def _channel(reading: Reading | None) -> AsyncIterator[Channel | None]:
    """Give the run's channel to the reader process; None where there is none."""
    channel = None if reading is None else await reading.open_channel()
    try:
        yield channel
    finally:
        if channel is not None:
            channel.close()


async def _ready(question: Question | Exception, channel: Channel | None) -> Link | Exception:
    """Return a ready connection that the reader empties, or why there is none."""
    if isinstance(question, Exception):
        return question
    try:
        link = await open_link(question.target, limit_s=question.endpoint.limits.connect_s)
    except Exception as error:  # noqa: BLE001 - the border tells what it stands for
        return error
    if channel is not None:
        try:
            await link.wire.read_by(channel)
        except ReaderLost as error:
            link.wire.close()
            return error
    return link


async def _measured(
    question: Question | Exception, link: Link | Exception, seen: Seen, start: Start
) -> None:
    if isinstance(question, Question) and isinstance(link, Link):
        await measure(question, link, start, seen)
        return
    error = link if isinstance(link, Exception) else ValueError("a link without a question")
    seen.ending = classify.of_exception(error, status=None, has_ended=False)
