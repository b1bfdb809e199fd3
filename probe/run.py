"""One task -> one run: one request, or several started together, each on its own ready connection.

The setting up, the prompts and the counting of tokens lie outside every clock.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from pacewatch.words.endpoint import Endpoint, endpoint_hash
from pacewatch.words.fleet import Region
from pacewatch.words.slot import Workload
from pacewatch.words.timing import Run, WorkerName
from pacewatch.words.wire import Task
from probe import classify
from probe.adapt import adapted
from probe.connect import Link, open_link
from probe.prompts import make_prompt
from probe.protocols.table import PROTOCOLS
from probe.record import cost_usd, timing_of
from probe.request import Question, make_question, measure, request_id
from probe.seen import Seen
from probe.together import Start


async def make_run(  # noqa: PLR0913 - what a run is made of
    *,
    task: Task,
    endpoint: Endpoint,
    workload: Workload,
    region: Region,
    key: str | None,
    requests: int,
    simulated: bool,
    worker: WorkerName,
    execution: UUID,
    beside: int,
) -> Run:
    """Carry a task out and return its record; never raises for what a provider does.

    The requests are on ready connections before the first is sent, and leave together. Those
    whose connection does not come about are not waited for. A fault of our own is `internal`.
    """
    asked = _Asked(
        endpoint=adapted(endpoint),
        workload=workload,
        region=region,
        key=None if region.simulator_url is not None else key,
        execution=execution,
    )
    parts = [_part(asked, n) for n in range(requests)]
    started_at = datetime.now(UTC)
    links = await asyncio.gather(*(_ready(part.question) for part in parts))
    start = Start(sum(isinstance(link, Link) for link in links))
    seen = await asyncio.gather(
        *(_measured(part.question, link, start) for part, link in zip(parts, links, strict=True))
    )
    earliest_ns = min((one.sent_ns for one in seen if one.sent_ns is not None), default=0)
    timings = tuple(
        timing_of(
            one,
            n=n,
            link=link if isinstance(link, Link) else None,
            earliest_ns=earliest_ns,
            output_tokens=workload.output_tokens,
            secrets=part.secrets,
        )
        for n, (one, link, part) in enumerate(zip(seen, links, parts, strict=True))
    )
    return Run(
        run_id=task.run_id,
        execution=execution,
        region=region.name,
        worker=worker,
        endpoint=endpoint.id,
        endpoint_hash=endpoint_hash(endpoint, workload),
        workload=workload.name,
        load=task.load,
        simulated=simulated,
        started_at=started_at,
        beside=beside,
        cost_usd=cost_usd(timings, endpoint, workload),
        timings=timings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What all requests of a run have in common."""

    endpoint: Endpoint
    workload: Workload
    region: Region
    key: str | None
    execution: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One request of a run."""

    question: Question | Exception
    """What is asked; or why it could not be put, which is a fault of our own."""
    secrets: tuple[str, ...]
    """What no word of the record may repeat."""


def _part(asked: _Asked, n: int) -> _Part:
    endpoint, workload = asked.endpoint, asked.workload
    secrets = () if asked.key is None else (asked.key,)
    try:
        prompt = make_prompt(workload.input_tokens, workload.output_tokens)
        question = make_question(
            endpoint=endpoint,
            protocol=PROTOCOLS[endpoint.protocol],
            region=asked.region,
            key=asked.key,
            prompt=prompt,
            output_tokens=workload.output_tokens + endpoint.reasoning_tokens,
            request_id=str(request_id(asked.execution, n)),
        )
    except Exception as error:  # noqa: BLE001 - the border tells what it stands for
        return _Part(question=error, secrets=secrets)
    return _Part(question=question, secrets=(*secrets, prompt))


async def _ready(question: Question | Exception) -> Link | Exception:
    if isinstance(question, Exception):
        return question
    try:
        return await open_link(question.target, limit_s=question.endpoint.limits.connect_s)
    except Exception as error:  # noqa: BLE001 - the border tells what it stands for
        return error


async def _measured(question: Question | Exception, link: Link | Exception, start: Start) -> Seen:
    if isinstance(question, Question) and isinstance(link, Link):
        return await measure(question, link, start)
    error = link if isinstance(link, Exception) else ValueError("a link without a question")
    return Seen(ending=classify.of_exception(error, status=None, has_ended=False))
