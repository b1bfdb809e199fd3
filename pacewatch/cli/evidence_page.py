"""Evidence as the API tells it, as Markdown, for a ticket or a post-mortem. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pacewatch.words.text import UNKNOWN, plural, seconds_text, speed_text, word_text

Document = Mapping[str, Any]

_FIGURES = (
    ("ttft_s", "First token", seconds_text),
    ("output_tokens_per_s", "Output speed, tokens/s", speed_text),
    ("end_to_end_s", "End to end", seconds_text),
)
_LINKS = (("dns_s", "DNS"), ("connect_s", "TCP"), ("tls_s", "TLS"), ("rtt_s", "Round trip"))

_HOW = (
    "Each request was streamed by a worker in the region named, which read the socket itself.",
    "All times of a request run on one monotonic clock, from the moment when its last byte was"
    " handed to the kernel on a ready connection; setting up the connection is in none of them.",
    "The time to the first token ends with the first piece of generated text, reasoning included.",
    "Output speed is the tokens after the first arrival of text over the time from the first"
    " arrival to the last, counted over the received text with the o200k_base vocabulary.",
    "Prompts differ from the first token on, so no cache can answer them. Nothing is retried.",
    "A median is of runs; behind it stands the interval that holds it with the confidence told,"
    " whatever the distribution. Failed requests have no figures and are counted apart.",
    "Before: the runs of the schedule. Since: those, and the probes that a suspicion ordered.",
)


def page_of(document: Document) -> str:
    """Return the Markdown of a document of evidence."""
    parts = (
        _head(document),
        _incident(document["incident"]),
        _what(document),
        _medians(document["medians"]),
        _outcomes(document["outcomes"]),
        _network(document["network"]),
        _changes(document["changes"]),
        _requests(document),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def safe(value: object) -> str:
    """Return text that is only text in Markdown: no markup, no end of a cell or a line."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(value))
    for letter in ("\\", "|", "`", "*", "[", "]"):
        text = text.replace(letter, f"\\{letter}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(safe(cell) for cell in row)} |"
    yield ""


def _head(document: Document) -> Iterator[str]:
    incident = document["incident"]
    names = [one["endpoint"] for one in document["endpoints"]]
    what = ", ".join(names) if incident is None else f"incident {incident['incident']}"
    yield f"# Evidence: {safe(what)}, {document['since']} to {document['until']}"
    yield ""
    if document["simulated"]:
        yield "**Simulated**: a simulator played the providers; nothing here is of a real one."
        yield ""


def _incident(incident: Document | None) -> Iterator[str]:
    if incident is None:
        return
    yield "## Incident"
    yield ""
    where = f" in {incident['region']}" if incident["region"] else ""
    yield safe(
        f"{word_text(incident['trouble'])}{where}, since {incident['since']}; it looks like: "
        f"{word_text(incident['class'])}; {incident['state']}."
    )
    yield ""
    yield from _table(
        ("Endpoint", "Trouble", "Since", "Times slower", "Interval"),
        [
            (
                one["endpoint"],
                word_text(one["trouble"]),
                one["since"],
                _times(slower.get("times")),
                _between(slower.get("low"), slower.get("high"), _times),
            )
            for one in incident["endpoints"]
            for slower in (one["slower"] or {},)
        ],
    )
    if incident["endpoints_left_out"]:
        yield safe(f"Not told of below: {', '.join(incident['endpoints_left_out'])}.")
        yield ""
    for word, told in (("For it", incident["speaks_for"]), ("Against", incident["speaks_against"])):
        yield from (f"- {word}: {safe(line)}" for line in told)
    yield from (f"- {event['at']} {safe(event['text'])}" for event in incident["timeline"])
    yield ""


def _what(document: Document) -> Iterator[str]:
    yield "## What was measured"
    yield ""
    before = document["before"]
    versions = ", ".join(map(str, document["definitions"])) or "unknown"
    runs = len(document["runs"]) + document["runs_left_out"]
    regions = {one["region"] for one in document["runs"]}
    yield f"{plural(runs, 'run')} from {plural(len(regions), 'region')}, all times UTC."
    yield f"Beside them stands the time from {before['from']} to {before['to']}."
    yield f"Measured by Pacewatch {safe(document['version'])}, definitions version {versions}."
    if len(document["definitions"]) > 1:
        yield "Runs of different definitions are not to be compared with one another."
    yield ""
    yield from _table(
        ("Endpoint", "Model", "Precision", "Host", "Protocol", "Location, account, tier"),
        [
            (
                one["endpoint"],
                one["model"],
                one["precision"],
                one["base_host"],
                one["protocol"],
                ", ".join(one[k] for k in ("location", "account", "tier") if one[k]),
            )
            for one in document["endpoints"]
        ],
    )
    yield from (f"- {line}" for line in _HOW)
    yield ""


def _medians(found: Sequence[Document]) -> Iterator[str]:
    yield "## Medians, before and since"
    yield ""
    for key, name, write in _FIGURES:
        rows = [
            (
                one["endpoint"],
                one["region"] or "all regions",
                f"{one['workload']}, {one['load']}",
                _median(one[key]["before"], write),
                _median(one[key]["since"], write),
            )
            for one in found
        ]
        yield f"### {name}"
        yield ""
        yield from _table(("Endpoint", "Region", "Workload, load", "Before", "Since"), rows)


def _median(one: Document, write: Callable[[float | None], str]) -> str:
    runs = plural(one["runs"], "run")
    if one["median"] is None:
        return f"too few: {runs}" if one["runs"] else UNKNOWN
    if one["interval_percent"] is None:
        return f"{write(one['median'])} ({runs})"
    between = _between(one["low"], one["high"], write)
    return f"{write(one['median'])} ({between} at {one['interval_percent']} %, {runs})"


def _between(low: float | None, high: float | None, write: Callable[[float | None], str]) -> str:
    return "" if low is None or high is None else f"{write(low)}\u2013{write(high)}"


def _times(ratio: float | None) -> str:
    return UNKNOWN if ratio is None else f"{ratio:.1f}"


def _outcomes(found: Sequence[Document]) -> Iterator[str]:
    yield "## How requests ended"
    yield ""
    yield from _table(
        ("Endpoint", "Region", "Outcome", "Status and error", "Before", "Since"),
        [
            (
                one["endpoint"],
                one["region"],
                word_text(one["outcome"]),
                _error(one["error"]),
                one["before"],
                one["since"],
            )
            for one in found
        ],
    )


def _error(error: Document | None) -> str:
    return " ".join(str(error[k]) for k in ("status", "type") if error[k]) if error else ""


def _network(found: Sequence[Document]) -> Iterator[str]:
    if not found:
        return
    yield "## Network, medians of the latest connections before and since"
    yield ""
    yield from _table(
        ("Endpoint", "Region", *(name for _, name in _LINKS), "Retransmissions", "Connections"),
        [
            (
                one["endpoint"],
                one["region"],
                *(
                    _both(seconds_text(one["before"][key]), seconds_text(one["since"][key]))
                    for key, _ in _LINKS
                ),
                _both(*(_known(one[side]["retransmits"]) for side in ("before", "since"))),
                _both(*(str(one[side]["connections"]) for side in ("before", "since"))),
            )
            for one in found
        ],
    )


def _both(before: str, since: str) -> str:
    return f"{before} \u2192 {since}"


def _known(value: object) -> str:
    return UNKNOWN if value is None else str(value)


def _changes(found: Sequence[Document]) -> Iterator[str]:
    if not found:
        return
    yield "## What the provider changed"
    yield ""
    for one in found:
        what = f"{one['endpoint']}: {one['what']} {one['from']} \u2192 {one['to']}"
        yield f"- {one['changed_at']} {safe(what)}"
    yield ""


def _requests(document: Document) -> Iterator[str]:
    yield "## Requests"
    yield ""
    if left := document["runs_left_out"]:
        yield f"The latest {len(document['runs'])} runs; {left:,} earlier ones are not listed."
        yield ""
    names = ("Slot", "Region", "Workload, load, purpose", "n", "Outcome", "First token")
    yield from _table(
        (*names, "Tokens/s", "End to end", "Provider's request id"),
        [
            (
                run["slot_at"],
                run["region"],
                f"{run['workload']}, {run['load']}, {run['purpose']}",
                request["n"],
                f"{word_text(request['outcome'])} {_error(request['error'])}".strip(),
                seconds_text(request["figures"]["ttft_s"]),
                speed_text(request["figures"]["output_tokens_per_s"]),
                seconds_text(request["figures"]["end_to_end_s"]),
                request["request_id"] or UNKNOWN,
            )
            for run in document["runs"]
            for request in run["requests"]
        ],
    )
