"""`GET /api/export`: raw requests of any length of time, as CSV or as JSON lines."""

import logging
import threading
from collections.abc import Generator, Iterator
from datetime import timedelta
from itertools import chain
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime
from starlette.types import Message, Send
from typing_extensions import TypedDict

from aggregator.api.centre import AtCentre
from aggregator.api.described import Moment, reference, told
from aggregator.api.figure_documents import ANSWER, END_TO_END, SPEED, STALL, TTFT
from aggregator.api.filters import Asked
from aggregator.api.problems import Problem
from aggregator.export import MEDIA_TYPES, Form, export
from pacewatch import log

logger = logging.getLogger(__name__)

AT_ONCE = 2
"""Exports at once: each holds one of the store's connections for as long as a day takes."""

RETRY_AFTER_S = 30

TAKEN_WITHIN_S = 60.0
"""How long a reader may take nothing before its export is broken off, seconds."""

AskedMoment = Annotated[AwareDatetime | None, Query(description="RFC 3339, with its offset.")]


class ExportLineDocument(TypedDict):
    """One request; in CSV unknown is empty, and lists are words with spaces between."""

    run: Annotated[str, told("id of its run")]
    n: Annotated[int, told("its number in the run, from 0")]
    slot_at: Annotated[Moment, told("for when the run was planned")]
    received_at: Annotated[Moment, told("when the run came in")]
    purpose: Annotated[str, told("why the run was made")]
    endpoint: Annotated[str, told("an id")]
    provider: Annotated[str, told("the provider's word in ids")]
    model: Annotated[str, told("by its maker's name")]
    precision: Annotated[str, told("what the provider says it serves")]
    region: Annotated[str, told("from where")]
    workload: Annotated[str, told("the shape of the request")]
    load: Annotated[str, told("single or parallel")]
    simulated: Annotated[bool, told("whether a simulator plays the provider")]
    worker: Annotated[str, told("id of the worker")]
    worker_version: Annotated[str, told("of Pacewatch")]
    endpoint_hash: Annotated[str, told("of endpoint, workload and settings")]
    definition: Annotated[int, told("version of the definitions that its figures follow")]
    outcome: Annotated[str, told("how it ended")]
    fault_status: Annotated[int | None, told("of HTTP")]
    fault_type: Annotated[str | None, told("the provider's own word")]
    flags: Annotated[list[str], told("of the request and of its run")]
    left_out: Annotated[list[str], told("figures that its flags keep out of statistics")]
    tokens: Annotated[int, told("o200k tokens of its text")]
    ttft_s: Annotated[float | None, told(TTFT)]
    answer_s: Annotated[float | None, told(ANSWER)]
    output_tokens_per_s: Annotated[float | None, told(SPEED)]
    end_to_end_s: Annotated[float | None, told(END_TO_END)]
    stall_s: Annotated[float | None, told(STALL)]
    system_tokens_per_s: Annotated[float | None, told("of the run, tokens/s")]
    run_cost_usd: Annotated[float | None, told("of the run, told at each of its requests, US$")]


_LINES: dict[str, dict[str, Any]] = {
    "text/csv": {"schema": {"type": "string"}},
    "application/jsonl": {
        "schema": {"type": "string"},
        "itemSchema": reference(ExportLineDocument),
    },
}


class Doors:
    """Lets so many through at once."""

    def __init__(self) -> None:
        """Start with all of them open."""
        self._free = threading.BoundedSemaphore(AT_ONCE)

    def through(self, pieces: Iterator[bytes]) -> Generator[bytes]:
        """Give the pieces, holding a door until the last one is taken or nobody asks any more.

        Raises Problem at the first one where no door is free.
        """
        if not self._free.acquire(blocking=False):
            raise Problem(
                429, f"{AT_ONCE} exports are under way already", retry_after_s=RETRY_AFTER_S
            )
        try:
            yield from pieces
        finally:
            self._free.release()


class TakenResponse(StreamingResponse):
    """Pieces that are closed with the answer, and broken off where nobody takes them."""

    def __init__(self, pieces: Generator[bytes], begun: bytes, **fields: Any) -> None:
        """Send the piece that was taken already, then the others; the fields are of any answer."""
        super().__init__(chain((begun,), pieces), **fields)
        self._pieces = pieces

    async def stream_response(self, send: Send) -> None:
        """Send piece by piece; returns early, and so breaks off, where a reader has stopped."""

        async def send_in_time(message: Message) -> None:
            with anyio.fail_after(TAKEN_WITHIN_S):
                await send(message)

        try:
            await super().stream_response(send_in_time)
        except TimeoutError:
            log.event(logger, "export.not_taken", level=logging.WARNING, after_s=TAKEN_WITHIN_S)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._pieces.close)


def router() -> APIRouter:
    """Return the route, with doors of its own."""
    made = APIRouter(prefix="/api", tags=["read"])
    doors = Doors()

    @made.get(
        "/export",
        response_class=StreamingResponse,
        responses={200: {"content": _LINES}},
    )
    def requests(
        centre: AtCentre,
        asked: Asked,
        since: AskedMoment = None,
        until: AskedMoment = None,
        format: Form = Form.JSONL,
    ) -> Response:
        """Return every request of runs whose slots lie from `since` (a day before `until`, unless
        said) to before `until` (now), a line each, in the order of the slots.
        """
        last = until or centre.clock()
        try:
            first = since or last - timedelta(days=1)
        except OverflowError as error:
            raise Problem(422, "until: is before the calendar") from error
        pieces = doors.through(export(centre.pool, asked, since=first, until=last, form=format))
        begun = next(pieces, b"")  # what goes wrong at once is still told as a status
        headers = {"Content-Disposition": f'attachment; filename="pacewatch.{format}"'}
        return TakenResponse(pieces, begun, media_type=MEDIA_TYPES[format], headers=headers)

    return made
