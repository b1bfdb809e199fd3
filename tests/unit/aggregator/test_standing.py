from dataclasses import replace
from datetime import timedelta

import pytest
from support.incidents import make_incident, make_part
from support.shown import ENDPOINT, NOW, SERIES, STORE, WORKER, unmeasured

from aggregator.rows import DeclinedRow, LastRun, UntoldRow
from aggregator.standing import (
    SILENT_AFTER,
    RegionState,
    failing_endpoints,
    failing_series,
    region_standings,
    suspects,
)
from aggregator.status import DISPATCH_SILENT_AFTER, make_status
from pacewatch.words.outcome import DECLINE_MEANINGS, Decline


def last_runs(*goods, requests=1, series_id=1):
    """The latest runs of a series, the later one first, with so many good requests each."""
    return [
        LastRun(
            series_id=series_id,
            slot_at=NOW - timedelta(minutes=place),
            requests=requests,
            good=good,
        )
        for place, good in enumerate(goods)
    ]


@pytest.mark.parametrize(
    ("runs", "fails"),
    [
        (last_runs(0, 0), True),
        (last_runs(0), True),
        (last_runs(0, 1), False),
        (last_runs(1, 0), False),
        (last_runs(5, 5, requests=10), True),
        (last_runs(6, 0, requests=10), False),
        ([], False),
    ],
)
def test_a_series_fails_when_its_latest_two_runs_did_or_the_only_one(runs, fails):
    assert failing_series(runs) == ({1} if fails else set())


def test_only_series_whose_latest_run_had_a_bad_request_are_looked_into():
    bad = replace(SERIES, series_id=7, latest_outcome="server_error")

    assert suspects([SERIES, unmeasured(series_id=3), bad]) == [7]


def test_failing_series_are_told_by_endpoint():
    bad = replace(SERIES, series_id=7, region="us-east", latest_outcome="auth")
    found = failing_endpoints([SERIES, bad], frozenset({7}))

    (series,) = found["groq/gpt-oss-120b"]
    assert (series.region, series.outcome) == ("us-east", "auth")


@pytest.mark.parametrize(
    ("age", "state"),
    [
        (timedelta(seconds=3), RegionState.SEEN),
        (SILENT_AFTER, RegionState.SEEN),
        (SILENT_AFTER + timedelta(seconds=1), RegionState.SILENT),
        (timedelta(days=90), RegionState.SILENT),
    ],
)
def test_a_region_is_silent_after_ten_minutes_without_a_heartbeat(age, state):
    (found,) = region_standings(["eu-west"], [replace(WORKER, last_seen_at=NOW - age)], NOW)

    assert (found.state, found.last_seen_at) == (state, NOW - age)


def test_a_region_is_as_alive_as_its_liveliest_worker():
    old = replace(WORKER, worker="b", last_seen_at=NOW - timedelta(hours=2))
    (found,) = region_standings(["eu-west"], [old, WORKER], NOW)

    assert found.state is RegionState.SEEN
    assert [worker.worker for worker in found.workers] == [WORKER.worker, "b"]


def test_a_region_of_the_file_without_a_worker_is_unseen_and_one_not_in_it_is_not_told():
    found = region_standings(["us-east"], [WORKER], NOW)

    assert [(one.region, one.state) for one in found] == [("us-east", RegionState.UNSEEN)]


def status(**changes):
    values = {
        "regions": region_standings(["eu-west"], [WORKER], NOW),
        "active": {ENDPOINT.endpoint: ENDPOINT},
        "series": [SERIES],
        "measured": 1,
        "failing": frozenset(),
        "declined": [],
        "day": timedelta(hours=24),
        "now": NOW,
    } | changes
    return make_status(values.pop("store", STORE), **values)


def test_a_fleet_that_is_well_has_no_problem():
    found = status()

    assert found.problems == ()
    assert (found.endpoints, found.measured) == (1, 1)


