"""From a stored run to what it says: votes, and what somebody must set right."""

from collections.abc import Mapping, Sequence
from typing import Any

from aggregator.db import Connection, queries
from aggregator.detect.evidence import Ended, Evidence, votes_of
from aggregator.reading import stored_requests
from pacewatch.words.flag import Flag
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Load, Purpose
from pacewatch.words.verdict import Advice

_BY_OUTCOME = {
    Outcome.AUTH: Advice.AUTH,
    Outcome.REJECTED: Advice.REJECTED,
    Outcome.FILTERED: Advice.FILTERED,
}


def evidence_of(row: Mapping[str, Any], ended: Sequence[Ended]) -> Evidence | None:
    """Return what a stored run says; None where the worker itself was suspect all along.

    Flags have taken out of the row's figures what they take out.
    """
    if all(Flag.PROBER_SUSPECT in request["flags"] for request in row["ended"]):
        return None
    failed, limited, gone = votes_of(ended)
    return Evidence(
        at=row["slot_at"].timestamp(),
        region=row["region"],
        workload=row["workload"],
        load=Load(row["load"]),
        purpose=Purpose(row["purpose"]),
        ttft_s=row["ttft_s"] or None,
        speed=row["output_tokens_per_s"] or None,
        end_to_end_s=row["end_to_end_s"] or None,
        failed=failed,
        limited=limited,
        gone=gone,
    )


def is_flagged(row: Mapping[str, Any]) -> bool:
    """Tell whether the worker itself found its timing suspect in a run."""
    return any(Flag.PROBER_SUSPECT in request["flags"] for request in row["ended"] or ())


def ended_of(connection: Connection, row: Mapping[str, Any]) -> list[Ended]:
    """Return how the requests of a stored run ended; reads its record where one was empty.

    A fault of our own is nobody's, so it is left out.
    """
    rooms: Mapping[int, bool] = {}
    if any(request["outcome"] == Outcome.EMPTY for request in row["ended"]):
        rooms = _rooms(connection, row)
    return [
        Ended(
            outcome=Outcome(request["outcome"]),
            error_type=request["type"],
            had_room=Flag.TRUNCATED not in request["flags"] and rooms.get(n, True),
        )
        for n, request in enumerate(row["ended"])
        if request["outcome"] != Outcome.INTERNAL
    ]


def advice_of(row: Mapping[str, Any], ended: Sequence[Ended]) -> set[Advice]:
    """Return what a run shows that somebody must set right."""
    found = {_BY_OUTCOME[one.outcome] for one in ended if one.outcome in _BY_OUTCOME}
    if any(one.outcome is Outcome.EMPTY and not one.had_room for one in ended):
        found.add(Advice.TOO_LITTLE_ROOM)
    if any(Flag.DEGENERATE in request["flags"] for request in row["ended"]):
        found.add(Advice.DEGENERATE)
    return found


def _rooms(connection: Connection, row: Mapping[str, Any]) -> dict[int, bool]:
    """Return for each request of a run whether nothing was billed for reasoning."""
    found = connection.execute(
        queries("judge")["select_record"], {"run": row["run_id"], "slot_at": row["slot_at"]}
    ).fetchone()
    if found is None:
        return {}
    requests = stored_requests(found["record"])
    return {
        n: not (request.get("provider_tokens") or {}).get("reasoning")
        for n, request in enumerate(sorted(requests, key=lambda one: one["n"]))
    }
