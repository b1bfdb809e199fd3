"""The sentences around the board: what is shown, what is happening, how to read it. Pure."""

from collections.abc import Iterator

from aggregator.board import Board
from aggregator.page import Choice
from aggregator.pooled import FEWEST_RUNS
from aggregator.standing import SILENT_AFTER, Exactness, RegionState, exactness_of
from aggregator.tones import Remark, Tone
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load
from pacewatch.words.text import age_text, plural, span_text, word_text
from pacewatch.words.verdict import VERDICT_MEANINGS, Verdict


def caption_of(fleet: Fleet, choice: Choice) -> str:
    """Return what the figures are of."""
    schedule = fleet.schedule
    shape = fleet.workloads.get(choice.workload)
    tokens = (
        "" if shape is None else f" ({shape.input_tokens:,} tokens in, {shape.output_tokens:,} out)"
    )
    load = {
        Load.SINGLE: "one request at a time",
        Load.PARALLEL: f"{schedule.parallel_requests} requests at once, each one's own speed",
    }[choice.load]
    where = "pooled over the regions" if choice.region is None else f"from {choice.region}"
    if choice.region is None and len(fleet.regions) == 1:
        where = f"from {next(iter(fleet.regions))}"
    return (
        f"Medians over the last {span_text(schedule.window_s)}, {where}: "
        f"workload {choice.workload}{tokens}, {load}."
    )


def notices_of(board: Board, fleet: Fleet, choice: Choice) -> tuple[Remark, ...]:
    """Return what a reader must know before the figures: nothing yet, or somebody silent."""
    silent = [
        Remark(
            tone=Tone.BAD,
            text=f"Region {one.region} is silent: "
            f"its last heartbeat came {age_text(one.last_seen_at, board.at)} ago.",
        )
        for one in board.regions
        if one.state is RegionState.SILENT
    ]
    return (*silent, *_inexact(board), *_empty(board, fleet, choice))


_INEXACT = {
    Exactness.SUSPECT: "are in doubt, and their figures do not count: its own calibration is over a"
    " limit.",
    Exactness.UNKNOWN: "may be off: it has not calibrated itself since it started.",
}
"""What is told of the timings of a worker that are not known to be exact."""


def _inexact(board: Board) -> Iterator[Remark]:
    """Yield of which living workers the timings are not known to be exact."""
    for region in board.regions:
        if region.state is not RegionState.SEEN:
            continue
        for worker in region.workers:
            is_alive = board.at - worker.last_seen_at <= SILENT_AFTER
            doubt = exactness_of(worker)
            if is_alive and (told := _INEXACT.get(doubt)):
                yield Remark(
                    tone=Tone.WARN if doubt is Exactness.SUSPECT else Tone.QUIET,
                    text=f"Timings of worker {worker.worker} in {region.region} {told}",
                )


def _empty(board: Board, fleet: Fleet, choice: Choice) -> tuple[Remark, ...]:
    endpoints = [endpoint for model in board.models for endpoint in model.endpoints]
    if not endpoints:
        return (Remark(tone=Tone.QUIET, text=_why_none(board, fleet, choice)),)
    if any(series.pooled.runs for endpoint in endpoints for series in endpoint.series):
        return ()
    planned = plural(len(endpoints), "endpoint")
    regions = plural(len(fleet.regions) if choice.region is None else 1, "region")
    return (
        Remark(
            tone=Tone.QUIET,
            text=f"Nothing measured yet: {planned} in {regions}. {_what_happens(board)}",
        ),
    )


def _why_none(board: Board, fleet: Fleet, choice: Choice) -> str:
    if choice.region is not None and choice.region not in fleet.regions:
        known = ", ".join(sorted(fleet.regions))
        return f"No region is called \u201c{choice.region}\u201d here (known: {known})."
    if choice.workload not in board.workloads:
        known = ", ".join(board.workloads)
        return f"No workload is called \u201c{choice.workload}\u201d here (known: {known})."
    if choice.after:
        return f"No model comes after \u201c{choice.after}\u201d."
    if not fleet.endpoints:
        return "No endpoint is picked, so there is nothing to measure."
    return (
        "Nothing is planned yet. As soon as the central worker has made its first tick, "
        "the endpoints stand here."
    )


def _what_happens(board: Board) -> str:
    unseen = [one.region for one in board.regions if one.state is RegionState.UNSEEN]
    if unseen:
        return f"No worker has reported from {' and '.join(unseen)} yet."
    if board.next_slot_at is not None and board.next_slot_at > board.at:
        wait = age_text(board.at, board.next_slot_at)
        return f"The next run is due in {wait}; the first ones may be under way."
    return "The first runs are under way; each takes from seconds to a minute."


def legend_of(board: Board, choice: Choice) -> str:
    """Return how to read the bars, and the word for what cannot be judged yet where it stands."""
    pooled = choice.region is None and len(board.regions) > 1
    few = " (90 % at five runs)" if choice.load is Load.PARALLEL else ""
    inside = (
        "the ticks on it are the medians of the single regions, which weigh the same in it"
        if pooled
        else "the line in it is the interval that holds the median with 95 % confidence" + few
    )
    return (
        "A bar shows how fast an endpoint is beside the others of its model; "
        f"{inside}. A median needs {FEWEST_RUNS[choice.load]} runs."
        f"{_parentheses(choice.load)}{_learning(board, choice)}"
    )


def _parentheses(load: Load) -> str:
    """Return how to read what is told of parallel runs alone."""
    if load is Load.SINGLE:
        return ""
    return (
        " In parentheses stand intervals: of what is got in all with the same confidence, "
        "of how much slower each is with at least 90 % (85 % at five runs)."
    )


def _learning(board: Board, choice: Choice) -> str:
    believed = [
        one
        for model in board.models
        for endpoint in model.endpoints
        if (one := endpoint.believed.get(choice.region or "")) is not None
    ]
    if all(one.verdict != Verdict.LEARNING for one in believed):
        return ""
    return f" {word_text(Verdict.LEARNING).capitalize()}: {VERDICT_MEANINGS[Verdict.LEARNING]}."
