"""One task -> one run: one request, or several started together, each on its own ready connection.

The setting up, the prompts and the counting of tokens lie outside every clock.
"""

from dataclasses import dataclass
from uuid import UUID

from pacewatch.words.endpoint import Endpoint, endpoint_hash
from pacewatch.words.fleet import Region
from pacewatch.words.slot import Workload
from pacewatch.words.timing import Run, WorkerName
from pacewatch.words.wire import Task
from probe.adapt import adapted
from probe.asking import Watch, ask_together
from probe.clock import Wall, wall_now
from probe.cost import cost_usd
from probe.keys import Key
from probe.prompts import make_prompt
from probe.protocols.table import PROTOCOLS
from probe.reading import Reading
from probe.record import timing_of
from probe.request import Question, make_question, request_id
from probe.sign import Signer, open_signer


async def make_run(  # noqa: PLR0913 - what a run is made of
    *,
    task: Task,
    endpoint: Endpoint,
    workload: Workload,
    region: Region,
    key: Key | None,
    requests: int,
    simulated: bool,
    worker: WorkerName,
    execution: UUID,
    beside: int,
    reading: Reading | None = None,
    watch: Watch | None = None,
    wall: Wall = wall_now,
) -> Run:
    """Carry a task out and return its record; never raises for what a provider does.

    The requests are on ready connections before the first is sent, and leave together. Those
    whose connection does not come about are not waited for. A fault of our own is `internal`.
    `reading` empties the sockets; without it this process does, whose stamps are as good as it is
    idle. `watch` is shown the answers while they are made; `wall` tells when the run is begun.
    What signs them is fetched before anything else.
    """
    asked = _Asked(
        endpoint=adapted(endpoint),
        workload=workload,
        region=region,
        signer=await open_signer(endpoint, key, region),
        execution=execution,
    )
    parts = [_part(asked, n) for n in range(requests)]
    started_at = wall()
    heard = await ask_together([part.question for part in parts], reading, watch)
    earliest_ns = min(
        (one.seen.sent_ns for one in heard if one.seen.sent_ns is not None), default=0
    )
    timings = []
    for n, (one, part) in enumerate(zip(heard, parts, strict=True)):
        timing = timing_of(
            one.seen,
            n=n,
            link=one.link,
            earliest_ns=earliest_ns,
            output_tokens=workload.output_tokens,
            secrets=part.secrets,
        )
        timings.append(timing)
        one.seen.forget()
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
        timings=tuple(timings),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What all requests of a run have in common."""

    endpoint: Endpoint
    workload: Workload
    region: Region
    signer: Signer | Exception | None
    """What signs them; or what stood in the way of it."""
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
    if isinstance(asked.signer, Exception):
        return _Part(question=asked.signer, secrets=())
    try:
        prompt = make_prompt(workload.input_tokens, workload.output_tokens)
        question = make_question(
            endpoint=endpoint,
            protocol=PROTOCOLS[endpoint.protocol],
            region=asked.region,
            signer=asked.signer,
            prompt=prompt,
            output_tokens=workload.output_tokens + endpoint.reasoning_tokens,
            request_id=str(request_id(asked.execution, n)),
        )
    except Exception as error:  # noqa: BLE001 - the border tells what it stands for
        return _Part(question=error, secrets=())
    return _Part(question=question, secrets=(*question.secrets, prompt))
