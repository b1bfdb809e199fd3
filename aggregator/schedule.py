"""Slots from a fleet, its plan and a span of time. Pure: seconds since 1970 in UTC, no clock, no
zone.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from aggregator.plan import Plan
from aggregator.ring import Member
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import (
    SENTINEL,
    Load,
    Purpose,
    Series,
    Slot,
    require_utc,
    run_id,
    slot_key,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_GAP_S = 1
"""Between the first runs that one region is asked for at once, seconds."""

_PHASES = 1 << 32


def slots_between(fleet: Fleet, plan: Plan, start: datetime, end: datetime) -> list[Slot]:
    """Return the scheduled slots from `start`, included, to `end`, excluded, by moment.

    However a span is cut, its pieces give the same slots.
    """
    span = range(_second(start), _second(end))
    if not span:
        return []
    valid_s = fleet.schedule.validity_s
    slots = [
        _slot(Purpose.SCHEDULED, second, member, load, valid_s)
        for second, member, load in _planned(fleet, plan, span)
    ]
    slots += [
        _slot(Purpose.SENTINEL, second, member, Load.SINGLE, spacing_s)
        for second, member, spacing_s in _sentinels(fleet, plan, span)
    ]
    return sorted(slots, key=_order)


def first_slots(fleet: Fleet, new: Iterable[Series], now: datetime) -> list[Slot]:
    """Return the first run of each new single series, planned at `now`, one a second and region.

    A series of sentinels has none: its own are soon there. The ids do not depend on the moment, so
    a first run is made once.
    """
    at_once = _second(require_utc(now).replace(microsecond=0))
    planned: dict[str, int] = {}
    slots: list[Slot] = []
    singles = (one for one in new if one.load is Load.SINGLE and one.workload != SENTINEL)
    for series in sorted(singles):
        before = planned.get(series.region, 0)
        planned[series.region] = before + 1
        second = at_once + before * FIRST_GAP_S
        member = (series.endpoint, series.region, series.workload)
        slots.append(_slot(Purpose.FIRST, second, member, Load.SINGLE, fleet.schedule.validity_s))
    return slots


def _second(moment: datetime) -> int:
    """Return the first whole second since 1970 that is not before the moment."""
    return -((EPOCH - require_utc(moment)) // timedelta(seconds=1))


def _planned(fleet: Fleet, plan: Plan, span: range) -> Iterator[tuple[int, Member, Load]]:
    """Yield the moments in the span of every series."""
    regions, day_s = sorted(fleet.regions), fleet.schedule.day_s
    days = range(span.start // day_s, (span.stop - 1) // day_s + 1)
    seldom = 0
    for endpoint in fleet.endpoints:
        row, ring = plan.rows[endpoint.id], plan.rings[endpoint.provider]
        for workload in fleet.schedule.workloads:
            phase = _phase(endpoint.id, workload)
            for number, region in enumerate(regions):
                member = (endpoint.id, region, workload)
                seldom += row.single.every_days > 1
                ours = (phase + number * _PHASES // len(regions)) % _PHASES
                for day in days:
                    part = range(span.start - day * day_s, span.stop - day * day_s)
                    if (day + seldom) % row.single.every_days == 0:
                        for second in _singles(part, day_s, row.single.per_day, ours):
                            yield day * day_s + second, member, Load.SINGLE
                    place = ring.places.get(member)
                    if place is None or day % ring.groups != place.group:
                        continue
                    times = row.parallel.per_day, ring.turns, place.start_s
                    for second in _parallels(part, day_s, *times):
                        yield day * day_s + second, member, Load.PARALLEL


def _sentinels(fleet: Fleet, plan: Plan, span: range) -> Iterator[tuple[int, Member, int]]:
    """Yield the sentinels of the span: moment, place, and spacing in seconds; the regions in turn,
    counted from 1970.
    """
    regions = sorted(fleet.regions)
    for endpoint in fleet.endpoints:
        spacing_s = plan.rows[endpoint.id].sentinel_s
        if not spacing_s:
            continue
        phase = _phase(endpoint.id, SENTINEL) * spacing_s // _PHASES
        for k in range(-((phase - span.start) // spacing_s), -((phase - span.stop) // spacing_s)):
            member = (endpoint.id, regions[k % len(regions)], SENTINEL)
            yield k * spacing_s + phase, member, spacing_s


def _singles(part: range, day_s: int, per_day: int, phase: int) -> list[int]:
    """Return evenly spaced seconds of a day; the phase, of 2**32, is a part of the spacing."""
    whole = per_day * _PHASES
    first = max(0, (part.start * whole // day_s - phase) // _PHASES) if per_day else 0
    seconds: list[int] = []
    for k in range(first, per_day):
        second = (k * _PHASES + phase) * day_s // whole
        if second >= part.stop:
            break
        if second >= part.start:
            seconds.append(second)
    return seconds


def _parallels(part: range, day_s: int, per_day: int, turns: int, start_s: int) -> list[int]:
    """Return the seconds of a day of a place on the ring, in the turns that it uses, evenly."""
    seconds = [k * turns // per_day * day_s // turns + start_s for k in range(per_day)]
    return [second for second in seconds if second in part]


def _phase(endpoint: str, workload: str) -> int:
    """Return where in its spacing an endpoint's singles begin, of 2**32."""
    return int.from_bytes(hashlib.sha256(f"{endpoint}|{workload}".encode()).digest()[:4])


def _slot(purpose: Purpose, second: int, member: Member, load: Load, valid_s: int) -> Slot:
    endpoint, region, workload = member
    slot_at = EPOCH + timedelta(seconds=second)
    at = "" if purpose is Purpose.FIRST else slot_key(slot_at)
    return Slot(
        run_id=run_id(
            purpose=purpose, endpoint=endpoint, region=region, workload=workload, load=load, at=at
        ),
        endpoint=endpoint,
        region=region,
        workload=workload,
        load=load,
        purpose=purpose,
        slot_at=slot_at,
        valid_until=slot_at + timedelta(seconds=valid_s),
    )


def _order(slot: Slot) -> tuple[datetime, str, str, str, Load]:
    return slot.slot_at, slot.endpoint, slot.region, slot.workload, slot.load
