from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from support.benches import make_fleet

from pacewatch.words.errors import BudgetSpent
from pacewatch.words.fleet import Region, Spending
from pacewatch.words.spending import Caps, Demand
from probe.budget import Budget, caps_of, provider_caps
from probe.disk import Disk

NOW = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
ONE_USD = Caps(usd_per_day=1.0)


def asked(usd: float | None = None, *, requests: int = 1, tokens: int = 1_000) -> Demand:
    return Demand(requests=requests, tokens=tokens, usd=usd)


@pytest.fixture
def disk(tmp_path):
    with Disk(tmp_path, simulated=False) as held:
        yield held


def test_what_is_set_aside_counts_before_it_is_spent(disk):
    budget = Budget(disk, caps=ONE_USD)
    budget.set_aside(uuid4(), "groq", asked(0.7), NOW)

    with pytest.raises(BudgetSpent, match=r"up to 0\.4 US\$, and 0\.3 of the day's 1 are left"):
        budget.set_aside(uuid4(), "groq", asked(0.4), NOW)
    budget.set_aside(uuid4(), "groq", asked(0.3), NOW)
    assert pytest.approx(budget.left_usd(NOW)) == 0.0


def test_what_a_run_came_to_replaces_what_it_was_expected_to(disk):
    budget = Budget(disk, caps=ONE_USD)
    execution = uuid4()
    budget.set_aside(execution, "groq", asked(0.7, requests=10, tokens=20_000), NOW)
    budget.settle(execution, Demand(requests=7, tokens=4_321, usd=0.1))

    assert pytest.approx(budget.left_usd(NOW)) == 0.9
    assert budget.spent(NOW) == Demand(requests=7, tokens=4_321, usd=0.1)


def test_an_unknown_actual_cost_leaves_the_expected_one(disk):
    budget = Budget(disk, caps=ONE_USD)
    execution = uuid4()
    budget.set_aside(execution, "groq", asked(0.7), NOW)
    budget.settle(execution, Demand(requests=1, tokens=10, usd=None))

    assert pytest.approx(budget.left_usd(NOW)) == 0.3


def test_the_utc_day_begins_with_the_whole_cap(disk):
    budget = Budget(disk, caps=ONE_USD)
    budget.set_aside(uuid4(), "groq", asked(1.0), NOW)

    assert budget.left_usd(NOW + timedelta(minutes=1)) == 1.0


@pytest.mark.parametrize(
    ("caps", "words"),
    [
        (Caps(requests_per_day=25), "10 requests, and 5 of the day's 25 are left"),
        (Caps(tokens_per_day=50_000), "20000 tokens, and 10000 of the day's 50000 are left"),
        (Caps(usd_per_day=0.05), r"0\.02 US\$, and 0\.01 of the day's 0\.05 are left"),
    ],
)
def test_each_cap_lets_through_what_fits_and_no_more(disk, caps, words):
    budget = Budget(disk, caps=caps)
    run = asked(0.02, requests=10, tokens=20_000)
    for _ in range(2):
        budget.set_aside(uuid4(), "groq", run, NOW)

    with pytest.raises(BudgetSpent, match=words):
        budget.set_aside(uuid4(), "groq", run, NOW)


def test_a_providers_cap_is_its_own(disk):
    budget = Budget(disk, caps=Caps(), providers={"groq": Caps(requests_per_day=1)})
    budget.set_aside(uuid4(), "groq", asked(), NOW)
    budget.set_aside(uuid4(), "cerebras", asked(requests=100), NOW)

    with pytest.raises(BudgetSpent, match="1 requests, and 0 of the day's 1 of groq are left"):
        budget.set_aside(uuid4(), "groq", asked(), NOW)
    assert budget.spent(NOW, "groq").requests == 1
    assert budget.spent(NOW).requests == 101


def test_a_run_that_a_cap_refuses_is_not_in_the_ledger(disk):
    budget = Budget(disk, caps=Caps(requests_per_day=5))
    with pytest.raises(BudgetSpent):
        budget.set_aside(uuid4(), "groq", asked(requests=10), NOW)

    assert budget.spent(NOW).requests == 0


def test_the_ledger_outlives_the_worker(tmp_path):
    with Disk(tmp_path, simulated=False) as disk:
        Budget(disk, caps=ONE_USD).set_aside(uuid4(), "groq", asked(1.0), NOW)
    with Disk(tmp_path, simulated=False) as disk, pytest.raises(BudgetSpent):
        Budget(disk, caps=ONE_USD).set_aside(uuid4(), "groq", asked(0.1), NOW)


def test_without_a_cap_all_is_counted_and_nothing_refused(disk):
    budget = Budget(disk, caps=Caps())
    budget.set_aside(uuid4(), "groq", asked(1_000.0), NOW)

    assert budget.left_usd(NOW) is None
    assert budget.spent(NOW).usd == 1_000.0


@pytest.mark.parametrize(
    ("spending", "simulated", "caps"),
    [
        (Spending(), False, Caps(usd_per_day=2.5)),
        (Spending(region_usd_per_day=1.0), False, Caps(usd_per_day=1.0)),
        (
            Spending(requests_per_day=100, tokens_per_day=9_000),
            False,
            Caps(requests_per_day=50, tokens_per_day=4_500, usd_per_day=2.5),
        ),
        (Spending(requests_per_day=100), True, Caps(requests_per_day=50)),
    ],
)
def test_a_worker_may_ask_for_its_regions_share(spending, simulated, caps):
    regions = {name: Region(name=name) for name in ("eu-west", "us-east")}

    assert caps == caps_of(make_fleet(regions=regions, spending=spending, simulated=simulated))


def test_a_workers_share_of_a_providers_cap_is_its_regions():
    regions = {name: Region(name=name) for name in ("eu-west", "us-east")}
    spending = Spending(providers={"own": Caps(tokens_per_day=1_000, usd_per_day=1.0)})

    assert provider_caps(make_fleet(regions=regions, spending=spending)) == {
        "own": Caps(tokens_per_day=500, usd_per_day=0.5)
    }
