"""The probe and the simulator, which share no code of the wire, understand one another."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from support.probing import run_of
from support.simulator import RunningSimulator, running_simulator

from pacewatch.blanks import simulate
from pacewatch.catalog import read_catalog
from pacewatch.words.endpoint import READ_PROTOCOLS, Endpoint
from pacewatch.words.figures import figures_of
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Workload
from pacewatch.words.timing import Run, Timing
from probe.request import request_id

READABLE = [
    simulate(endpoint)
    for endpoint in read_catalog().endpoints.values()
    if endpoint.protocol in READ_PROTOCOLS
]
BY_ID = {endpoint.id: endpoint for endpoint in READABLE}
REGION = "eu-west"
TRIES = 6


@pytest.fixture(scope="module")
def simulator() -> Iterator[RunningSimulator]:
    with running_simulator(*READABLE, regions=(REGION,)) as running:
        yield running


@pytest.fixture(autouse=True)
def no_faults(simulator: RunningSimulator) -> Iterator[None]:
    yield
    simulator.clear()


async def asked(
    simulator: RunningSimulator, endpoint: Endpoint, output_tokens: int, requests: int = 1
) -> Run:
    workload = Workload(name="short", input_tokens=100, output_tokens=output_tokens)
    region = simulator.region(REGION)
    return await run_of(endpoint, workload=workload, region=region, requests=requests)


def timed(simulator: RunningSimulator, id: str, output_tokens: int = 30) -> Timing:
    return asyncio.run(asked(simulator, BY_ID[id], output_tokens)).timings[0]


def test_every_endpoint_of_the_demo_is_measured(simulator):
    async def all_of_them() -> list[Run]:
        a_few = asyncio.Semaphore(4)  # a busy host cannot part the chunks of more

        async def one(endpoint: Endpoint) -> Run:
            async with a_few:
                return await asked(simulator, endpoint, 60)

        return list(await asyncio.gather(*map(one, READABLE)))

    runs = asyncio.run(all_of_them())

    assert len(runs) > 20
    for run in runs:
        (timing,) = run.timings
        figures = figures_of(timing)
        assert (run.endpoint, timing.outcome) == (run.endpoint, Outcome.OK)
        assert figures.output_tokens_per_s is not None, run.endpoint
        assert figures.ttft_s is not None, run.endpoint
        assert timing.provider_tokens is not None, run.endpoint
        assert {Flag.DEGENERATE, Flag.CACHED, Flag.BURST}.isdisjoint(timing.flags), run.endpoint
        assert run.simulated


def misses(simulator: RunningSimulator, run: Run) -> list[str]:
    """Where a run's record says otherwise than the simulator's log of what it sent and billed."""
    (timing,) = run.timings
    sent = simulator.sent_as(str(request_id(run.execution, 0)))
    told = timing.provider_tokens
    billed = {} if told is None else {n: getattr(told, n) for n in sent["billed"]}
    speed = figures_of(timing).output_tokens_per_s or 0
    checks = {
        f"outcome {timing.outcome}": timing.outcome is Outcome.OK,
        f"speed {speed}, sent {sent['tokens_per_s']}": abs(speed / sent["tokens_per_s"] - 1)
        < 0.005,
        f"counted {sum(timing.chunks.tokens)}": sum(timing.chunks.tokens) == sent["tokens"],
        f"billed {billed}, sent {sent['billed']}": all(
            value in (None, sent["billed"][name]) for name, value in billed.items()
        )
        and {"input", "output"} <= {name for name, value in billed.items() if value is not None},
    }
    return [what for what, holds in checks.items() if not holds]


@pytest.mark.parametrize("id", BY_ID)
def test_an_answer_is_measured_as_it_was_sent(simulator, id):
    for attempt in range(2 * TRIES):  # a busy host reads late; what is wrong stays wrong
        missed = misses(simulator, asyncio.run(asked(simulator, BY_ID[id], 100)))
        if not missed:
            break
        time.sleep(0.1 * attempt)

    assert missed == []


@pytest.mark.parametrize(
    ("id", "tolerance", "tokens"),
    [("anthropic/claude-opus-4.8", 0.005, 150), ("cerebras/gpt-oss-120b", 0.03, 900)],
)
def test_a_lone_answers_speed_is_the_published_one(simulator, id, tolerance, tokens):
    truth = BY_ID[id].published_tokens_per_s
    assert truth is not None
    errors: list[float] = []
    while len(errors) < TRIES and min(errors, default=1.0) > tolerance:  # a busy host is late
        figures = figures_of(timed(simulator, id, tokens))
        errors.append(abs((figures.output_tokens_per_s or 0) / truth - 1))

    assert min(errors) <= tolerance, errors


def test_another_version_of_a_model_answers_under_another_name(simulator):
    told = []
    for id in ("groq/llama-3.3-70b", "anthropic/claude-opus-4.8", "google/gemini-3.5-flash"):
        before = timed(simulator, id, 20).identity.model
        simulator.switch_on("change", id)
        told.append((timed(simulator, id, 20).identity.model, f"{before}-changed"))
    simulator.clear()

    assert [name for name, _ in told] == [name for _, name in told]


@pytest.mark.parametrize(
    ("kind", "options", "outcome"),
    [
        ("fail", {"status": 500}, Outcome.SERVER_ERROR),
        ("fail", {"status": 503}, Outcome.OVERLOADED),
        ("rate-limit", {}, Outcome.RATE_LIMITED),
    ],
)
def test_a_fault_of_the_simulator_is_the_outcome_it_means(simulator, kind, options, outcome):
    for id in ("groq/llama-3.3-70b", "anthropic/claude-opus-4.8"):
        simulator.switch_on(kind, id, **options)

        assert timed(simulator, id).outcome is outcome
