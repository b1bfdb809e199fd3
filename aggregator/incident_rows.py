"""Incidents in the store: read whole, written one change at a time, under one lock."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aggregator.db import Connection, queries
from pacewatch.words.endpoint import Importance
from pacewatch.words.verdict import Blame, Trouble, UnusualEnd

INCIDENT_LOCK = 8_420_005
"""Key of the advisory lock of those who write incidents; taken after an endpoint's judgement."""

SLOW = frozenset({Trouble.FIRST_TOKEN, Trouble.OUTPUT_SPEED, Trouble.FAILURES})
"""Troubles that make one incident together; each other one makes its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """An incident that has not ended, as one endpoint's judge sees it."""

    id: int
    provider: str
    region: str
    trouble: Trouble
    blame: Blame
    state: str
    importance: Importance
    confirmed_at: datetime | None
    mine: Mapping[Trouble, bool]
    """The endpoint's own troubles in it, and whether each stands."""

    unheard_since: datetime | None
    """When the endpoint eased since nothing was heard of it any more; None: it did not."""

    is_shared: bool
    """Other endpoints are in trouble in it."""

    others_unheard: bool
    """Others eased since nothing was heard of them any more."""

    @property
    def place(self) -> tuple[str, str]:
        """Return the provider and the region that it is of, each '' for none alone."""
        return self.provider, self.region

    @property
    def is_confirmed(self) -> bool:
        """Tell whether it is more than a suspicion."""
        return self.state != "suspected"

    def holds(self, trouble: Trouble) -> bool:
        """Tell whether such a trouble of the endpoint is part of it."""
        kin = SLOW if trouble in SLOW else {trouble}
        return bool(kin & self.mine.keys())


class Incidents:
    """The open incidents, for one endpoint at one moment; used once, under the lock."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        """Write by this connection, inside its transaction."""
        self.connection, self.now = connection, now

    def lock(self) -> None:
        """Wait until nobody else writes incidents, to the end of the transaction."""
        self.run("take_incident_lock", key=INCIDENT_LOCK)

    def has_open(self, endpoint: str) -> bool:
        """Tell whether the endpoint is part of any that has not ended."""
        return bool(self.rows("has_open", endpoint=endpoint)[0]["has_open"])

    def open_ones(self, endpoint: str, provider: str) -> list[Open]:
        """Return those of its provider, or of none alone, that have not ended, the oldest first."""
        return [
            Open(
                id=row["incident_id"],
                provider=row["provider"],
                region=row["region"],
                trouble=Trouble(row["trouble"]),
                blame=Blame(row["class"]),
                state=row["state"],
                importance=Importance(row["importance"]),
                confirmed_at=row["confirmed_at"],
                unheard_since=row["unheard_since"],
                is_shared=row["is_shared"],
                others_unheard=row["others_unheard"],
                mine={Trouble(trouble): stands for trouble, stands in row["troubles"].items()},
            )
            for row in self.rows("find_open", endpoint=endpoint, provider=provider)
        ]

    def event(self, incident: int, kind: str, text: str, at: datetime | None = None) -> None:
        """Add a line to an incident's timeline."""
        self.run("insert_event", incident=incident, at=at or self.now, kind=kind, text=text)

    def close(self, incident: int, why: str, *, unusual: UnusualEnd | None = None) -> None:
        """End an incident."""
        self.run("close_incident", incident=incident, unusual=unusual)
        self.event(incident, "closed", why)

    def settle(
        self, incident: int, state: str, why: str, *, unusual: UnusualEnd | None = None
    ) -> None:
        """Ease an incident whose endpoints are as usual, or end it so where only suspected."""
        if self.rows("ease_incident", incident=incident, unusual=unusual):
            self.event(incident, "eased", why)
        elif self.rows("end_suspected", incident=incident, state=state):
            self.event(incident, state, why)

    def hear(self, incident: int, why: str) -> None:
        """Have an incident that eased since nothing was heard of it eased as usual, from now on."""
        if self.rows("hear_incident", incident=incident):
            self.event(incident, "heard", why)

    def run(self, name: str, **values: object) -> None:
        """Run a query of `incidents.sql`; it knows the moment as `now`."""
        self.connection.execute(queries("incidents")[name], {"now": self.now, **values})

    def rows(self, name: str, **values: object) -> list[dict[str, Any]]:
        """Return the rows of a query of `incidents.sql`."""
        named = queries("incidents")[name]
        return self.connection.execute(named, {"now": self.now, **values}).fetchall()
