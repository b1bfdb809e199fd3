"""Medians, latest runs and slowdowns as JSON documents. Pure; unknown is null."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from aggregator.api.described import Moment, moment, told
from aggregator.cells import Cell, Latest
from aggregator.statistic import Statistic
from aggregator.together import Times, Together
from pacewatch.words.flag import Figure
from pacewatch.words.slot import to_rfc3339

TTFT = "time from the send to the first token, reasoning included, s"
ANSWER = "time from the send to the first token of the visible answer, s"
SPEED = "tokens after the first arrival over the time to the last one, tokens/s"
END_TO_END = "time from the send to the last token, s"
STALL = "longest time between two arrivals of text, s"


class StatisticDocument(TypedDict):
    """A median over runs, with its interval; other quantiles are over requests."""

    median: Annotated[float | None, told("in the unit of the figure; null: too few runs")]
    low: Annotated[float | None, told("low end of the median's interval; null: none can be given")]
    high: Annotated[float | None, told("high end of the median's interval")]
    interval_percent: Annotated[
        int | None, told("how often such an interval holds the median, percent")
    ]
    runs: Annotated[int, told("runs that have the figure")]
    p5: NotRequired[Annotated[float | None, told("over requests; of one region alone")]]
    p25: NotRequired[Annotated[float | None, told("over requests; of one region alone")]]
    p75: NotRequired[Annotated[float | None, told("over requests; of one region alone")]]
    p95: NotRequired[Annotated[float | None, told("over requests; of one region alone")]]


class TimesDocument(TypedDict):
    """How many times slower a request is among others than alone."""

    times: Annotated[float | None, told("by the medians of both; null: too few runs of either")]
    low: Annotated[float | None, told("low end of its interval; null: none can be given")]
    high: Annotated[float | None, told("high end of its interval")]
    interval_percent: Annotated[
        int | None, told("how often such an interval holds it at least, percent")
    ]
    runs: Annotated[int, told("parallel runs that have the figure")]
    runs_alone: Annotated[int, told("single runs that have the figure")]


class SlowdownDocument(TypedDict):
    """How many times slower each request of a parallel run is than one alone, by two figures."""

    output_tokens_per_s: Annotated[TimesDocument, told("by the output speed")]
    ttft_s: Annotated[TimesDocument, told("by the time to the first token")]


class LatestDocument(TypedDict):
    """The latest run of a series."""

    at: Annotated[Moment, told("of its slot")]
    region: Annotated[str, told("where its worker stands")]
    outcome: Annotated[str, told("of its first request that is not ok, else ok")]
    ttft_s: Annotated[float | None, told(TTFT)]
    output_tokens_per_s: Annotated[float | None, told(SPEED)]
    end_to_end_s: Annotated[float | None, told(END_TO_END)]
    answer_only: Annotated[
        bool, told("true: its reasoning was hidden, so the speed is of the answer alone")
    ]


class CellDocument(TypedDict):
    """What a series, or several over regions, come to in the window."""

    state: Annotated[str, told("shown, insufficient (no figure has enough runs) or unmeasured")]
    runs: Annotated[int, told("runs in the window")]
    fewest_runs: Annotated[int, told("so many runs a median needs")]
    requests: Annotated[int, told("requests of these runs")]
    good: Annotated[int, told("requests that ended well")]
    output_tokens_per_s: Annotated[StatisticDocument, told(SPEED)]
    ttft_s: Annotated[StatisticDocument, told(TTFT)]
    answer_s: Annotated[StatisticDocument, told(ANSWER)]
    end_to_end_s: Annotated[StatisticDocument, told(END_TO_END)]
    system_tokens_per_s: Annotated[
        StatisticDocument | None,
        told(
            "of parallel runs: all tokens of a run over the time from its first send to its last"
            " token, tokens/s; null: of single ones"
        ),
    ]
    slowdown: Annotated[SlowdownDocument | None, told("of parallel runs; null: of single ones")]
    newest_at: Annotated[Moment | None, told("slot of the newest run in the window")]
    latest: Annotated[LatestDocument | None, told("the latest run, however old")]
    last_success_at: Annotated[Moment | None, told("slot of the latest run with a good request")]
    failing_in: Annotated[
        list[str], told("regions whose latest two runs failed, or whose only one did")
    ]
    definitions: Annotated[
        list[int],
        told(
            "versions of the definitions that its runs were measured by, the lowest and the"
            " highest; two: its medians mix both, and are not to be compared"
        ),
    ]


def cell_document(cell: Cell) -> CellDocument:
    """Return what a cell of the board tells."""
    found, together = cell.statistics, cell.together
    return {
        "state": str(cell.state),
        "runs": cell.runs,
        "fewest_runs": cell.fewest_runs,
        "requests": cell.requests,
        "good": cell.good,
        "output_tokens_per_s": statistic_document(found[Figure.SPEED]),
        "ttft_s": statistic_document(found[Figure.TTFT]),
        "answer_s": statistic_document(found[Figure.ANSWER]),
        "end_to_end_s": statistic_document(found[Figure.END_TO_END]),
        "system_tokens_per_s": statistic_document(together.throughput) if together else None,
        "slowdown": _slowdown(together) if together else None,
        "newest_at": moment(cell.newest_at),
        "latest": _latest(cell.latest),
        "last_success_at": moment(cell.last_success_at),
        "failing_in": list(cell.failing_in),
        "definitions": list(cell.definitions),
    }


def statistic_document(statistic: Statistic) -> StatisticDocument:
    """Return a median with its interval, and the other quantiles where they are known."""
    document: StatisticDocument = {
        "median": statistic.median,
        "low": statistic.low,
        "high": statistic.high,
        "interval_percent": statistic.interval_percent,
        "runs": statistic.runs,
    }
    if statistic.quantiles is not None:
        document["p5"], document["p25"], _, document["p75"], document["p95"] = statistic.quantiles
    return document


def _slowdown(together: Together) -> SlowdownDocument:
    return {
        "output_tokens_per_s": _times(together.slower[Figure.SPEED]),
        "ttft_s": _times(together.slower[Figure.TTFT]),
    }


def _times(found: Times) -> TimesDocument:
    return {
        "times": found.times,
        "low": found.low,
        "high": found.high,
        "interval_percent": found.interval_percent,
        "runs": found.runs,
        "runs_alone": found.runs_alone,
    }


def _latest(latest: Latest | None) -> LatestDocument | None:
    if latest is None:
        return None
    return {
        "at": to_rfc3339(latest.at),
        "region": latest.region,
        "outcome": latest.outcome,
        "ttft_s": latest.ttft_s,
        "output_tokens_per_s": latest.output_tokens_per_s,
        "end_to_end_s": latest.end_to_end_s,
        "answer_only": latest.answer_only,
    }
