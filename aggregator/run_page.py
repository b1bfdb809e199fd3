"""One run as a person reads it: what was asked, every request's figures, who answered. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from aggregator.lanes import Lanes, lanes_of
from aggregator.places import endpoint_address
from aggregator.request_facts import Fact, Group, groups_of
from aggregator.runs import OneRun, Row
from pacewatch.words.flag import FIGURE_TEXTS, FLAG_MEANINGS, Figure, Flag, leaves_text
from pacewatch.words.outcome import (
    DECLINE_MEANINGS,
    MISSED_MEANINGS,
    OUTCOME_MEANINGS,
    Decline,
    Outcome,
)
from pacewatch.words.slot import Load, to_rfc3339
from pacewatch.words.text import (
    count_text,
    plural,
    seconds_text,
    speed_text,
    usd_text,
    word_text,
)

FIGURES = (Figure.TTFT, Figure.ANSWER, Figure.SPEED, Figure.END_TO_END, Figure.STALL)
"""The columns of the requests' table."""

_PURPOSES = {
    "scheduled": "planned by the schedule",
    "first": "the first one of a new endpoint",
    "confirm": "to confirm or clear a suspicion; out of the rolling statistics",
    "manual": "asked for by a person; out of the rolling statistics",
    "sentinel": "one of the small and frequent ones",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCell:
    """A figure of a request."""

    text: str
    left_out: bool
    """Its flags keep it out of statistics and judging."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLine:
    """One request in the table."""

    n: int
    outcome: str
    good: bool
    meaning: str
    figures: tuple[FigureCell, ...]
    tokens: str
    flags: tuple[str, ...]
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLine:
    """What a flag that the run carries means."""

    flag: str
    meaning: str
    takes_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestDetails:
    """All that is known of a request beside its figures."""

    n: int
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """All that stands on the page of a run."""

    run: str
    endpoint: str
    endpoint_address: str
    simulated: bool
    summary: str
    notice: str
    """What a reader must know first; empty: nothing."""
    bad: bool
    facts: tuple[Fact, ...]
    columns: tuple[str, ...]
    requests: tuple[RequestLine, ...]
    lanes: Lanes | None
    flags: tuple[FlagLine, ...]
    details: tuple[RequestDetails, ...]
    others: tuple[str, ...]
    """Executions that took no part in the figures, a sentence each."""


def run_page(found: OneRun) -> RunPage:
    """Return the page of a run."""
    slot, record = found.slot, found.record
    seen = {} if record is None else {timing.n: timing for timing in record.timings}
    names = {n: timing.identity.request_id or "" for n, timing in seen.items()}
    return RunPage(
        run=str(slot["run_id"]),
        endpoint=slot["endpoint"],
        endpoint_address=endpoint_address(
            slot["endpoint"], workload=slot["workload"], load=slot["load"]
        ),
        simulated=slot["simulated"],
        summary=_summary(slot, len(found.timings)),
        notice=_notice(found),
        bad=slot["state"] == "missed" or (found.won or {}).get("outcome", "ok") != "ok",
        facts=tuple(_facts(found)),
        columns=tuple(FIGURE_TEXTS[figure] for figure in FIGURES),
        requests=tuple(_line(row, names.get(row["n"], "")) for row in found.timings),
        lanes=lanes_of(record.timings) if record is not None else None,
        flags=_flags(found),
        details=tuple(RequestDetails(n=n, groups=groups_of(one)) for n, one in seen.items()),
        others=tuple(_others(found)),
    )


def _summary(slot: Row, requests: int) -> str:
    load = "one request" if slot["load"] == Load.SINGLE else "several requests at once"
    if slot["load"] == Load.PARALLEL and requests:
        load = f"{plural(requests, 'request')} at once"
    return f"from {slot['region']}, workload {slot['workload']}, {load}"


def _notice(found: OneRun) -> str:
    state, reason = found.slot["state"], found.slot["reason"]
    if found.won is not None:
        return _how_it_ended(found)
    if found.aside:
        return "A worker has told of it; it is taken in as soon as what it tells is known here."
    if state == "missed":
        why = MISSED_MEANINGS.get(reason, word_text(reason or "for no reason that is known"))
        return f"Nobody ran it: {why}."
    if state == "planned":
        return "It is planned and has not been sent yet."
    return "It was sent to its region; no worker has told of it yet."


def _how_it_ended(found: OneRun) -> str:
    bad = [row["outcome"] for row in found.timings if row["outcome"] != Outcome.OK]
    if not bad:
        return "" if found.record else "Its timeline is no longer kept; the figures stay."
    told = f"{word_text(bad[0])}: {_meaning(bad[0])}."
    if len(found.timings) == 1:
        return told[0].upper() + told[1:]
    return f"{len(bad)} of {plural(len(found.timings), 'request')} ended badly, the first: {told}"


def _meaning(outcome: str) -> str:
    known = outcome in set(Outcome)
    return OUTCOME_MEANINGS[Outcome(outcome)] if known else "not known to this version"


def _facts(found: OneRun) -> Iterator[Fact]:
    slot, won = found.slot, found.won
    purpose = slot["purpose"]
    yield Fact(name="purpose", text=f"{purpose}: {_PURPOSES.get(purpose, '')}".removesuffix(": "))
    yield Fact(name="slot", text=_moment(slot["slot_at"]))
    yield Fact(name="state", text=_state(slot))
    if won is None:
        yield Fact(name="valid until", text=_moment(slot["valid_until"]))
        return
    yield Fact(name="started", text=f"{_moment(won['started_at'])} by the worker's own clock")
    yield Fact(name="came in", text=_moment(won["received_at"]))
    yield Fact(name="worker", text=f"{won['worker']}, version {won['worker_version']}")
    yield Fact(name="beside it", text=f"{plural(won['beside'], 'other stream')} of the worker")
    yield Fact(name="cost", text=usd_text(won["cost_usd"]))
    yield Fact(name="definitions", text=f"version {won['definition']}")
    yield Fact(name="question", text=f"version {won['endpoint_hash']}")
    if won["system_tokens_per_s"] is not None and slot["load"] == Load.PARALLEL:
        speed = speed_text(won["system_tokens_per_s"])
        yield Fact(name="all together", text=f"{speed} tokens/s from the first send to the last")


def _state(slot: Row) -> str:
    """Return how the slot stands; one that was run all the same was missed before."""
    state, reason = slot["state"], slot["reason"]
    if reason is None:
        return str(state)
    return f"run, after it had been missed ({reason})" if state == "run" else f"{state} {reason}"


def _line(row: Row, request_id: str) -> RequestLine:
    outcome = row["outcome"]
    return RequestLine(
        n=row["n"],
        outcome=word_text(outcome),
        good=outcome == Outcome.OK,
        meaning=_meaning(outcome),
        figures=tuple(_figure(row, figure) for figure in FIGURES),
        tokens=count_text(row["tokens"]),
        flags=tuple(word_text(flag) for flag in row["flags"]),
        request_id=request_id,
    )


def _figure(row: Mapping[str, object], figure: Figure) -> FigureCell:
    value, left_out = row[figure], row["left_out"]
    write = speed_text if figure is Figure.SPEED else seconds_text
    return FigureCell(
        text=write(value if isinstance(value, float) else None),
        left_out=value is not None and isinstance(left_out, list) and str(figure) in left_out,
    )


def _flags(found: OneRun) -> tuple[FlagLine, ...]:
    carried = {flag for row in found.timings for flag in row["flags"]}
    carried |= set((found.won or {}).get("flags", ()))
    return tuple(
        FlagLine(flag=word_text(flag), meaning=FLAG_MEANINGS[flag], takes_out=leaves_text(flag))
        for flag in Flag
        if flag in carried
    )


def _others(found: OneRun) -> Iterator[str]:
    for row in found.unrun:
        told = row["declined"]
        known = told in set(Decline)
        why = DECLINE_MEANINGS[Decline(told)] if known else told or "a fault of our own"
        yield f"{_of(row)} measured nothing: {why}."
    for row in found.aside:
        yield f"{_of(row)} is put aside: {row['reason']}."
    for row in found.duplicates:
        yield f"{_of(row)} came after the one that counts, and cost {usd_text(row['cost_usd'])}."


def _of(row: Row) -> str:
    return f"Execution {row['execution']}, told {_moment(row['received_at'])},"


def _moment(moment: datetime) -> str:
    return to_rfc3339(moment)
