"""Evidence as a JSON document, to be attached to a ticket. Pure; it names what it tells, field by
field, so nothing else that the store may hold can get into it.
"""

from collections.abc import Iterable, Mapping, Sequence

from aggregator.api.documents import change_document
from aggregator.api.evidence_types import (
    BundleDocument,
    EvidenceEndpointDocument,
    EvidenceIncidentDocument,
    EvidenceRequestDocument,
    EvidenceRunDocument,
    LinksDocument,
    MedianDocument,
    MediansDocument,
    NetworkDocument,
    OutcomesDocument,
    TwoMediansDocument,
)
from aggregator.api.judgement_documents import whole_document
from aggregator.api.request_documents import (
    ConnectionDocument,
    FaultDocument,
    ServerTimesDocument,
    figures_document,
)
from aggregator.bundle import MOST_ENDPOINTS, Bundle, Compared, Row
from aggregator.incident_views import WholeIncident
from aggregator.rows import EndpointRow
from aggregator.statistic import Statistic
from pacewatch import __version__
from pacewatch.words.figures import percentile
from pacewatch.words.flag import Figure
from pacewatch.words.slot import to_rfc3339


def bundle_document(
    bundle: Bundle, incident: WholeIncident | None, *, simulated: bool
) -> BundleDocument:
    """Return the document of evidence, but for its moment."""
    asked = bundle.asked
    return {
        "version": __version__,
        "simulated": simulated,
        "since": to_rfc3339(asked.since),
        "until": to_rfc3339(asked.until),
        "before": {"from": to_rfc3339(asked.begin), "to": to_rfc3339(asked.since)},
        "definitions": list(bundle.definitions),
        "incident": None if incident is None else _incident(incident),
        "endpoints": [_endpoint(facts) for facts in bundle.facts],
        "medians": [_compared(one) for one in bundle.compared],
        "outcomes": [_outcome(row) for row in bundle.outcomes],
        "network": _network(bundle),
        "changes": [change_document(change) for change in bundle.changes],
        "runs": [_run(row, bundle.seen.get(row["run_id"], {})) for row in bundle.runs],
        "runs_left_out": bundle.left_out,
    }


def _incident(found: WholeIncident) -> EvidenceIncidentDocument:
    left_out = found.incident.endpoints[MOST_ENDPOINTS:]
    return {**whole_document(found), "endpoints_left_out": list(left_out)}


def _endpoint(facts: EndpointRow) -> EvidenceEndpointDocument:
    return {
        "endpoint": facts.endpoint,
        "provider": facts.provider,
        "provider_name": facts.provider_name,
        "model": facts.model,
        "precision": facts.precision,
        "protocol": facts.protocol,
        "base_host": facts.base_host,
        "location": facts.location,
        "account": facts.account,
        "tier": facts.tier,
    }


def _compared(one: Compared) -> MediansDocument:
    return {
        "endpoint": one.endpoint,
        "region": one.region or None,
        "workload": one.workload,
        "load": one.load,
        "ttft_s": _both(one, Figure.TTFT),
        "answer_s": _both(one, Figure.ANSWER),
        "output_tokens_per_s": _both(one, Figure.SPEED),
        "end_to_end_s": _both(one, Figure.END_TO_END),
        "stall_s": _both(one, Figure.STALL),
    }


def _both(one: Compared, figure: Figure) -> TwoMediansDocument:
    return {"before": _median(one.before[figure]), "since": _median(one.since[figure])}


def _median(found: Statistic) -> MedianDocument:
    return {
        "runs": found.runs,
        "median": found.median,
        "low": found.low,
        "high": found.high,
        "interval_percent": found.interval_percent,
    }


def _outcome(row: Row) -> OutcomesDocument:
    return {
        "endpoint": row["endpoint"],
        "region": row["region"],
        "outcome": row["outcome"],
        "before": row["before"],
        "since": row["since"],
        "error": _fault(row),
    }


def _fault(row: Row) -> FaultDocument | None:
    fault: FaultDocument = {"status": row["fault_status"], "type": row["fault_type"]}
    return fault if any(fault.values()) else None


def _network(bundle: Bundle) -> list[NetworkDocument]:
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


def _links(found: Sequence[Row]) -> LinksDocument:
    rtt_us = ((one.get("rtt_us") or [None, None])[1] for one in found)
    retransmits = [one["retransmits"] for one in found if one.get("retransmits") is not None]
    return {
        "connections": len(found),
        "dns_s": _median_s(one.get("dns_us") for one in found),
        "connect_s": _median_s(one.get("connect_us") for one in found),
        "tls_s": _median_s(one.get("tls_us") for one in found),
        "rtt_s": _median_s(rtt_us),
        "retransmits": sum(retransmits) if retransmits else None,
    }


def _median_s(values: Iterable[int | None]) -> float | None:
    found = percentile((us for us in values if us is not None), 0.5)
    return None if found is None else found / 1e6


def _run(row: Row, seen: Mapping[int, Row]) -> EvidenceRunDocument:
    return {
        "run": str(row["run_id"]),
        "slot_at": to_rfc3339(row["slot_at"]),
        "endpoint": row["endpoint"],
        "region": row["region"],
        "workload": row["workload"],
        "load": row["load"],
        "purpose": row["purpose"],
        "outcome": row["outcome"],
        "flags": row["flags"],
        "definition": row["definition"],
        "in_medians": row["counts"],
        "worker_version": row["worker_version"],
        "requests": [_request(timing, seen.get(timing["n"], {})) for timing in row["timings"]],
    }


def _request(timing: Row, seen: Row) -> EvidenceRequestDocument:
    identity = seen.get("identity") or {}
    return {
        "n": timing["n"],
        "outcome": timing["outcome"],
        "error": _fault(timing),
        "flags": timing["flags"],
        "figures": figures_document(timing),
        "tokens": timing["tokens"],
        "request_id": identity.get("request_id"),
        "model": identity.get("model"),
        "fingerprint": identity.get("fingerprint"),
        "tier": identity.get("tier"),
        "finish": seen.get("finish"),
        "connection": _connection(seen.get("connection") or {}),
        "server_timings": _server_timings(seen.get("server_timings") or {}),
    }


def _connection(seen: Row) -> ConnectionDocument:
    return {
        "reused": seen.get("reused"),
        "dns_us": seen.get("dns_us"),
        "connect_us": seen.get("connect_us"),
        "tls_us": seen.get("tls_us"),
        "via_proxy": seen.get("via_proxy"),
        "http": seen.get("http"),
        "rtt_us": seen.get("rtt_us"),
        "retransmits": seen.get("retransmits"),
    }


def _server_timings(seen: Row) -> ServerTimesDocument:
    return {
        "queue_s": seen.get("queue_s"),
        "prompt_s": seen.get("prompt_s"),
        "completion_s": seen.get("completion_s"),
        "total_s": seen.get("total_s"),
        "ttft_s": seen.get("ttft_s"),
        "tokens_per_s": seen.get("tokens_per_s"),
    }
