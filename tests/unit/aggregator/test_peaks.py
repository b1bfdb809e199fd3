from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from support.fleets import make_endpoint, make_fleet

from aggregator.peaks import Peak, fullest_minute, peaks_of
from aggregator.plan import make_plan
from pacewatch.words.endpoint import RateLimit
from pacewatch.words.fleet import Fleet

DAY = datetime(2026, 3, 8, tzinfo=UTC)


def limited(fleet: Fleet, **limit: int) -> Fleet:
    return replace(fleet, rate_limits={"acme": RateLimit(**limit, source="test")})


def peaks(fleet: Fleet) -> list[Peak]:
    return peaks_of(fleet, make_plan(fleet))


def test_a_parallel_run_meets_a_limit_of_fewer_requests_than_it_makes():
    [peak] = peaks(limited(make_fleet(), requests_per_minute=9))

    assert (peak.whose, peak.unit, peak.planned, peak.is_met) == ("acme", "requests", 10, True)


def test_a_limit_is_met_only_beyond_what_it_allows():
    [peak] = peaks(limited(make_fleet(parallel_per_day=0), requests_per_minute=1))

    assert (peak.planned, peak.is_met) == (1, False)


def test_tokens_count_in_and_out_with_the_room_for_reasoning():
    fleet = limited(make_fleet(make_endpoint(reasoning_tokens=2_000)), tokens_per_minute=40_000)
    [peak] = peaks(fleet)

    assert (peak.unit, peak.planned, peak.is_met) == ("tokens", 40_000, False)


def test_all_models_of_a_provider_count_together_and_others_do_not():
    fleet = make_fleet(
        *(make_endpoint("acme", f"m{n}") for n in range(60)),
        *(make_endpoint("other", f"m{n}") for n in range(60)),
        parallel_per_day=0,
    )
    [peak] = peaks(limited(fleet, requests_per_minute=100))
    alone = [e for e in fleet.endpoints if e.provider == "acme"]
    [same] = peaks(limited(replace(fleet, endpoints=tuple(alone)), requests_per_minute=100))

    assert 1 < peak.planned == same.planned


def test_a_limit_of_a_model_counts_that_model_alone():
    limit = RateLimit(requests_per_minute=5, source="test")
    fleet = make_fleet(make_endpoint("acme", rate_limit=limit), make_endpoint("acme", "m2"))
    [peak] = peaks(fleet)

    assert (peak.whose, peak.planned) == ("acme/m1", 10)


def test_without_a_known_limit_nothing_is_said():
    assert peaks(make_fleet()) == []


def test_a_simulated_fleet_meets_no_limit():
    assert peaks(limited(make_fleet(simulated=True), requests_per_minute=1)) == []


@given(st.lists(st.tuples(st.integers(0, 600), st.integers(1, 50)), min_size=1, max_size=60))
def test_the_fullest_minute_is_the_fullest(pairs):
    amounts = [(DAY + timedelta(seconds=at), float(n)) for at, n in sorted(pairs)]
    at, most = fullest_minute(amounts)

    def within(start: datetime) -> float:
        return sum(n for when, n in amounts if start <= when < start + timedelta(seconds=60))

    assert most == within(at) == max(within(when) for when, _ in amounts)
