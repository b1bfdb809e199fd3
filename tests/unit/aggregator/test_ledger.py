from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from aggregator.ledger import Priced, day_start, share
from pacewatch.words.slot import Load, Purpose, Slot

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def priced(cost_usd: float | None) -> Priced:
    slot = Slot(
        run_id=uuid4(),
        endpoint="alpha/one",
        region="eu-west",
        workload="standard",
        load=Load.SINGLE,
        purpose=Purpose.SCHEDULED,
        slot_at=NOON,
        valid_until=NOON + timedelta(minutes=30),
    )
    return Priced(slot=slot, cost_usd=cost_usd)


def costs(slots: tuple[Priced, ...]) -> list[float | None]:
    return [one.cost_usd for one in slots]


def test_what_fits_is_granted_in_the_order_it_is_asked() -> None:
    shared = share([priced(2), priced(2), priced(2)], spent_usd=1, cap_usd=5)

    assert costs(shared.granted) == [2, 2]
    assert costs(shared.over) == [2]


def test_a_dear_slot_does_not_keep_back_a_cheap_one() -> None:
    shared = share([priced(9), priced(1)], spent_usd=0, cap_usd=5)

    assert costs(shared.granted) == [1]
    assert costs(shared.over) == [9]


def test_a_slot_without_a_price_is_granted_though_nothing_is_left() -> None:
    shared = share([priced(None), priced(0.0), priced(0.1)], spent_usd=5, cap_usd=5)

    assert costs(shared.granted) == [None, 0.0]
    assert costs(shared.over) == [0.1]


def test_what_meets_the_cap_exactly_fits() -> None:
    assert share([priced(0.1)] * 3, spent_usd=0.0, cap_usd=0.3).over == ()


@given(
    asked=st.lists(st.none() | st.floats(0, 10)),
    spent_usd=st.floats(0, 20),
    cap_usd=st.floats(0, 20),
)
def test_the_cap_is_never_passed_and_no_slot_is_forgotten(
    asked: list[float | None], spent_usd: float, cap_usd: float
) -> None:
    shared = share([priced(cost) for cost in asked], spent_usd=spent_usd, cap_usd=cap_usd)

    granted = sum(one.cost_usd or 0 for one in shared.granted)
    assert granted == 0 or spent_usd + granted <= cap_usd + 1e-6
    assert len(shared.granted) + len(shared.over) == len(asked)


def test_the_day_is_the_utc_day_whatever_zone_the_moment_is_told_in() -> None:
    new_york = timezone(timedelta(hours=-5))

    assert day_start(datetime(2026, 3, 1, 23, tzinfo=new_york)) == datetime(2026, 3, 2, tzinfo=UTC)
