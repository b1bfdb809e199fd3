"""One run as a JSON document: the record as it was pushed, figures and the slot's facts beside it.
Pure.
"""

from collections.abc import Mapping
from typing import Any

from aggregator.runs import OneRun, Row
from pacewatch.words.flag import Figure
from pacewatch.words.slot import to_rfc3339
from pacewatch.words.wire import encode_run

Document = dict[str, Any]

_BY_TIMELINE = (
    *("connection", "sent_us", "headers_us", "end_us", "stamp", "chunks", "provider_tokens"),
    *("server_timings", "identity", "limits", "finish"),
)
"""Members of a request that go with its timeline: null once that is not kept any more."""


def run_document(found: OneRun) -> Document:
    """Return the document of `/api/runs/{id}`."""
    slot = found.slot
    record = {} if found.record is None else encode_run(found.record)
    return {
        **{name: slot[name] for name in ("endpoint", "region", "workload", "load", "purpose")},
        "run": str(slot["run_id"]),
        "simulated": slot["simulated"],
        "slot_at": to_rfc3339(slot["slot_at"]),
        "valid_until": to_rfc3339(slot["valid_until"]),
        "state": slot["state"],
        "reason": slot["reason"],
        **({"execution": None} if found.won is None else _execution(found.won, record)),
        "requests": [_request(row, _seen(record, row["n"])) for row in found.timings],
        "unrun": [_other(row, "declined") for row in found.unrun],
        "duplicates": [_other(row, "cost_usd") for row in found.duplicates],
    }


def _execution(won: Row, record: Document) -> Document:
    worker = {"id": won["worker"], "version": won["worker_version"], "catalog": None}
    told = ("endpoint_hash", "beside", "cost_usd", "outcome", "flags", "definition")
    return {
        "v": record.get("v"),
        "execution": str(won["execution"]),
        "worker": record.get("worker", worker),
        "started_at": to_rfc3339(won["started_at"]),
        "received_at": to_rfc3339(won["received_at"]),
        **{name: won[name] for name in told},
        "figures": _figures(won),
        "system_tokens_per_s": won["system_tokens_per_s"],
    }


def _seen(record: Document, n: int) -> Document:
    """Return what the record has of the n-th request; nothing where there is no record."""
    return next((one for one in record.get("requests", ()) if one["n"] == n), {})


def _request(row: Row, seen: Document) -> Document:
    fault = {"status": row["fault_status"], "type": row["fault_type"], "retry_after_s": None}
    return {
        "n": row["n"],
        "outcome": row["outcome"],
        "error": seen.get("error", fault if any(fault.values()) else None),
        "flags": row["flags"],
        "tokens": row["tokens"],
        "figures": _figures(row),
        "left_out": row["left_out"],
        **{name: seen.get(name) for name in _BY_TIMELINE},
    }


def _other(row: Row, told: str) -> Document:
    return {
        "execution": str(row["execution"]),
        told: row[told],
        "received_at": to_rfc3339(row["received_at"]),
    }


def _figures(row: Mapping[str, Any]) -> Document:
    return {str(figure): row[figure] for figure in Figure}
