"""The board on a terminal. Pure: the aggregator's document in, tables out."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from pacewatch.cli.incident_words import lasts_text, state_text
from pacewatch.cli.render import Cell, Column, as_text, bar, table
from pacewatch.words.flag import FIGURE_TEXTS, Figure
from pacewatch.words.outcome import outcome_text
from pacewatch.words.slot import from_rfc3339
from pacewatch.words.text import (
    UNKNOWN,
    age_text,
    count_text,
    far_text,
    few_text,
    seconds_text,
    slower_figures,
    span_text,
    speed_text,
    word_text,
)
from pacewatch.words.verdict import Slowness

SIMULATED = "Simulated: a simulator plays every provider, no figure is of a real one."
_BARS = ((120, 24), (100, 14), (0, 8))
"""From how many columns on a bar has how many cells."""

_WHOLE_ID_FROM = 100
"""From so many columns on an endpoint's whole id is shown; below, its id without the model."""

Document = dict[str, Any]


def parts(
    document: Document, *, workload: str | None, load: str, width: int
) -> list[RenderableType]:
    """Return what to print of a board: one workload (the fleet's first, unless said), one load."""
    shown = workload or next(iter(document["workloads"]), "")
    now = from_rfc3339(document["at"])
    found: list[RenderableType] = []
    if document["simulated"]:
        found.append(Text(SIMULATED, style="yellow"))
    found += [incident_line(one, now) for one in document["incidents"]]
    found.append(Text(_caption(document, shown, load), style="dim"))
    rows = [
        row
        for model in document["models"]
        for row in _model_rows(model, shown, load, now=now, width=width)
    ]
    if not rows:
        return [*found, Text("Nothing of that kind is measured or planned.")]
    return [*found, Text(), table(_columns(rows, width), rows, width=width)]


