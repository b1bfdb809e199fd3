"""Evidence as a JSON document, to be attached to a ticket. Pure; it names what it tells, field by
field, so nothing else that the store may hold can get into it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aggregator.api.documents import change_document
from aggregator.api.judgement_documents import whole_document
from aggregator.bundle import MOST_ENDPOINTS, Bundle, Compared, Row
from aggregator.incident_views import WholeIncident
from aggregator.rows import EndpointRow
from aggregator.statistic import Statistic
from pacewatch import __version__
from pacewatch.words.figures import percentile
from pacewatch.words.flag import Figure
from pacewatch.words.slot import to_rfc3339

Document = dict[str, Any]

_NETWORK = ("dns_us", "connect_us", "tls_us")
_IDENTITY = ("request_id", "model", "fingerprint", "tier")
_CONNECTION = (
    "reused",
    "dns_us",
    "connect_us",
    "tls_us",
    "via_proxy",
    "http",
    "rtt_us",
    "retransmits",
)
_TIMES = ("queue_s", "prompt_s", "completion_s", "total_s", "ttft_s", "tokens_per_s")


def bundle_document(bundle: Bundle, incident: WholeIncident | None, *, simulated: bool) -> Document:
    """Return the document of evidence, but for its moment."""
    asked = bundle.asked
    return {
        "version": __version__,
        "simulated": simulated,
        "since": to_rfc3339(asked.since),
        "until": to_rfc3339(asked.until),
        "before": {"from": to_rfc3339(asked.begin), "to": to_rfc3339(asked.since)},
        "definitions": sorted({row["definition"] for row in bundle.runs}),
        "incident": None if incident is None else _incident(incident),
        "endpoints": [_endpoint(facts) for facts in bundle.facts],
        "medians": [_compared(one) for one in bundle.compared],
        "outcomes": [_outcome(row) for row in bundle.outcomes],
        "network": _network(bundle),
        "changes": [change_document(change) for change in bundle.changes],
        "runs": [_run(row, bundle.seen.get(row["run_id"], {})) for row in bundle.runs],
        "runs_left_out": bundle.left_out,
    }


def _incident(found: WholeIncident) -> Document:
    left_out = found.incident.endpoints[MOST_ENDPOINTS:]
    return {**whole_document(found), "endpoints_left_out": list(left_out)}


def _endpoint(facts: EndpointRow) -> Document:
    names = ("endpoint", "provider", "provider_name", "model", "precision", "protocol", "base_host")
    return {name: getattr(facts, name) for name in (*names, "location", "account", "tier")}


def _compared(one: Compared) -> Document:
    return {
        "endpoint": one.endpoint,
        "region": one.region or None,
        "workload": one.workload,
        "load": one.load,
        **{
            str(figure): {
                "before": _statistic(one.before[figure]),
                "since": _statistic(one.since[figure]),
            }
            for figure in Figure
        },
    }


def _statistic(found: Statistic) -> Document:
    names = ("runs", "median", "low", "high", "interval_percent")
    return {name: getattr(found, name) for name in names}


def _outcome(row: Row) -> Document:
    names = ("endpoint", "region", "outcome", "before", "since")
    fault = {"status": row["fault_status"], "type": row["fault_type"]}
    return {**{name: row[name] for name in names}, "error": fault if any(fault.values()) else None}


def _network(bundle: Bundle) -> list[Document]:
    """Return the medians of each region's network times, of the latest runs on either side."""
    places: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for word, rows in (("before", bundle.before), ("since", bundle.runs)):
        for row in rows:
            place = places.setdefault((row["endpoint"], row["region"]), {"before": [], "since": []})
            place[word] += [
                one["connection"]
                for one in bundle.seen.get(row["run_id"], {}).values()
                if one.get("connection")
            ]
    return [
        {
            "endpoint": endpoint,
            "region": region,
            "before": _links(its["before"]),
            "since": _links(its["since"]),
        }
        for (endpoint, region), its in sorted(places.items())
        if its["before"] or its["since"]
    ]


def _links(found: Sequence[Row]) -> Document:
    medians = {
        name.replace("_us", "_s"): _median_s(one.get(name) for one in found) for name in _NETWORK
    }
    rtt_us = ((one.get("rtt_us") or [None, None])[1] for one in found)
    retransmits = [one["retransmits"] for one in found if one.get("retransmits") is not None]
    return {
        "connections": len(found),
        **medians,
        "rtt_s": _median_s(rtt_us),
        "retransmits": sum(retransmits) if retransmits else None,
    }


def _median_s(values: Iterable[int | None]) -> float | None:
    found = percentile((us for us in values if us is not None), 0.5)
    return None if found is None else found / 1e6


def _run(row: Row, seen: Mapping[int, Row]) -> Document:
    names = ("endpoint", "region", "workload", "load", "purpose", "outcome", "flags", "definition")
    return {
        "run": str(row["run_id"]),
        "slot_at": to_rfc3339(row["slot_at"]),
        **{name: row[name] for name in names},
        "in_medians": row["counts"],
        "worker_version": row["worker_version"],
        "requests": [_request(timing, seen.get(timing["n"], {})) for timing in row["timings"]],
    }


def _request(timing: Row, seen: Row) -> Document:
    fault = {"status": timing["fault_status"], "type": timing["fault_type"]}
    return {
        "n": timing["n"],
        "outcome": timing["outcome"],
        "error": fault if any(fault.values()) else None,
        "flags": timing["flags"],
        "figures": {str(figure): timing[figure] for figure in Figure},
        "tokens": timing["tokens"],
        **_named(seen.get("identity"), _IDENTITY),
        "finish": seen.get("finish"),
        "connection": _named(seen.get("connection"), _CONNECTION),
        "server_timings": _named(seen.get("server_timings"), _TIMES),
    }


def _named(told: Row | None, names: Sequence[str]) -> Document:
    return {name: (told or {}).get(name) for name in names}
