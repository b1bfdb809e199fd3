"""What a worker saw of one request, as JSON documents tell it of a run and as evidence. Pure."""

from collections.abc import Mapping
from typing import Annotated, Any

from typing_extensions import TypedDict

from aggregator.api.described import told
from aggregator.api.figure_documents import ANSWER, END_TO_END, SPEED, STALL, TTFT
from pacewatch.words.flag import Figure


class FiguresDocument(TypedDict):
    """Figures of a request, or a run's own medians over its requests."""

    ttft_s: Annotated[float | None, told(TTFT)]
    answer_s: Annotated[float | None, told(ANSWER)]
    output_tokens_per_s: Annotated[float | None, told(SPEED)]
    end_to_end_s: Annotated[float | None, told(END_TO_END)]
    stall_s: Annotated[float | None, told(STALL)]


class FaultDocument(TypedDict):
    """What a provider said of its own failure."""

    status: Annotated[int | None, told("of HTTP")]
    type: Annotated[str | None, told("the provider's own word")]


class ConnectionDocument(TypedDict):
    """How a request's connection came about."""

    reused: Annotated[bool | None, told("whether it had served another request")]
    dns_us: Annotated[int | None, told("time to resolve the host's name, us")]
    connect_us: Annotated[int | None, told("time to connect, us")]
    tls_us: Annotated[int | None, told("time of the TLS handshake, us")]
    via_proxy: Annotated[bool | None, told("whether a proxy stood between")]
    http: Annotated[str | None, told("version of HTTP")]
    rtt_us: Annotated[
        list[int | None] | None, told("the kernel's round-trip time before and after, us")
    ]
    retransmits: Annotated[int | None, told("segments that were sent again")]


class ServerTimesDocument(TypedDict):
    """The provider's own timings."""

    queue_s: Annotated[float | None, told("waiting, s")]
    prompt_s: Annotated[float | None, told("reading the prompt, s")]
    completion_s: Annotated[float | None, told("writing the answer, s")]
    total_s: Annotated[float | None, told("in all, s")]
    ttft_s: Annotated[float | None, told("to the first token, s")]
    tokens_per_s: Annotated[float | None, told("as the provider counts, tokens/s")]


def figures_document(row: Mapping[str, Any]) -> FiguresDocument:
    """Return the figures of a row of the store."""
    return {
        "ttft_s": row[Figure.TTFT],
        "answer_s": row[Figure.ANSWER],
        "output_tokens_per_s": row[Figure.SPEED],
        "end_to_end_s": row[Figure.END_TO_END],
        "stall_s": row[Figure.STALL],
    }