def _columns(rows: Sequence[Sequence[Cell]], width: int) -> Sequence[Column]:
    """Return the columns; ids stay whole beside a long remark, which folds between its words."""
    longest = max(len(row[0]) for row in rows)
    return (replace(COLUMNS[0], gives_way=longest > width * 2 // 5), *COLUMNS[1:])


def _caption(document: Document, workload: str, load: str) -> str:
    window = span_text(document["window_s"])
    return f"Medians over {window}, workload {workload}, {load}. Speed in tokens/s."


COLUMNS = (
    Column(name="Endpoint", gives_way=True),
    Column(name="Precision", narrow=False),
    Column(name="Speed", right=True),
    Column(name=""),
    Column(name="TTFT", right=True),
    Column(name="Runs", right=True),
    Column(name="Newest", right=True),
    Column(name="State", gives_way=True),
)


def _model_rows(
    model: Document, workload: str, load: str, *, now: datetime, width: int
) -> list[Sequence[Cell]]:
    chosen = [
        (endpoint, series)
        for endpoint in model["endpoints"]
        for series in endpoint["series"]
        if (series["workload"], series["load"]) == (workload, load)
    ]
    if not chosen:
        return []
    speeds = [_median(series, "output_tokens_per_s") for _, series in chosen]
    fastest = max((speed for speed in speeds if speed is not None), default=0.0)
    cells = next(cells for columns, cells in _BARS if width >= columns)
    head: list[Cell] = [Text(as_text(model["model"]).plain, style="bold"), *[""] * 7]
    rows = [
        (
            as_text(f"  {_name(endpoint, width)}"),
            endpoint["precision"],
            Text(speed_text(speed), style="bold"),
            Text(bar(speed, fastest, cells=cells), style="cyan"),
            seconds_text(_median(series, "ttft_s")),
            count_text(series["pooled"]["runs"]),
            _age(series["pooled"]["newest_at"], now),
            remark(endpoint, series, now),
        )
        for (endpoint, series), speed in zip(chosen, speeds, strict=True)
    ]
    return [head, *rows]


def _name(endpoint: Document, width: int) -> str:
    whole: str = endpoint["endpoint"]
    if width >= _WHOLE_ID_FROM:
        return whole
    parts = re.fullmatch(r"([^/]*)/[^@#]*(.*)", whole)
    return whole if parts is None else "".join(parts.groups())


def _median(series: Document, figure: str) -> float | None:
    found: float | None = series["pooled"][figure]["median"]
    return found


def _age(moment: str | None, now: datetime) -> str:
    return UNKNOWN if moment is None else age_text(from_rfc3339(moment), now)


def incident_line(one: Document, now: datetime) -> Text:
    """Return one open incident in a line."""
    blame, state = word_text(one["class"]), state_text(one)
    told = f"Incident {one['incident']}: {one['title']}, for {lasts_text(one, now)}"
    return Text(as_text(f"{told} ({blame}; {state})").plain, style=state.style)


def remark(endpoint: Document, series: Document, now: datetime) -> Text:
    """Return what is to be said of a series: that it fails, what is believed of it, that its latest
    run was far from its median, or why it has no figure.
    """
    cell = series["pooled"]
    latest = cell["latest"]
    verdict = _verdict(endpoint, series)
    troubles = _troubles(series, verdict, now)
    if troubles:
        is_silent = (
            not cell["failing_in"] and verdict is not None and verdict["verdict"] == "silent"
        )
        return Text("; ".join(troubles), style="yellow" if is_silent else "bold red")
    if latest is not None and latest["outcome"] != "ok":
        return Text(f"latest run: {outcome_text(latest['outcome'])}", style="yellow")
    if told := _far(series):
        return Text(told, style="yellow")
    return Text(_quiet(endpoint, cell, verdict), style="dim")


def _verdict(endpoint: Document, series: Document) -> Document | None:
    """Return what is believed where the series was measured: in its one region, or over all."""
    regions = list(series["regions"])
    alone = endpoint["verdicts"].get(regions[0]) if len(regions) == 1 else None
    found: Document | None = alone or endpoint["verdict"]
    return found


def _troubles(series: Document, verdict: Document | None, now: datetime) -> list[str]:
    """Return what is believed where that is trouble, and where the latest runs fail unless the
    verdict says so already; the verdict on failures gives way to where and how they are met.
    """
    word = "ok" if verdict is None else verdict["verdict"]
    failing = series["pooled"]["failing_in"]
    told = []
    if (
        verdict is not None
        and word not in ("ok", "learning")
        and not (failing and word == "failing")
    ):
        told.append(_verdict_text(verdict, now))
    if failing and word != "not_served":
        outcomes = {
            outcome_text(series["regions"][region]["latest"]["outcome"]) for region in failing
        }
        where = _where(failing, len(series["regions"]))
        told.append(f"failing{where}: {' and '.join(sorted(outcomes))}")
    return told


def _verdict_text(verdict: Document, now: datetime) -> str:
    lasts = age_text(from_rfc3339(verdict["since"]), now)
    times = {figure: verdict[f"{figure}_times"] for figure in Slowness}
    slower = slower_figures(times) if verdict["verdict"] == "slow" else ""
    told = f": {slower}" if slower else ""
    return f"{word_text(verdict['verdict'])} for {lasts}{told}"


def _far(series: Document) -> str:
    """Return how the latest run of a region lies far from the region's own median, if one does."""
    for region, cell in sorted(series["regions"].items()):
        latest, where = cell["latest"], f" in {region}" if len(series["regions"]) > 1 else ""
        if latest is None:
            continue
        told = far_text(
            latest["output_tokens_per_s"],
            cell["output_tokens_per_s"]["median"],
            ttft_s=latest["ttft_s"],
            usual_ttft_s=cell["ttft_s"]["median"],
        )
        if told:
            return f"latest run{where}: {told}"
    return ""


def _where(failing: Sequence[str], regions: int) -> str:
    if regions == 1:
        return ""
    return " everywhere" if len(failing) == regions else f" in {', '.join(failing)}"


def _quiet(endpoint: Document, cell: Document, verdict: Document | None) -> str:
    if not endpoint["active"]:
        return "no longer probed"
    if cell["state"] == "unmeasured":
        return "no run yet" if cell["latest"] is None else "no run now"
    if cell["state"] == "insufficient":
        latest = cell["latest"]["output_tokens_per_s"]
        told = "" if latest is None else f", latest {speed_text(latest)}"
        return f"{cell['runs']} of {cell['fewest_runs']} runs{told}"
    if told := _few(cell):
        return told
    if len(cell["definitions"]) > 1:
        return f"medians mix definitions {' and '.join(map(str, cell['definitions']))}"
    throughput = cell["system_tokens_per_s"]
    if throughput is not None and throughput["median"] is not None:
        return _together(throughput, cell["slowdown"]["output_tokens_per_s"])
    if cell["latest"]["answer_only"]:
        return "answer only"
    return "learning" if verdict is not None and verdict["verdict"] == "learning" else "ok"


def _few(cell: Document) -> str:
    """Return of which figures that have a column too few runs have one for a median."""
    few = {figure: int(cell[figure]["runs"]) for figure in (Figure.SPEED, Figure.TTFT)}
    return "; ".join(
        f"{FIGURE_TEXTS[figure]}: {few_text(runs, cell['fewest_runs'])}"
        for figure, runs in few.items()
        if runs < cell["fewest_runs"]
    )


def _together(throughput: Document, slower: Document) -> str:
    """Return what parallel runs get in all, and how much slower each request is for it."""
    told = f"{speed_text(throughput['median'])} in all{_interval(throughput, speed_text)}"
    if slower["times"] is None:
        return told
    return f"{told}, slowdown {_times_text(slower['times'])}{_interval(slower, _times_text)}"


def _interval(found: Document, write: Callable[[float], str]) -> str:
    if found["low"] is None or found["high"] is None:
        return ""
    return f" ({write(found['low'])}\u2013{write(found['high'])})"


def _times_text(times: float) -> str:
    return f"{times:.1f}"
