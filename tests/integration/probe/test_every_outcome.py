"""Each outcome that a request can have, by something that really happened on a socket.

The simulator plays the providers, in every protocol; what lies before the first byte of HTTP is
played by sockets and certificates of the tests. All of it is probed in one process, whose memory
is watched.
"""

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from support.answers import good_case, raw
from support.probed import Job, Told, Watched, watch_jobs
from support.replay import replay
from support.simulator import RunningSimulator, make_endpoint, running_simulator
from support.tls import Authority

from pacewatch.sim.faults import FaultKind, How
from pacewatch.words.endpoint import Endpoint, Limits, Protocol
from pacewatch.words.fleet import Region
from pacewatch.words.outcome import Outcome
from probe.seen import MAX_CHUNKS, MAX_RUN_CHUNKS

REGION = "eu-west"
PATIENT = Limits(connect_s=30, first_token_s=60, stall_s=60, total_s=120)
"""Limits that nothing meets which is not meant to, on whatever host."""
HASTY = replace(PATIENT, first_token_s=1.5)
MAX_PSS_BYTES = 200 * 1024 * 1024
SETTINGS_OF_HTTP2 = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"

SPEAKERS = {
    Protocol.OPENAI_CHAT: ("zai", "https://api.z.ai/api/paas/v4"),
    Protocol.OPENAI_RESPONSES: ("openai", "https://api.openai.com/v1"),
    Protocol.ANTHROPIC: ("anthropic", "https://api.anthropic.com/v1"),
    Protocol.GEMINI: ("google", "https://generativelanguage.googleapis.com/v1beta"),
    Protocol.BEDROCK: ("bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com"),
}
"""A provider of each protocol."""
MUCH_WORK = {How.TRICKLE, How.LONG_LINE, How.ENDLESS, How.ENDLESS_NOTHING, How.BOMB}
FRAMINGS = (Protocol.OPENAI_CHAT, Protocol.BEDROCK)
"""A protocol of each way to frame a stream."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """A fault of the simulator, and the outcome that it has."""

    kind: FaultKind | None
    outcome: Outcome
    options: dict[str, Any] = field(default_factory=dict)
    limits: Limits = PATIENT
    protocols: tuple[Protocol, ...] = tuple(Protocol)
    requests: int = 1
    output_tokens: int = 40

    def name(self, protocol: Protocol) -> str:
        words = [str(self.kind or "none"), *(str(value) for value in self.options.values())]
        return "-".join([*words, str(self.requests), str(protocol)]).replace(".", "-")


def fails(status: int, outcome: Outcome) -> Way:
    return Way(kind=FaultKind.FAIL, options={"status": status}, outcome=outcome)


def breaks(how: How, outcome: Outcome = Outcome.MALFORMED, **more: Any) -> Way:
    return Way(kind=FaultKind.BROKEN, options={"how": str(how)}, outcome=outcome, **more)


def troubled(why: str) -> Way:
    return Way(kind=FaultKind.STREAM_ERROR, options={"why": why}, outcome=Outcome.STREAM_ERROR)


WAYS = (
    Way(kind=None, outcome=Outcome.OK),
    Way(kind=None, outcome=Outcome.OK, requests=10, protocols=FRAMINGS),
    Way(kind=FaultKind.CACHE, outcome=Outcome.OK),
    breaks(How.TRICKLE, Outcome.OK),
    Way(kind=FaultKind.RATE_LIMIT, outcome=Outcome.RATE_LIMITED),
    fails(429, Outcome.RATE_LIMITED),
    fails(503, Outcome.OVERLOADED),
    fails(529, Outcome.OVERLOADED),
    Way(kind=FaultKind.AUTH, outcome=Outcome.AUTH),
    fails(401, Outcome.AUTH),
    fails(403, Outcome.AUTH),
    Way(kind=FaultKind.PAYMENT, outcome=Outcome.PAYMENT),
    fails(402, Outcome.PAYMENT),
    Way(kind=FaultKind.FILTER, outcome=Outcome.FILTERED),
    Way(kind=FaultKind.NOT_SERVED, outcome=Outcome.NOT_SERVED),
    Way(kind=FaultKind.RETIRED, outcome=Outcome.NOT_SERVED),
    fails(307, Outcome.REJECTED),
    fails(400, Outcome.REJECTED),
    fails(413, Outcome.REJECTED),
    fails(500, Outcome.SERVER_ERROR),
    fails(502, Outcome.SERVER_ERROR),
    breaks(How.SILENT, Outcome.TIMEOUT_FIRST_TOKEN, limits=HASTY, protocols=FRAMINGS),
    breaks(How.SLOW_HEAD, Outcome.TIMEOUT_FIRST_TOKEN, limits=HASTY, protocols=FRAMINGS),
    breaks(How.KEEP_ALIVE, Outcome.TIMEOUT_FIRST_TOKEN, limits=HASTY, protocols=FRAMINGS),
    Way(
        kind=FaultKind.STALL,
        outcome=Outcome.TIMEOUT_STALL,
        limits=replace(PATIENT, stall_s=0.7),
    ),
    Way(
        kind=FaultKind.SLOW,
        options={"factor": 0.05},
        outcome=Outcome.TIMEOUT_TOTAL,
        limits=replace(PATIENT, total_s=2.0),
        protocols=FRAMINGS,
        output_tokens=150,
    ),
    Way(kind=FaultKind.DISCONNECT, outcome=Outcome.DISCONNECTED),
    breaks(How.RESET, Outcome.DISCONNECTED),
    breaks(How.CLEAN_CLOSE, Outcome.DISCONNECTED),
    troubled("overloaded"),
    troubled("rate-limit"),
    troubled("server"),
    Way(kind=FaultKind.EMPTY, outcome=Outcome.EMPTY),
    breaks(How.GARBAGE),
    breaks(How.HTML, protocols=FRAMINGS),
    breaks(How.HTTP2, protocols=FRAMINGS),
    breaks(How.ENDLESS_HEAD, protocols=FRAMINGS),
    breaks(How.LONG_LINE, protocols=FRAMINGS),
    breaks(How.ENDLESS, protocols=FRAMINGS[:1]),
    breaks(How.ENDLESS_NOTHING, protocols=FRAMINGS),
    breaks(How.BOMB, protocols=FRAMINGS),
    breaks(How.LONG_LINE, protocols=FRAMINGS, requests=10),
    breaks(How.ENDLESS, protocols=FRAMINGS[:1], requests=10),
    breaks(How.BOMB, protocols=FRAMINGS[:1], requests=10),
)
CASES = {way.name(protocol): (way, protocol) for way in WAYS for protocol in way.protocols}

BEFORE_HTTP = {
    "a name that is none": Outcome.DNS,
    "a refused connection": Outcome.CONNECT,
    "a certificate signed by itself": Outcome.TLS,
    "a certificate of an unknown authority": Outcome.TLS,
    "an expired certificate": Outcome.TLS,
    "a certificate for another name": Outcome.TLS,
    "HTTP/2 alone, over TLS": Outcome.MALFORMED,
    "good TLS": Outcome.OK,
    "an authority's file that is not there": Outcome.INTERNAL,
    "a proxy that is not there": Outcome.INTERNAL,
}


def endpoint_of(way: Way, protocol: Protocol) -> Endpoint:
    provider, base_url = SPEAKERS[protocol]
    return make_endpoint(
        f"{provider}/{way.name(protocol)}",
        base_url=base_url,
        protocol=protocol,
        tokens_per_s=400.0,
        limits=way.limits,
    )


@contextlib.contextmanager
def jobs_before_http(folder: Any) -> Iterator[list[Job]]:
    """What goes wrong before a byte of HTTP, on sockets that are open meanwhile."""
    good, other = Authority(folder / "good"), Authority(folder / "other")
    with contextlib.ExitStack() as stack:

        def served(player: Any, tls: Any = None) -> str:
            return f"{stack.enter_context(replay(player, tls=tls)).url}/v1"

        with socket.create_server(("127.0.0.1", 0)) as taken:
            refused = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        http2 = good.serving("localhost")
        http2.set_alpn_protocols(["h2"])
        known, here = Region(name=REGION, ca_file=good.ca_file), Region(name=REGION)
        nowhere = Region(name=REGION, ca_file=str(folder / "none.pem"))
        away = Region(name=REGION, proxy_url=refused.removesuffix("/v1"))
        addresses = {
            "a name that is none": ("https://nowhere.invalid/v1", here),
            "a refused connection": (refused, here),
            "a certificate signed by itself": (
                served(good_case(), good.serving_by_itself("localhost")),
                known,
            ),
            "a certificate of an unknown authority": (
                served(good_case(), other.serving("localhost")),
                known,
            ),
            "an expired certificate": (
                served(good_case(), good.serving("localhost", is_expired=True)),
                known,
            ),
            "a certificate for another name": (
                served(good_case(), good.serving("elsewhere.test")),
                known,
            ),
            "HTTP/2 alone, over TLS": (served(raw(SETTINGS_OF_HTTP2), http2), known),
            "good TLS": (served(good_case(), good.serving("localhost")), known),
            "an authority's file that is not there": ("https://localhost:1/v1", nowhere),
            "a proxy that is not there": ("http://api.test/v1", away),
        }
        yield [
            Job(
                name=name,
                endpoint=make_endpoint("own/m", base_url=url, limits=PATIENT),
                region=region,
            )
            for name, (url, region) in addresses.items()
        ]


def jobs_of(simulator: RunningSimulator, endpoints: dict[str, Endpoint]) -> list[Job]:
    for name, (way, _) in CASES.items():
        if way.kind is not None:
            simulator.switch_on(str(way.kind), endpoints[name].id, **way.options)
    return [
        Job(
            name=name,
            endpoint=endpoints[name],
            region=simulator.region(REGION),
            requests=way.requests,
            output_tokens=way.output_tokens,
            alone=way.requests > 1 or way.options.get("how") in MUCH_WORK,
        )
        for name, (way, _) in CASES.items()
    ]


@pytest.fixture(scope="module")
def watched(tmp_path_factory) -> Watched:
    folder = tmp_path_factory.mktemp("tls")
    endpoints = {name: endpoint_of(way, protocol) for name, (way, protocol) in CASES.items()}
    with (
        running_simulator(*endpoints.values(), regions=(REGION,)) as simulator,
        jobs_before_http(folder) as others,
    ):
        return watch_jobs([*others, *jobs_of(simulator, endpoints)], timeout_s=900)


def told_of(watched: Watched, name: str) -> Told:
    assert name in watched.told, f"nothing was told of it, the last: {list(watched.told)[-1:]}"
    return watched.told[name]


@pytest.mark.parametrize("name", CASES)
def test_what_a_provider_does_has_its_outcome(watched, name):
    way, _ = CASES[name]

    told = told_of(watched, name)

    assert told.outcomes == (way.outcome,) * way.requests, told


@pytest.mark.parametrize("name", BEFORE_HTTP)
def test_what_happens_before_http_has_its_outcome(watched, name):
    told = told_of(watched, name)

    assert told.outcomes == (BEFORE_HTTP[name],), told


@pytest.mark.parametrize(
    ("name", "bound", "tokens"),
    [
        ("broken-long-line-1-openai-chat", "line_too_long", 0),
        ("broken-long-line-1-bedrock-converse", "message_too_long", 0),
        ("broken-endless-1-openai-chat", "endless", MAX_CHUNKS),
        ("broken-endless-10-openai-chat", "endless", MAX_RUN_CHUNKS),
        ("broken-endless-nothing-1-openai-chat", "endless", 0),
        ("broken-endless-nothing-1-bedrock-converse", "endless", 0),
        ("broken-bomb-1-openai-chat", "endless", 0),
        ("broken-endless-head-1-openai-chat", "bad_http", 0),
    ],
)
def test_a_bound_ends_what_has_no_end(watched, name, bound, tokens):
    told = told_of(watched, name)

    assert set(told.faults) == {bound}
    assert tokens <= told.tokens <= tokens * 1.01


def test_every_outcome_is_produced():
    assert {way.outcome for way in WAYS} | set(BEFORE_HTTP.values()) == set(Outcome)


def test_every_fault_of_the_simulator_has_its_outcome():
    assert {way.kind for way in WAYS} - {None} == set(FaultKind)
    assert {way.options.get("how") for way in WAYS} - {None} == {str(how) for how in How}


def test_memory_stays_small_through_all_of_it(watched, record_testsuite_property):
    record_testsuite_property("peak_pss_mb", round(watched.peak_bytes / 2**20, 1))

    assert 0 < watched.peak_bytes < MAX_PSS_BYTES, watched.peak_in
