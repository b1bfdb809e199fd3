"""A provider that keeps prompts by how they begin never meets one of ours again; where it says so
all the same, its time to first token is of another kind and stays out of the medians.
"""

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from support.answers import STREAM
from support.asking import ask
from support.centre import migrated_pool
from support.probing import probe, run_of
from support.records import NOON, hash_of, make_slot, plan, push, statuses
from support.replay import replay
from support.simulator import RunningSimulator, make_endpoint, running_simulator

from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import WORKLOADS
from pacewatch.words.timing import Run, Timing
from pacewatch.words.wire import encode_run

REGIONS = ("eu-west", "us-east")
FAST = make_endpoint("groq/fast", tokens_per_s=2_000.0)
RUNS = 20
AT_ONCE = 5
LONG = "The river follows the road beside the old market. " * 20


@pytest.fixture(scope="module")
def simulator() -> Iterator[RunningSimulator]:
    with running_simulator(FAST, regions=REGIONS) as running:
        running.switch_on("cache", "groq")
        yield running


async def asked(simulator: RunningSimulator, region: str, requests: int) -> Run:
    workload, where = WORKLOADS["standard"], simulator.region(region)
    return await run_of(FAST, workload=workload, region=where, requests=requests)


async def timings_of(simulator: RunningSimulator) -> list[Timing]:
    timings: list[Timing] = []
    for begin in range(0, RUNS, AT_ONCE):
        regions = [REGIONS[number % 2] for number in range(begin, begin + AT_ONCE)]
        runs = await asyncio.gather(*(asked(simulator, region, 1) for region in regions))
        timings += [timing for run in runs for timing in run.timings]
    parallel = await asked(simulator, REGIONS[0], 10)
    return [*timings, *parallel.timings]


def test_no_prompt_begins_like_another_within_a_run_or_between_regions(simulator):
    timings = asyncio.run(timings_of(simulator))

    assert [timing.outcome for timing in timings] == [Outcome.OK] * (RUNS + 10)
    assert not any(Flag.CACHED in timing.flags for timing in timings)
    assert {
        timing.provider_tokens and timing.provider_tokens.cached_input for timing in timings
    } == {0}
    lines = simulator.settled_answers()
    assert {line["billed"]["cached_input"] for line in lines} == {0}


def test_a_prompt_that_came_before_is_answered_in_a_tenth_of_the_time(simulator):
    for region in REGIONS:
        path = "/groq/openai/v1/chat/completions"
        ask(
            simulator.address.regions[region] + path,
            FAST.provider_model,
            messages=[{"role": "user", "content": LONG}],
        )

    first, second = simulator.settled_answers()[-2:]
    assert [first["billed"]["cached_input"], second["billed"]["cached_input"]] == [0, 64]
    assert second["planned_ttft_s"] < first["planned_ttft_s"] / 5


def answer(cached: int, first_ms: float) -> dict[str, Any]:
    """A case of an answer that comes so late and says how much of the prompt was kept."""
    told = {"prompt_tokens": 20, "completion_tokens": 2}
    usage = {**told, "prompt_tokens_details": {"cached_tokens": cached}}
    events = [
        {"choices": [{"index": 0, "delta": {"content": "Salt"}}]},
        {"choices": [{"index": 0, "delta": {"content": " air"}, "finish_reason": "length"}]},
        {"choices": [], "usage": usage},
    ]
    script = [
        {"after_ms": first_ms + 20 * n, "send": f"data: {json.dumps(event)}\n\n"}
        for n, event in enumerate(events)
    ]
    return {"response": {"headers": STREAM, "script": script}}


def made_undisturbed(kind: dict[str, Any]) -> Run:
    """A run that a busy machine did not interrupt while its request was sent."""
    for _ in range(20):
        with replay(kind) as served:
            run = probe(f"{served.url}/v1")
        if Flag.CLOCK_GAP not in run.timings[0].flags:
            return run
    raise AssertionError("each of twenty runs was interrupted while its request was sent")


def test_a_cached_answer_is_marked_and_not_mixed_with_the_others(database_url):
    kinds = [answer(0, 200), answer(16, 0)] * 6
    slots = [make_slot(NOON - timedelta(minutes=n)) for n in range(len(kinds))]
    records = []
    for slot, kind in zip(slots, kinds, strict=True):
        run = made_undisturbed(kind)
        told = {"run": str(slot.run_id), "region": slot.region, "endpoint": slot.endpoint}
        asked = {"endpoint_hash": hash_of(slot.endpoint, slot.workload), "workload": slot.workload}
        records.append({**encode_run(run), **told, **asked, "simulated": True})
    with migrated_pool(database_url) as pool:
        with pool.connection() as connection:
            plan(connection, *slots)
        answered = push(pool, *records)
        with pool.connection() as connection:
            (stat,) = connection.execute("select * from series_stat").fetchall()
            flagged = connection.execute(
                "select count(*) as n from timing where 'cached' = any (flags)"
            ).fetchone()

    assert statuses(answered) == ["stored"] * 12
    assert flagged == {"n": 6}
    assert (stat["runs"], stat["good"], stat["ttft_runs"], stat["end_to_end_runs"]) == (
        12,
        12,
        6,
        6,
    )
    assert stat["speed_runs"] == 12
    assert stat["ttft_s"][0] >= 0.2
