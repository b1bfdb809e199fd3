"""Where the parallel slots of one provider lie: on one ring for all regions, so that none overlap.

The provider's key and its rate limit are shared by all of them. Pure.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Workload

UNKNOWN_RUN_S = 60
"""How long a run is taken to last where no speed of the endpoint is published, seconds."""

PAUSE_S = 5
"""Between two places, seconds."""

Member = tuple[str, str, str]
"""Endpoint, region, workload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One member's place on the ring."""

    start_s: int
    """From the start of each turn, seconds."""
    group: int = 0
    """The day of the ring's rotation on which the member has its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """The parallel slots of one provider: the day is cut into turns, each member has one place in
    each.
    """

    provider: str
    turns: int
    """Turns a day."""
    groups: int
    """Days until every member had its turn: 1, or more where one day is too short for all."""
    needed_s: int
    """Sum of all places, seconds."""
    places: Mapping[Member, Place]


def place_s(endpoint: Endpoint, workload: Workload) -> int:
    """Return how long a place is, seconds: the expected run and a pause."""
    tokens = workload.output_tokens + endpoint.reasoning_tokens
    speed = endpoint.published_tokens_per_s
    run_s = UNKNOWN_RUN_S if speed is None else ceil(tokens / speed)
    return min(run_s, ceil(endpoint.limits.total_s)) + PAUSE_S


def lay_rings(fleet: Fleet) -> dict[str, Ring]:
    """Return the ring of each provider of the fleet."""
    by_provider: dict[str, list[Endpoint]] = {}
    for endpoint in fleet.endpoints:
        by_provider.setdefault(endpoint.provider, []).append(endpoint)
    return {
        provider: _lay(fleet, provider, endpoints) for provider, endpoints in by_provider.items()
    }


def _lay(fleet: Fleet, provider: str, endpoints: Iterable[Endpoint]) -> Ring:
    """Return the ring; region after region, so that an endpoint's slots are spread over them."""
    day_s, wanted = fleet.schedule.day_s, fleet.schedule.parallel_per_day
    lengths = {
        (endpoint.id, region, name): min(place_s(endpoint, fleet.workloads[name]), day_s)
        for region in sorted(fleet.regions)
        for endpoint in sorted(endpoints, key=lambda e: e.id)
        for name in fleet.schedule.workloads
    }
    needed_s = sum(lengths.values())
    turns = next((n for n in range(wanted, 0, -1) if needed_s <= day_s // n), 1 if wanted else 0)
    if turns == 0:
        return Ring(provider=provider, turns=0, groups=1, needed_s=needed_s, places={})
    groups = _grouped(lengths, day_s // turns)
    phase = _hash(provider) if len(groups) == 1 else 0
    places: dict[Member, Place] = {}
    for number, group in enumerate(groups):
        places |= _placed(group, lengths, turn_s=day_s // turns, phase=phase, group_no=number)
    return Ring(
        provider=provider, turns=turns, groups=len(groups), needed_s=needed_s, places=places
    )


def _grouped(lengths: Mapping[Member, int], turn_s: int) -> list[list[Member]]:
    """Return the members cut into groups that each fit into a turn."""
    groups: list[list[Member]] = [[]]
    left = turn_s
    for member, length in lengths.items():
        if length > left:
            groups.append([])
            left = turn_s
        groups[-1].append(member)
        left -= length
    return groups


def _placed(
    group: Iterable[Member],
    lengths: Mapping[Member, int],
    *,
    turn_s: int,
    phase: int,
    group_no: int,
) -> dict[Member, Place]:
    """Return the places of one group, spread over the turn."""
    members = list(group)
    slack = turn_s - sum(lengths[member] for member in members)
    places: dict[Member, Place] = {}
    taken = 0
    for number, member in enumerate(members):
        start = taken + slack * number // len(members)
        places[member] = Place(start_s=(start + phase) % turn_s, group=group_no)
        taken += lengths[member]
    return places


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
