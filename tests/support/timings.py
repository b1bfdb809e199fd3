"""Builders of timings and runs: sensible where nothing is said."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import RUN_NAMESPACE, Load
from pacewatch.words.timing import Chunks, Run, Timing, WorkerName

STARTED_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make_chunks(*at_ms: float, tokens: int = 1, kind: str | None = None) -> Chunks:
    """Chunks at the given milliseconds, each of that many tokens; all answer unless said."""
    return Chunks(
        at_us=tuple(round(ms * 1000) for ms in at_ms),
        size_bytes=(4 * tokens,) * len(at_ms),
        tokens=(tokens,) * len(at_ms),
        kind="a" * len(at_ms) if kind is None else kind,
    )


def make_timing(chunks: Chunks | None = None, **fields: Any) -> Timing:
    """A good timing of three chunks, 100 ms apart from 200 ms on, unless said."""
    values: dict[str, Any] = {
        "n": 0,
        "outcome": Outcome.OK,
        "sent_us": 0,
        "chunks": make_chunks(200, 300, 400) if chunks is None else chunks,
        "end_us": 450_000,
        "headers_us": 90_000,
        "finish": "length",
    }
    return Timing(**(values | fields))


def make_run(*timings: Timing, name: str = "run", **fields: Any) -> Run:
    """A run of the given timings, or of one good one; ids follow from `name`."""
    values: dict[str, Any] = {
        "run_id": uuid5(RUN_NAMESPACE, name),
        "execution": UUID(int=uuid5(RUN_NAMESPACE, name + " execution").int, version=4),
        "region": "eu-west",
        "worker": WorkerName(id="w1", version="0.1.0", catalog="0" * 16),
        "endpoint": "groq/gpt-oss-120b",
        "endpoint_hash": "0" * 16,
        "workload": "short",
        "load": Load.SINGLE if len(timings) < 2 else Load.PARALLEL,
        "simulated": False,
        "started_at": STARTED_AT,
        "timings": timings or (make_timing(),),
    }
    return Run(**(values | fields))
