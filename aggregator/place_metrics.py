"""Counters per endpoint and region as metrics: each from 0 on, whatever was counted."""

from array import array
from collections.abc import Iterable, Mapping

from aggregator.exposition import escaped, label_text
from aggregator.families import Page, flag_text, names_of
from aggregator.rows import EndpointRow, MissedRow, OutcomeRow, PlaceRow
from pacewatch.words.metrics import PLACE_LABELS
from pacewatch.words.outcome import MISSED_REASONS, Outcome
from pacewatch.words.slot import Purpose

FROM_ZERO_PURPOSES = (Purpose.SCHEDULED, Purpose.FIRST)
"""Purposes whose outcomes are all told from 0 on, before any request, wherever there is a series;
the others from the first row of theirs on: all of them would be a hundred samples a place.
"""


FROM_ZERO = tuple(
    (str(outcome), str(purpose)) for outcome in Outcome for purpose in FROM_ZERO_PURPOSES
)
"""Outcome and purpose of the requests that are told from 0 on."""

Place = tuple[str, str, bool]
"""Endpoint, region, simulated or not."""


CountedRow = PlaceRow | OutcomeRow | MissedRow


def note_place(places: dict[Place, str], place: Place, known: Mapping[str, EndpointRow]) -> None:
    """Note a place with its label text."""
    if place not in places:
        endpoint, region, simulated = place
        values = (*names_of(endpoint, known), region, flag_text(simulated))
        places[place] = label_text(PLACE_LABELS, values)


def add_places(
    page: Page,
    places: Mapping[Place, str],
    *,
    counters: Iterable[PlaceRow],
    outcomes: Iterable[OutcomeRow],
    missed: Iterable[MissedRow],
) -> None:
    """Add what is told of noted places: each counter from 0, then what was counted."""
    grid = Grid(page, places)
    for suffix in map(_outcome_suffix, FROM_ZERO):
        grid.column("pacewatch_requests_total", suffix)
    for suffix in map(_reason_suffix, MISSED_REASONS):
        grid.column("pacewatch_runs_missed_total", suffix)
    for place in counters:
        grid.set(place, "pacewatch_runs_recovered_total", place.recovered)
        grid.set(place, "pacewatch_runs_duplicate_total", place.duplicate)
        grid.set(place, "pacewatch_probe_cost_usd_total", place.cost_usd)
    for lost in missed:
        grid.set(lost, "pacewatch_runs_missed_total", lost.runs, _reason_suffix(lost.reason))
    _add_outcomes(page, grid, outcomes)


class Grid:
    """Counters of all places, 0 where nothing is told of them."""

    def __init__(self, page: Page, places: Mapping[Place, str]) -> None:
        """Start with the counters that have no further label."""
        self._page = page
        self._labels = list(places.values())
        self._row = {place: row for row, place in enumerate(places)}
        self._columns: dict[tuple[str, str], array[float]] = {}
        for name in ("runs_recovered", "runs_duplicate", "probe_cost_usd"):
            self.column(f"pacewatch_{name}_total", "")

    def column(self, name: str, suffix: str) -> "array[float]":
        """Return a counter's values, of which there is one for each place."""
        found = self._columns.get((name, suffix))
        if found is None:
            found = self._page.add_zeros(name, self._labels, suffix)
            self._columns[name, suffix] = found
        return found

    def label(self, row: CountedRow) -> str:
        """Return the label text of a row's place."""
        return self._labels[self._row[row.endpoint, row.region, row.simulated]]

    def set(self, row: CountedRow, name: str, value: float, suffix: str = "") -> None:
        """Tell a counter of the row's place."""
        self.column(name, suffix)[self._row[row.endpoint, row.region, row.simulated]] = value


def _add_outcomes(page: Page, grid: Grid, outcomes: Iterable[OutcomeRow]) -> None:
    """Add the requests by outcome; those of a purpose that is not told from 0 stand with all its
    outcomes where a place has one of them.
    """
    rare: dict[tuple[str, str], dict[str, int]] = {}
    for row in outcomes:
        if row.purpose in FROM_ZERO_PURPOSES:
            suffix = _outcome_suffix((row.outcome, row.purpose))
            grid.set(row, "pacewatch_requests_total", row.requests, suffix)
        else:
            counted = rare.setdefault((grid.label(row), row.purpose), {})
            counted[row.outcome] = row.requests
    for (labels, purpose), counted in rare.items():
        for outcome, requests in (dict.fromkeys(map(str, Outcome), 0) | counted).items():
            suffix = _outcome_suffix((outcome, purpose))
            page.add("pacewatch_requests_total", labels, requests, suffix)


def _outcome_suffix(told: tuple[str, str]) -> str:
    outcome, purpose = told
    return f',outcome="{escaped(outcome)}",purpose="{escaped(purpose)}"'


def _reason_suffix(reason: str) -> str:
    return f',reason="{escaped(reason)}"'