def test_each_problem_is_one_sentence():
    bad = replace(SERIES, latest_outcome="timeout_first_token", region="us-east")
    late = replace(STORE, ticked_at=NOW - DISPATCH_SILENT_AFTER - timedelta(seconds=60))
    workers = [replace(WORKER, last_seen_at=NOW - timedelta(minutes=14))]
    found = status(
        store=late,
        regions=region_standings(["eu-west", "us-east"], workers, NOW),
        series=[bad],
        failing=frozenset({1}),
    )

    assert found.problems == (
        "dispatch: no central worker has made a tick for 3 min, so nothing is sent",
        "region eu-west: silent for 14 min",
        "region us-east: no worker has reported yet",
        "endpoint groq/gpt-oss-120b: failing in us-east:"
        " no first token in time (limits.first_token_s)",
    )


def test_an_incident_is_told_with_how_it_stands():
    since = NOW - timedelta(minutes=25)
    eased_at = NOW - timedelta(seconds=82)
    goes_on = make_incident(since=since)
    eased = make_incident(since=since, state="eased", eased_at=eased_at)
    found = status(incidents=[goes_on, eased]).problems

    assert [one.rpartition(", for ")[2] for one in found] == [
        "25 min (provider; open)",
        "24 min (provider; as usual again for 82 s)",
    ]


def test_an_endpoint_that_an_open_incident_tells_has_no_line_of_its_own():
    bad = replace(SERIES, latest_outcome="timeout_first_token", region="us-east")
    part = make_part(ENDPOINT.endpoint)
    for eased_at, lines in ((None, 1), (NOW, 2)):
        incident = make_incident(replace(part, eased_at=eased_at))
        found = status(series=[bad], failing=frozenset({1}), incidents=[incident])
        assert len(found.problems) == lines
        assert found.problems[0].startswith("incident 12: ")


def test_a_channel_that_takes_nothing_is_a_problem():
    since = NOW - timedelta(minutes=14)
    row = UntoldRow(channel="ops", notices=2, since=since, error="it answered 500")

    assert status(untold=[row]).problems == (
        "channel ops: 2 notices of incidents not delivered, the first for 14 min: it answered 500",
    )


def test_a_fleet_that_plans_nothing_is_not_well():
    (problem,) = status(active={}, series=[]).problems

    assert problem.startswith("dispatch: no endpoint is planned, so nothing is sent")


@pytest.mark.parametrize("store", [None, replace(STORE, ticked_at=None)])
def test_a_centre_that_never_ticked_is_a_problem(store):
    assert status(store=store).problems == (
        "dispatch: no central worker has made a tick yet, so nothing is sent",
    )


def declined(runs=12, reason="declined:headroom", **fields):
    given = {"region": "eu-west", "provider": "groq", "ended": 100, **fields}
    return DeclinedRow(reason=reason, runs=runs, **given)


def test_what_workers_did_not_run_is_a_problem_with_its_reason():
    found = status(declined=[declined(), declined(1, "declined:no_key")])

    assert found.problems == (
        "region eu-west: 12 runs of groq not made in 24 h: "
        "the provider's headers leave too little of a rate limit",
        "region eu-west: 1 run of groq not made in 24 h: the worker has no key",
    )


@pytest.mark.parametrize("few", [{"runs": 9}, {"runs": 2, "ended": 3}])
def test_runs_that_came_too_late_are_a_problem_from_three_and_a_tenth_of_all_on(few):
    few = declined(reason="declined:late", **few)
    found = status(declined=[few, declined(10, "declined:late"), declined(1, "declined:budget")])

    assert found.problems == (
        "region eu-west: 10 runs of groq not made in 24 h: its turn came too late",
        f"region eu-west: 1 run of groq not made in 24 h: {DECLINE_MEANINGS[Decline.BUDGET]}",
    )
    assert found.declined[0] == few


def test_of_many_lines_of_what_was_not_run_the_first_are_told():
    found = status(declined=[declined()] * 11)

    assert len(found.problems) == 9
    assert found.problems[-1] == "and 3 more of that kind"
