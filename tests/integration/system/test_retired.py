"""A provider retires a model: one region is told by 400 `model_decommissioned`, another by 404."""

import asyncio
from collections.abc import Iterator

import pytest
from support.centre import migrated_pool
from support.judging import Court, judged_fleet
from support.probing import run_of
from support.simulator import RunningSimulator, make_endpoint, running_simulator

from aggregator.notify.book import book
from pacewatch.words.channel import Channel
from pacewatch.words.slot import WORKLOADS, Slot
from pacewatch.words.timing import Timing

LEFT, KEPT = (make_endpoint(f"groq/{model}", tokens_per_s=2_000.0) for model in ("leaves", "stays"))
REGIONS = ("eu-west", "us-east")
OPS = Channel(name="ops", url_env="OPS_URL")


@pytest.fixture(scope="module")
def simulator() -> Iterator[RunningSimulator]:
    with running_simulator(LEFT, KEPT, regions=REGIONS) as running:
        yield running


def probed(simulator: RunningSimulator, slot: Slot) -> Timing:
    """What a real probe of the slot's endpoint meets."""
    endpoint = LEFT if slot.endpoint == LEFT.id else KEPT
    where = simulator.region(slot.region)
    run = asyncio.run(run_of(endpoint, workload=WORKLOADS[slot.workload], region=where))
    return run.timings[0]


def test_a_retired_model_is_not_served_and_its_notice_comes_once(simulator, database_url):
    healthy: dict[tuple[str, str], Timing] = {}

    def well(slot: Slot) -> Timing:
        place = slot.endpoint, slot.region
        if place not in healthy:
            healthy[place] = probed(simulator, slot)
        return healthy[place]

    def asked(slot: Slot) -> Timing:
        return well(slot) if slot.endpoint == KEPT.id else probed(simulator, slot)

    fleet = judged_fleet(endpoints=(LEFT, KEPT), regions=REGIONS, channels=(OPS,))
    with migrated_pool(database_url) as pool:
        court = Court(pool, fleet)
        court.play(312, well)
        left_at, booked = court.now, 0
        simulator.switch_on("retired", LEFT.id, region="eu-west")
        simulator.switch_on("not-served", LEFT.id, region="us-east")
        for _ in range(5):
            court.play(24, asked)
            booked += book(pool, fleet, court.now)
        told = court.rows(
            "select timing.outcome, fault_status, fault_type, region from timing"
            " join run using (run_id) join series on series.series_id = run.series_id"
            " where endpoint = %s and timing.outcome <> 'ok'",
            LEFT.id,
        )
        incidents = court.rows("select class, trouble, state, provider from incident")
        gathered = court.rows("select endpoint, trouble from incident_endpoint")
        notices = court.rows("select kind from notice")
        (good,) = court.rows(
            "select max(last_success_at) as at from series join series_stat using (series_id)"
            " where endpoint = %s",
            LEFT.id,
        )
        verdicts = [court.verdicts(region) for region in ("", *REGIONS)]

    assert {(row["region"], row["fault_status"], row["outcome"]) for row in told} == {
        ("eu-west", 400, "not_served"),
        ("us-east", 404, "not_served"),
    }
    assert {row["fault_type"] for row in told if row["region"] == "eu-west"} == {
        "model_decommissioned"
    }
    assert verdicts == [{LEFT.id: "not_served", KEPT.id: "ok"}] * 3
    assert incidents == [
        {"class": "model", "trouble": "gone", "state": "confirmed", "provider": "groq"}
    ]
    assert gathered == [{"endpoint": LEFT.id, "trouble": "gone"}]
    assert (booked, [row["kind"] for row in notices]) == (1, ["opened"])
    assert good["at"] < left_at
