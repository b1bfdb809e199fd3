"""Each outcome that a request can have, by something that really happened on a socket.

The simulator plays the providers, in every protocol, and behind doors that cannot be passed. All of
it is probed by one worker, whose memory is watched.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from support.broker import embedded_broker
from support.chosen import chosen_ids
from support.probed import Job, Told, Watched, watch_jobs
from support.probing import probe_once
from support.servers import short_folder
from support.simulator import RunningSimulator, make_endpoint, running_simulator
from support.tls import Authority

from pacewatch.sim.door import Door
from pacewatch.sim.faults import FaultKind, How
from pacewatch.words.endpoint import Endpoint, Limits, Protocol
from pacewatch.words.fleet import Region, base_url_in
from pacewatch.words.outcome import Outcome
from probe.seen import MAX_CHUNKS, MAX_RUN_CHUNKS

REGION = "eu-west"
PATIENT = Limits(connect_s=30, first_token_s=60, stall_s=60, total_s=120)
"""Limits that nothing meets which is not meant to, on whatever host."""
HASTY = replace(PATIENT, first_token_s=1.5)
MAX_PSS_BYTES = 200 * 1024 * 1024

SPEAKERS = {
    Protocol.OPENAI_CHAT: ("zai", "https://api.z.ai/api/paas/v4"),
    Protocol.OPENAI_RESPONSES: ("openai", "https://api.openai.com/v1"),
    Protocol.ANTHROPIC: ("anthropic", "https://api.anthropic.com/v1"),
    Protocol.GEMINI: ("google", "https://generativelanguage.googleapis.com/v1beta"),
    Protocol.BEDROCK: ("bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com"),
}
"""A provider of each protocol."""
MUCH_WORK = {How.LONG_LINE, How.ENDLESS, How.ENDLESS_NOTHING, How.BOMB}
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
    door: str = REGION
    """The region whose address is asked, with the way in that this has."""

    def name(self, protocol: Protocol) -> str:
        words = [str(self.kind or "none"), *(str(value) for value in self.options.values())]
        words += [] if self.door == REGION else [self.door]
        return "-".join([*words, str(self.requests), str(protocol)]).replace(".", "-")


def fails(status: int, outcome: Outcome) -> Way:
    return Way(kind=FaultKind.FAIL, options={"status": status}, outcome=outcome)


def breaks(how: How, outcome: Outcome = Outcome.MALFORMED, **more: Any) -> Way:
    return Way(kind=FaultKind.BROKEN, options={"how": str(how)}, outcome=outcome, **more)


def behind(door: str, outcome: Outcome, **more: Any) -> Way:
    return Way(kind=None, outcome=outcome, door=door, protocols=FRAMINGS[:1], **more)


def troubled(why: str) -> Way:
    return Way(kind=FaultKind.STREAM_ERROR, options={"why": why}, outcome=Outcome.STREAM_ERROR)


WAYS = (
    Way(kind=None, outcome=Outcome.OK),
    Way(kind=None, outcome=Outcome.OK, requests=10, protocols=FRAMINGS),
    Way(kind=FaultKind.CACHE, outcome=Outcome.OK),
    Way(kind=FaultKind.CHANGE, outcome=Outcome.OK),
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
    behind("no-name", Outcome.DNS),
    behind("refused", Outcome.CONNECT),
    behind("refused", Outcome.CONNECT, requests=10),
    behind("self-signed", Outcome.TLS),
    behind("unknown-authority", Outcome.TLS),
    behind("expired", Outcome.TLS),
    behind("wrong-name", Outcome.TLS),
    breaks(How.HTTP2, protocols=FRAMINGS[:1], door="http2-alone"),
    behind("good-tls", Outcome.OK),
    behind("good-tls", Outcome.OK, requests=10),
)
CASES = {way.name(protocol): (way, protocol) for way in WAYS for protocol in way.protocols}
NO_NAME = "https://nowhere.invalid"


def doors_of(folder: Path) -> dict[str, Door]:
    """Ways into the simulator, by the regions that they are the addresses of."""
    known, other = Authority(folder), Authority(folder / "other")
    here = known.certificate("localhost")
    return {
        "refused": Door(),
        "self-signed": Door(certificate=known.certificate_by_itself("localhost")),
        "unknown-authority": Door(certificate=other.certificate("localhost")),
        "expired": Door(certificate=known.certificate("localhost", is_expired=True)),
        "wrong-name": Door(certificate=known.certificate("elsewhere.test")),
        "http2-alone": Door(certificate=here, protocols=("h2",)),
        "good-tls": Door(certificate=here),
    }


def endpoint_of(way: Way, protocol: Protocol) -> Endpoint:
    provider, base_url = SPEAKERS[protocol]
    return make_endpoint(
        f"{provider}/{way.name(protocol)}",
        base_url=base_url,
        protocol=protocol,
        tokens_per_s=400.0,
    )


def jobs_of(simulator: RunningSimulator, endpoints: dict[str, Endpoint]) -> list[Job]:
    urls = {"no-name": NO_NAME, **simulator.address.regions}
    chosen = {name: CASES[name] for name in endpoints}
    for name, (way, _) in chosen.items():
        if way.kind is not None:
            simulator.switch_on(str(way.kind), endpoints[name].id, **way.options)
    return [
        Job(
            name=name,
            base_url=base_url_in(
                endpoints[name], Region(name=way.door, simulator_url=urls[way.door])
            ),
            protocol=protocol,
            limits=way.limits,
            requests=way.requests,
            output_tokens=way.output_tokens,
            alone=way.requests > 1 or way.options.get("how") in MUCH_WORK,
        )
        for name, (way, protocol) in chosen.items()
    ]


@pytest.fixture(scope="module")
def watched(request) -> Watched:
    chosen = chosen_ids(request) & CASES.keys()
    endpoints = {name: endpoint_of(*CASES[name]) for name in chosen or CASES}
    with (
        short_folder() as folder,
        embedded_broker() as broker,
        running_simulator(
            *endpoints.values(), regions=(REGION,), doors=doors_of(folder / "tls")
        ) as simulator,
    ):
        jobs = jobs_of(simulator, endpoints)
        ca_file = str(folder / "tls" / "ca.pem")
        return watch_jobs(jobs, folder, broker=broker, ca_file=ca_file, timeout_s=300)


def told_of(watched: Watched, name: str) -> Told:
    assert name in watched.told, f"nothing was told of it, the last: {list(watched.told)[-1:]}"
    return watched.told[name]


@pytest.mark.parametrize("name", CASES)
def test_what_a_provider_does_has_its_outcome(watched, name):
    way, _ = CASES[name]

    told = told_of(watched, name)

    assert told.outcomes == (way.outcome,) * way.requests, told


@pytest.mark.parametrize(
    "region",
    [
        Region(name=REGION, ca_file="/nowhere/ca.pem"),
        Region(name=REGION, proxy_url="http://127.0.0.1:1"),
    ],
    ids=["an authority's file that is not there", "a proxy that is not there"],
)
def test_what_is_wrong_with_the_region_is_our_own_fault(region):
    timing = probe_once("https://localhost:1/v1", region=region)

    assert timing.outcome is Outcome.INTERNAL


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
    assert {way.outcome for way in WAYS} == set(Outcome) - {Outcome.INTERNAL}


def test_every_fault_of_the_simulator_has_its_outcome():
    assert {way.kind for way in WAYS} - {None} == set(FaultKind)
    assert {way.options.get("how") for way in WAYS} - {None} == {str(how) for how in How}


def test_a_worker_and_its_reader_stay_small_through_all_of_it(watched, record_testsuite_property):
    record_testsuite_property("peak_pss_mb", round(watched.peak_bytes / 2**20, 1))

    assert 0 < watched.peak_bytes < MAX_PSS_BYTES, watched.peak_in
