"""One task -> one run: one request, or several started together, each on its own ready connection.

The setting up, the prompts and the counting of tokens lie outside every clock.
"""

import asyncio
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
from probe.network import Start
from probe.prompts import make_prompt
from probe.protocols.table import PROTOCOLS
from probe.record import cost_usd, timing_of
from probe.request import Question, make_question, measure, request_id
from probe.seen import Seen


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
    asked = adapted(endpoint)
    asked_tokens = workload.output_tokens + endpoint.reasoning_tokens
    prompts = [make_prompt(workload.input_tokens, workload.output_tokens) for _ in range(requests)]
    questions = [
        make_question(
            endpoint=asked,
            protocol=PROTOCOLS[endpoint.protocol],
            region=region,
            key=None if region.simulator_url is not None else key,
            prompt=prompt,
            output_tokens=asked_tokens,
            request_id=str(request_id(execution, n)),
        )
        for n, prompt in enumerate(prompts)
    ]
    started_at = datetime.now(UTC)
    links = await asyncio.gather(*(_ready(question) for question in questions))
    start = Start(sum(isinstance(link, Link) for link in links))
    seen = await asyncio.gather(
        *(_measured(question, link, start) for question, link in zip(questions, links, strict=True))
    )
    sent = [one.sent_ns for one in seen if one.sent_ns is not None]
    timings = tuple(
        timing_of(
            one,
            n=n,
            link=link if isinstance(link, Link) else None,
            earliest_ns=min(sent, default=0),
            output_tokens=workload.output_tokens,
            secrets=(prompt,) if key is None else (key, prompt),
        )
        for n, (one, link, prompt) in enumerate(zip(seen, links, prompts, strict=True))
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


async def _ready(question: Question) -> Link | Exception:
    try:
        return await open_link(question.target, limit_s=question.endpoint.limits.connect_s)
    except Exception as error:  # noqa: BLE001 - the border tells what it stands for
        return error


async def _measured(question: Question, link: Link | Exception, start: Start) -> Seen:
    if isinstance(link, Link):
        return await measure(question, link, start)
    return Seen(ending=classify.of_exception(link, status=None, has_ended=False))
