from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from support.benches import make_endpoint, make_fleet

from pacewatch.words.endpoint import Price
from pacewatch.words.errors import BudgetSpent
from pacewatch.words.fleet import Region, Spending
from pacewatch.words.slot import WORKLOADS
from probe.budget import Budget, cap_of, expected_usd
from probe.disk import Disk

NOW = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)


@pytest.fixture
def disk(tmp_path):
    with Disk(tmp_path, simulated=False) as held:
        yield held


def test_what_is_set_aside_counts_before_it_is_spent(disk):
    budget = Budget(disk, usd_per_day=1.0)
    budget.set_aside(uuid4(), 0.7, NOW)

    with pytest.raises(BudgetSpent, match=r"up to US\$ 0\.4000, and US\$ 0\.3000 of the day's 1"):
        budget.set_aside(uuid4(), 0.4, NOW)
    budget.set_aside(uuid4(), 0.3, NOW)
    assert pytest.approx(budget.left_usd(NOW)) == 0.0


def test_the_actual_cost_replaces_the_expected_one(disk):
    budget = Budget(disk, usd_per_day=1.0)
    execution = uuid4()
    budget.set_aside(execution, 0.7, NOW)
    budget.settle(execution, 0.1)

    assert pytest.approx(budget.left_usd(NOW)) == 0.9


def test_an_unknown_actual_cost_leaves_the_expected_one(disk):
    budget = Budget(disk, usd_per_day=1.0)
    execution = uuid4()
    budget.set_aside(execution, 0.7, NOW)
    budget.settle(execution, None)

    assert pytest.approx(budget.left_usd(NOW)) == 0.3


def test_the_utc_day_begins_with_the_whole_cap(disk):
    budget = Budget(disk, usd_per_day=1.0)
    budget.set_aside(uuid4(), 1.0, NOW)

    assert budget.left_usd(NOW + timedelta(minutes=1)) == 1.0


def test_the_ledger_outlives_the_worker(tmp_path):
    with Disk(tmp_path, simulated=False) as disk:
        Budget(disk, usd_per_day=1.0).set_aside(uuid4(), 1.0, NOW)
    with Disk(tmp_path, simulated=False) as disk, pytest.raises(BudgetSpent):
        Budget(disk, usd_per_day=1.0).set_aside(uuid4(), 0.1, NOW)


def test_without_a_cap_all_is_counted_and_nothing_refused(disk):
    budget = Budget(disk, usd_per_day=None)
    budget.set_aside(uuid4(), 1_000.0, NOW)

    assert budget.left_usd(NOW) is None
    assert budget.spent_usd(NOW) == 1_000.0


def test_a_run_is_expected_to_cost_its_whole_workload_and_the_reasoning_room():
    endpoint = make_endpoint(
        price=Price(input_usd=1.0, output_usd=10.0, source="test"), reasoning_tokens=700
    )

    # 100 tokens in, 300 + 700 out, ten times
    assert expected_usd(endpoint, WORKLOADS["short"], 10) == 10 * (100 * 1.0 + 1_000 * 10.0) / 1e6


def test_an_endpoint_without_a_known_price_costs_nothing_that_is_known():
    assert expected_usd(make_endpoint(price=None), WORKLOADS["short"], 10) == 0.0


@pytest.mark.parametrize(
    ("spending", "simulated", "cap"),
    [
        (Spending(), False, 2.5),
        (Spending(usd_per_day=5.0, region_usd_per_day=1.0), False, 1.0),
        (Spending(), True, None),
    ],
)
def test_a_worker_may_spend_its_regions_share(spending, simulated, cap):
    regions = {name: Region(name=name) for name in ("eu-west", "us-east")}

    assert cap == cap_of(make_fleet(regions=regions, spending=spending, simulated=simulated))
