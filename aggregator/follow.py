"""What follows from an endpoint's judging: its troubles as incidents, from suspicion on.

An incident gathers the endpoints that one cause is thought to hold. It is suspected, then confirmed
by an alarm, cleared, or left unconfirmed; once confirmed it eases when all its endpoints are as
usual, and closes when that has lasted, so that a slow recovery or trouble that comes and goes makes
no second one.
"""

from datetime import datetime

from aggregator import telling
from aggregator.case import Case
from aggregator.db import Connection
from aggregator.detect.standing import Met, is_lasting, suspected_of, troubles_of
from aggregator.easing import ease_all
from aggregator.incident_rows import SLOW, Incidents, Open
from aggregator.sorting import Sorted
from aggregator.verdicts import Interval, ratio
from pacewatch.words.endpoint import Importance
from pacewatch.words.verdict import SLOW_FIGURES, Blame, Slowness, Trouble, UnusualEnd

SORTED_WITHIN_S = 6 * 3600
"""An incident's class may still change for so long after it was confirmed, or after the latest
chart began to tell its trouble, seconds of a whole day.
"""

_CHANGES = (Blame.UNKNOWN, Blame.REGION_PATH, Blame.PROVIDER, Blame.PROBER)
"""Classes of incidents whose troubles are sorted anew meanwhile."""

_GRAVE = (Trouble.FIRST_TOKEN, Trouble.OUTPUT_SPEED, Trouble.FAILURES)


def follow(connection: Connection, case: Case, now: datetime) -> int | None:
    """Write what follows from a judging into the incidents, inside the caller's transaction.

    Returns the incident that a suspicion's confirming probes are for; None where there is none.
    """
    following = _Following(Incidents(connection, now), case, now)
    if not following.is_quiet():
        return following.follow()
    return None


