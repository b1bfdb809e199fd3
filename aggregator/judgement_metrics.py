"""Verdicts and open incidents as metrics."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from aggregator.db import Connection
from aggregator.exposition import label_text
from aggregator.families import Page, flag_text, names_of
from aggregator.place_metrics import Place
from aggregator.rows import EndpointRow, read_rows, stream_rows
from aggregator.verdict_views import Ratios
from pacewatch.words.metrics import JUDGED_LABELS, METRICS, PLACE_LABELS
from pacewatch.words.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow(Ratios):
    """What is believed of an endpoint in a region, or over all regions where that is ''."""

    endpoint: str
    region: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRow:
    """Up to which moment all that came in of an endpoint has been judged."""

    endpoint: str
    judged_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRow:
    """An open incident."""

    incident_id: int
    blame: str
    trouble: str
    provider: str
    region: str
    importance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementRows:
    """All that is believed, at one moment."""

    verdicts: Iterable[VerdictRow]
    judged: Iterable[JudgedRow]
    incidents: Iterable[IncidentRow]


def read_judgement(connection: Connection) -> JudgementRows:
    """Return the rows of the connection's one moment; verdicts are read while they are used."""
    return JudgementRows(
        verdicts=stream_rows(connection, VerdictRow, "select_told_verdicts"),
        judged=read_rows(connection, JudgedRow, "select_judged"),
        incidents=read_rows(connection, IncidentRow, "select_told_incidents"),
    )


def add_judgement(
    page: Page,
    rows: JudgementRows,
    known: Mapping[str, EndpointRow],
    places: Mapping[Place, str],
    *,
    simulated: bool,
) -> None:
    """Add what is believed of every endpoint, and the incidents that are open; a place's labels
    are those that its counters have.
    """
    over_all, in_regions = _Verdicts("pacewatch_verdict"), _Verdicts("pacewatch_region_verdict")
    flag = flag_text(simulated)
    for row in rows.verdicts:
        names = names_of(row.endpoint, known)
        if row.region:
            labels = places.get((row.endpoint, row.region, simulated))
            in_regions.note(labels or label_text(PLACE_LABELS, (*names, row.region, flag)), row)
            continue
        labels = label_text(JUDGED_LABELS, (*names, flag))
        over_all.note(labels, row)
        for figure, times in row.times.items():
            page.add("pacewatch_slowdown_ratio", labels, times, f',metric="{figure}"')
    over_all.tell(page)
    in_regions.tell(page)
    for judged in rows.judged:
        labels = label_text(JUDGED_LABELS, (*names_of(judged.endpoint, known), flag))
        page.add("pacewatch_judged_timestamp_seconds", labels, judged.judged_at.timestamp())
    word = METRICS["pacewatch_incident_open"]
    for one in rows.incidents:
        facts = (one.blame, one.trouble, one.provider, one.region, one.importance, flag)
        page.add(word.name, label_text(word.labels, (str(one.incident_id), *facts)), 1)


class _Verdicts:
    """A verdict for each label text; told as 1 for it and 0 for each other word."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._labels: list[str] = []
        self._verdicts: list[Verdict] = []

    def note(self, labels: str, row: VerdictRow) -> None:
        self._labels.append(labels)
        self._verdicts.append(Verdict(row.verdict))

    def tell(self, page: Page) -> None:
        columns: dict[Verdict, array[float]] = {
            word: page.add_zeros(self._name, self._labels, f',verdict="{word}"') for word in Verdict
        }
        for row, verdict in enumerate(self._verdicts):
            columns[verdict][row] = 1
