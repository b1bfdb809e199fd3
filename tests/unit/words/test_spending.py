import pytest
from support.fleets import make_endpoint

from pacewatch.words.endpoint import Price
from pacewatch.words.slot import WORKLOADS
from pacewatch.words.spending import Caps, Demand, demand_of

DEAR = Price(input_usd=5.0, output_usd=25.0, source="made up for a test")


def test_a_run_asks_for_its_prompts_and_all_its_room_for_output():
    reasons = make_endpoint(price=DEAR, reasoning_tokens=2_000)

    assert demand_of(reasons, WORKLOADS["standard"], 10) == Demand(
        requests=10,
        tokens=10 * (1_000 + 3_000),
        usd=pytest.approx(10 * (1_000 * 5 + 3_000 * 25) / 1e6),
    )


def test_a_run_without_a_known_price_has_no_cost():
    assert demand_of(make_endpoint(), WORKLOADS["standard"], 1).usd is None


def test_a_share_of_no_cap_is_no_cap():
    assert Caps(requests_per_day=10).share(4) == Caps(requests_per_day=2.5)