class _Following:
    """One case on its way into the incidents; used once."""

    def __init__(self, incidents: Incidents, case: Case, now: datetime) -> None:
        self.incidents, self.case, self.now = incidents, case, now
        self.id, self.provider = case.endpoint.id, case.endpoint.provider
        self.met = troubles_of(case.watch)
        self.suspected = suspected_of(case.watch)
        self.open: list[Open] = []

    def is_quiet(self) -> bool:
        """Tell whether there is nothing to follow."""
        return not (
            self.met or self.suspected or self.case.changes or self.incidents.has_open(self.id)
        )

    def follow(self) -> int | None:
        self.incidents.lock()
        self._read()
        for met in self.met:
            self._stand(met)
            self._read()
        home = None if self.suspected is None else self._suspect(self.suspected)
        self._read()
        is_suspected = self.suspected is not None
        ease_all(self.incidents, self.case, self.open, met=self.met, is_suspected=is_suspected)
        return home

    def _read(self) -> None:
        self.open = self.incidents.open_ones(self.id, self.provider)

    def _stand(self, met: Met) -> None:
        """Give a trouble that stands its place in an incident."""
        own = next((o for o in self.open if o.is_confirmed and o.holds(met.trouble)), None)
        if own is not None:
            self._keep(own, met)
            return
        it = self._sorted(met)
        home, suspected = it.home(self.open), self._suspicion_of(it)
        if suspected is None:
            self._place(it, home)
        elif home is not None:
            self._join(home, met)
            self._leave(suspected, home.id)
        else:
            troubles = [str(met.trouble) for met in self.met]
            self.incidents.run(
                "keep_members", incident=suspected.id, endpoint=self.id, troubles=troubles
            )
            self._confirm(suspected.id, it)

    def _place(self, it: Sorted, home: Open | None) -> int:
        """Give a trouble its place in an incident that holds such trouble, or in a new one."""
        if home is not None:
            self._join(home, it.met)
            return home.id
        made = self._make(it.met)
        self._confirm(made, it)
        return made

    def _suspicion_of(self, it: Sorted) -> Open | None:
        """Return the suspicion that a trouble confirms; one that others share is not of a model."""
        if it.met.trouble is Trouble.QUOTA:
            return None
        for one in self.open:
            is_theirs = one.is_shared and it.found.blame is Blame.MODEL
            if one.mine and not one.is_confirmed and not is_theirs:
                return one
        return None

    def _sorted(self, met: Met) -> Sorted:
        found, region = self.case.attribute(met)
        provider = "" if found.is_wide or found.blame is Blame.OURS else self.provider
        is_local = found.blame in (Blame.PROBER, Blame.REGION_PATH)
        return Sorted(met=met, found=found, place=(provider, region if is_local else ""))

    def _keep(self, own: Open, met: Met) -> None:
        """Go on with a trouble in the incident that holds it, or in one of its own."""
        it = self._sorted(met) if own.blame in _CHANGES and self._is_fresh(own, met) else None
        if it is not None and self._departs(own, it):
            self._depart(own, it)
            return
        if own.state == "eased":
            self.incidents.run("reopen_incident", incident=own.id)
            self.incidents.event(own.id, "again", telling.told(self.id, self.case.watch, met))
        elif met.trouble not in own.mine:
            self.incidents.event(own.id, "joined", telling.told(self.id, self.case.watch, met))
        self._member(own.id, met)
        self._widen(own, met)
        if it is not None and own.blame is not Blame.PROBER:
            self._sort(own, it)

    def _departs(self, own: Open, it: Sorted) -> bool:
        """Tell whether trouble that an incident of a region holds is in truth the provider's."""
        is_of_region = not own.provider and own.blame in (Blame.REGION_PATH, Blame.PROBER)
        return is_of_region and it.found.blame in (Blame.PROVIDER, Blame.MODEL)

    def _is_fresh(self, own: Open, met: Met) -> bool:
        if own.confirmed_at is None:
            return False
        told_at = max(own.confirmed_at.timestamp(), met.told_at)
        lasts_s = self.case.watch.rules.scaled(SORTED_WITHIN_S)
        return self.now.timestamp() - told_at <= lasts_s

    def _depart(self, own: Open, it: Sorted) -> None:
        """Take the endpoint out of the incident of a region, since it has trouble everywhere."""
        home_id = self._place(it, it.home(self.open))
        self._leave(own, home_id)
        if own.is_shared:
            self.incidents.event(own.id, "left", f"{self.id}: part of incident {home_id}")

    def _sort(self, own: Open, it: Sorted) -> None:
        """Sort an incident anew, as evidence comes in."""
        if not it.is_wider_than(own.blame):
            return
        home = it.home(self.open)
        if home is not None and home.id != own.id:
            self.incidents.event(
                home.id,
                "joined",
                f"incident {own.id}, {telling.told(self.id, self.case.watch, it.met)}",
            )
            self.incidents.run("move_members", incident=own.id, into=home.id)
            self._widen(home, it.met)
            self.incidents.close(own.id, f"part of incident {home.id}", unusual=UnusualEnd.PART)
            return
        self.incidents.run("classify_incident", incident=own.id, **it.columns())
        self.incidents.event(own.id, "class", telling.why(it.found))

    def _join(self, home: Open, met: Met) -> None:
        if home.state == "eased":
            self.incidents.run("reopen_incident", incident=home.id)
            self.incidents.event(home.id, "again", telling.told(self.id, self.case.watch, met))
        else:
            self.incidents.event(home.id, "joined", telling.told(self.id, self.case.watch, met))
        self._member(home.id, met)
        self._widen(home, met)

    def _make(self, met: Met) -> int:
        return int(
            self.incidents.rows(
                "insert_incident",
                provider=self.provider,
                region=met.region,
                trouble=str(met.trouble),
                importance=str(self.case.endpoint.importance),
                simulated=self.case.simulated,
                since=telling.moment(met.since),
            )[0]["incident_id"]
        )

    def _confirm(self, incident: int, it: Sorted) -> None:
        self._member(incident, it.met)
        self.incidents.run(
            "confirm_incident",
            incident=incident,
            trouble=str(it.met.trouble),
            since=telling.moment(it.met.since),
            **it.columns(),
        )
        self.incidents.event(incident, "confirmed", telling.told(self.id, self.case.watch, it.met))
        self.incidents.event(incident, "class", telling.why(it.found))

    def _leave(self, one: Open, home_id: int) -> None:
        """Take the endpoint out of an incident whose trouble turned out to be part of another."""
        self.incidents.run("drop_member", incident=one.id, endpoint=self.id)
        if not one.is_shared:
            self.incidents.close(one.id, f"part of incident {home_id}", unusual=UnusualEnd.PART)

    def _suspect(self, met: Met) -> int:
        """Return the incident that a suspicion belongs to; makes one where there is none."""
        ours = [o for o in self.open if o.provider == self.provider and o.trouble in SLOW]
        own = [o for o in self.open if o.mine and o.trouble in SLOW]
        shared = [o for o in ours if o.blame in (Blame.PROVIDER, Blame.UNKNOWN) and o.is_confirmed]
        for one in own + shared:
            return one.id
        waiting = [o for o in ours if not o.is_confirmed]
        incident = waiting[0].id if waiting else self._make(met)
        self._member(incident, met)
        for one in waiting[:1]:
            self._widen(one, met)
        self.incidents.event(
            incident, "suspected", telling.suspected(self.id, self.case.watch, met)
        )
        return incident

    def _member(self, incident: int, met: Met) -> None:
        found: Interval = (None, None, None)
        if met.trouble in SLOW_FIGURES:
            found = ratio(self.case.watch, met.region, Slowness(met.trouble), met.since)
        self.incidents.run(
            "upsert_member",
            incident=incident,
            endpoint=self.id,
            trouble=str(met.trouble),
            ratio=found[0],
            ratio_low=found[1],
            ratio_high=found[2],
            lasting=is_lasting(self.case.watch, met),
            since=telling.moment(met.since),
        )

    def _widen(self, one: Open, met: Met) -> None:
        """Let an incident be as grave as what has come to it."""
        order = list(Importance)
        importance = min(one.importance, self.case.endpoint.importance, key=order.index)
        trouble = one.trouble
        if trouble in _GRAVE and met.trouble in _GRAVE:
            trouble = max(trouble, met.trouble, key=_GRAVE.index)
        self.incidents.run(
            "widen_incident",
            incident=one.id,
            importance=str(importance),
            trouble=str(trouble),
            since=telling.moment(met.since),
        )
