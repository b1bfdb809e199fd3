"""How an endpoint's incidents ease once its trouble no longer stands, and which of them close."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from aggregator import telling
from aggregator.case import Case
from aggregator.detect import away
from aggregator.detect.standing import Met
from aggregator.detect.turn import Turn
from aggregator.incident_rows import Incidents, Open
from pacewatch.words.verdict import UNUSUAL_ENDS, Trouble, UnusualEnd


def ease_all(
    incidents: Incidents,
    case: Case,
    found: Iterable[Open],
    *,
    met: Sequence[Met],
    is_suspected: bool,
) -> None:
    """Ease those that the endpoint is part of as far as none of its troubles stands in them; one
    that is only suspected waits for its suspicion.
    """
    for one in found:
        if not any(one.mine.values()):
            if one.unheard_since is not None:
                _hear(incidents, case, one, one.unheard_since)
        elif one.is_confirmed or not is_suspected:
            _ease(incidents, case, one, met)


def _ease(incidents: Incidents, case: Case, one: Open, met: Sequence[Met]) -> None:
    """Ease what no longer stands of this endpoint, and the incident if nothing else does."""
    turns = {change.turn for change in case.changes}
    left = "unconfirmed" if Turn.UNCONFIRMED in turns else "cleared"
    ends = {"cleared": "as usual", "unconfirmed": "neither confirmed nor cleared in time"}
    why, unusual = _eased(case, one) if one.is_confirmed else (ends[left], None)
    incidents.run(
        "ease_members",
        incident=one.id,
        endpoint=case.endpoint.id,
        troubles=[str(one.trouble) for one in met],
        unheard=unusual is UnusualEnd.UNHEARD,
    )
    if unusual is None and one.others_unheard:
        why, unusual = telling.AS_USUAL_WHERE_HEARD, UnusualEnd.UNHEARD
    incidents.settle(one.id, left, why, unusual=unusual)
    is_accepted = case.accepted or Turn.NEW_LEVEL in turns
    if is_accepted and one.is_confirmed and _has_eased(incidents, case, one.id):
        if not case.accepted:
            incidents.event(one.id, "accepted", "it lasted: the level of now is the usual")
        accepted = UnusualEnd.ACCEPTED
        incidents.close(one.id, UNUSUAL_ENDS[accepted], unusual=accepted)


def _hear(incidents: Incidents, case: Case, one: Open, since: datetime) -> None:
    """Have what eased since nothing was heard of it eased as usual, once it is measured so."""
    if away.is_well(case.watch, one.region, since.timestamp()):
        incidents.run("hear_members", incident=one.id, endpoint=case.endpoint.id)
        if one.trouble is not Trouble.TIMING:
            incidents.hear(one.id, telling.heard(case.endpoint.id, one.region))


def _eased(case: Case, one: Open) -> tuple[str, UnusualEnd | None]:
    """Return why an incident eases, and what is unusual about that."""
    watch = case.watch
    if one.region and one.region not in watch.rules.regions:
        return telling.left(one.region), UnusualEnd.LEFT
    if missed := away.missed(watch):
        why = telling.unheard(missed, case.paused, is_all=not watch.heard)
        return why, UnusualEnd.UNHEARD
    return "as usual again", None


def _has_eased(incidents: Incidents, case: Case, incident: int) -> bool:
    found = incidents.open_ones(case.endpoint.id, case.endpoint.provider)
    return any(one.id == incident and one.state == "eased" for one in found)
