"""Runs that `probe --from REGION` has a worker of that region make, through the centre."""

import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from aggregator.reading import read_record
from pacewatch.cli import centre
from pacewatch.cli.render import show_line, terminal
from pacewatch.tables import shown, suggestion
from pacewatch.words.errors import PacewatchError, SettingsError
from pacewatch.words.outcome import MISSED_MEANINGS
from pacewatch.words.slot import Load, from_rfc3339
from pacewatch.words.timing import Run

EVERY_S = 0.5
"""How often the centre is asked how the run stands."""

GRACE_S = 30.0
"""How long after the end of its validity the centre may still say nothing of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """Runs of one kind from one region, as many as are asked for."""

    endpoint: str
    region: str
    workload: str
    load: Load
    token: str

    def documents(self, count: int) -> Iterator[dict[str, Any]]:
        """Have runs made one after another; give the centre's document of each.

        Raises PacewatchError for a run that nobody made.
        """
        for _ in range(count):
            yield self._document()

    def _document(self) -> dict[str, Any]:
        asked = {
            "endpoint": self.endpoint,
            "region": self.region,
            "workload": self.workload,
            "load": str(self.load),
            "key": str(uuid4()),
        }
        slot = centre.post("/v1/slots", asked, self.token)
        patience = from_rfc3339(slot["valid_until"]) - from_rfc3339(slot["slot_at"])
        until = time.monotonic() + (patience + timedelta(seconds=GRACE_S)).total_seconds()
        screen = terminal()
        waiting = nullcontext() if screen is None else screen.status(self._waiting("planned"))
        with waiting as status:
            while True:
                found: dict[str, Any] = centre.get(f"/api/runs/{quote(slot['run'])}")
                if found["execution"] is not None:
                    return found
                self._refuse(found, is_over=time.monotonic() > until)
                if status is not None:
                    status.update(self._waiting(found["state"]))
                time.sleep(EVERY_S)

    def _waiting(self, state: str) -> str:
        return f"{self.endpoint} from {self.region}: {_STATES.get(state, state)}"

    def _refuse(self, found: Mapping[str, Any], *, is_over: bool) -> None:
        """Raise PacewatchError where no run is to be expected any more."""
        place = f"{self.endpoint} from {self.region}"
        if found["state"] == "missed":
            reason = found["reason"]
            raise PacewatchError(f"{place}: not run: {MISSED_MEANINGS[reason]} ({reason})")
        if found["unrun"]:
            raise PacewatchError(
                f"{place}: the worker failed by a fault of its own; its log says which"
            )
        if is_over:
            raise PacewatchError(
                f"{place}: the centre says nothing of the run (pacewatch status tells why)"
            )


_STATES = {
    "planned": "waits for the centre to send it",
    "sent": "sent to the region, being measured",
    "run": "measured",
}


def of_centre(endpoint: str, region: str, workload: str | None, load: Load) -> Away:
    """Return what the centre is asked; raises SettingsError for what it does not know."""
    board = centre.get("/api/board", {"provider": [endpoint.partition("/")[0]]})
    states = {one["region"]: one for one in board["regions"]}
    if region not in states:
        raise SettingsError(
            f"--from: {shown(region)} is not on the board{suggestion(region, states)}"
        )
    if endpoint not in _endpoints(board):
        known = _endpoints(centre.whole_board({}))
        if endpoint not in known:
            raise SettingsError(
                f"probe: {shown(endpoint)} is not on the board{suggestion(endpoint, known)}"
            )
    if states[region]["state"] != "seen":
        since = states[region]["last_seen_at"]
        heard = "ever" if since is None else f"since {since}"
        show_line(f"{region}: no worker has been heard of {heard}", error=True)
    return Away(
        endpoint=endpoint,
        region=region,
        workload=workload or board["workloads"][0],
        load=load,
        token=centre.token("run", simulated=board["simulated"]),
    )


def _endpoints(board: Mapping[str, Any]) -> list[str]:
    return [one["endpoint"] for model in board["models"] for one in model["endpoints"]]


def run_of(document: Mapping[str, Any]) -> Run:
    """Return the run that the centre's document tells."""
    requests = [
        {name: value for name, value in request.items() if name != "figures"}
        for request in document["requests"]
    ]
    told = {name: value for name, value in document.items() if name != "figures"}
    return read_record({**told, "requests": requests})
