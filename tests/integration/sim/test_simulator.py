import contextlib
import http.client
import json
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.asking import Heard, ask
from support.simulator import (
    RunningSimulator,
    make_anthropic_endpoint,
    make_endpoint,
    running_simulator,
)

from pacewatch.blanks import simulate
from pacewatch.catalog import read_catalog
from pacewatch.sim.route import serve_endpoints
from pacewatch.words.endpoint import Auth, Endpoint, Protocol

CATALOG = tuple(simulate(endpoint) for endpoint in read_catalog().endpoints.values())
QUICK = make_endpoint("groq/quick", tokens_per_s=400.0)
SLOW = make_endpoint("groq/slow", tokens_per_s=40.0)
KEYED = make_endpoint("groq/keyed", auth=Auth.BEARER, tokens_per_s=400.0)
CLAUDE = make_anthropic_endpoint()
CEREBRAS = make_endpoint(
    "cerebras/fast", base_url="https://api.cerebras.ai/v1", tokens_per_s=1753.0
)
OURS = (QUICK, SLOW, KEYED, CLAUDE, CEREBRAS)
CHAT = "/groq/openai/v1/chat/completions"


@pytest.fixture(scope="module")
def served() -> Iterator[RunningSimulator]:
    with running_simulator(*CATALOG, *OURS, regions=("eu-west", "us-east")) as simulator:
        yield simulator


@pytest.fixture
def simulator(served: RunningSimulator) -> Iterator[RunningSimulator]:
    yield served
    served.clear()


def ask_for(
    simulator: RunningSimulator, endpoint: Endpoint, region: str = "eu-west", **more: Any
) -> Heard:
    path = next(iter(serve_endpoints([endpoint]))).path
    return ask(simulator.address.regions[region] + path, endpoint.provider_model, **more)


def count_tokens(text: str) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it reads its data the old way
        import bpe_openai

        return len(bpe_openai.get_encoding("o200k_base").encode_ordinary(text))


def output_tokens_per_s(heard: Heard) -> float:
    (first_s, first), *_, (last_s, _) = heard.pieces()
    return (count_tokens(heard.text()) - count_tokens(first)) / (last_s - first_s)


def faults_met(simulator: RunningSimulator, prefix: str) -> list[list[str]]:
    """Return the faults that requests with such ids met, by id."""
    ended = {line["x-request-id"]: line["faults"] for line in simulator.answers()}
    return [faults for name, faults in sorted(ended.items()) if name.startswith(prefix)]


def until(is_so: Callable[[], bool], what: str, timeout_s: float = 20) -> None:
    end = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def test_every_endpoint_of_the_catalog_that_takes_messages_answers(simulator):
    readable = [e for e in CATALOG if e.protocol in (Protocol.OPENAI_CHAT, Protocol.ANTHROPIC)]

    with ThreadPoolExecutor(len(readable)) as pool:
        heard = list(pool.map(lambda e: ask_for(simulator, e, max_tokens=24), readable))

    assert len(readable) > 20
    for endpoint, one in zip(readable, heard, strict=True):
        assert one.is_ended, endpoint.id
        reasoned = [t for _, e in one.events for t in _reasoned(e)]
        assert count_tokens("".join(reasoned)) == (6 if reasoned else 0), endpoint.id
        assert count_tokens(one.text()) == 24, endpoint.id
        assert bool(reasoned) is (endpoint.reasons and endpoint is not _claude()), endpoint.id


def _claude() -> Endpoint:
    return next(e for e in CATALOG if e.id == "anthropic/claude-opus-4.8")


def _reasoned(event: Any) -> list[str]:
    delta = event["choices"][0].get("delta", {}) if event.get("choices") else {}
    told = delta.get("reasoning") or delta.get("reasoning_content")
    return [told] if told else []


@pytest.mark.parametrize(("endpoint", "tolerance"), [(CLAUDE, 0.005), (CEREBRAS, 0.03)])
def test_the_speed_a_reader_counts_is_the_endpoints(simulator, endpoint, tolerance):
    truth = endpoint.published_tokens_per_s
    errors = []
    while len(errors) < 5 and min(errors, default=1.0) > tolerance:  # a busy host delays reads
        speed = output_tokens_per_s(ask_for(simulator, endpoint, max_tokens=150))
        errors.append(abs(speed / truth - 1))

    assert min(errors) <= tolerance


def test_ten_at_once_are_answered_each_in_full(simulator):
    with ThreadPoolExecutor(10) as pool:
        heard = list(pool.map(lambda _: ask_for(simulator, CEREBRAS, max_tokens=300), range(10)))

    assert [count_tokens(one.text()) for one in heard] == [300] * 10
    assert len({one.text() for one in heard}) == 10


def test_a_key_that_is_missing_or_refused_gets_401(simulator):
    assert ask_for(simulator, KEYED).status == 401
    assert ask_for(simulator, KEYED, headers={"authorization": "Bearer refused"}).status == 401
    assert ask_for(simulator, KEYED, headers={"authorization": "Bearer sk"}).status == 200


def test_an_unknown_model_gets_404_in_the_providers_form(simulator):
    heard = ask(simulator.address.regions["eu-west"] + CHAT, "nope")

    assert (heard.status, heard.body["error"]["code"]) == (404, "model_not_found")


def test_each_request_and_its_end_are_logged(simulator):
    request_id = "test-log-1"

    ask_for(simulator, QUICK, max_tokens=12, headers={"x-request-id": request_id})

    def ended() -> list[dict[str, Any]]:
        return [line for line in simulator.answers() if line["x-request-id"] == request_id]

    until(lambda: bool(ended()), "the end is logged")
    (line,) = [line for line in simulator.requests() if line["x-request-id"] == request_id]
    assert (line["region"], line["endpoint"]) == ("eu-west", QUICK.id)
    assert (ended()[0]["end"], ended()[0]["tokens"]) == ("complete", 12)
    assert ended()[0]["planned_tokens_per_s"] == 400.0


def test_a_request_is_logged_before_it_is_answered(simulator):
    host, port = simulator.address.regions["eu-west"].removeprefix("http://").split(":")
    body = json.dumps(
        {"model": "slow", "stream": True, "max_tokens": 99, "messages": [{"content": "x"}]}
    )
    head = f"POST {CHAT} HTTP/1.1\r\nx-request-id: test-log-2\r\ncontent-length: {len(body)}\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}\r\n{body}".encode())
        connection.recv(1)  # the head of the answer

        assert any(line["x-request-id"] == "test-log-2" for line in simulator.requests())


def test_a_connection_serves_one_request_after_another(simulator):
    parts = urlsplit(simulator.address.regions["eu-west"] + CHAT)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    body = {"model": "quick", "stream": True, "max_tokens": 3, "messages": [{"content": "x"}]}
    try:
        for _ in range(2):
            connection.request("POST", parts.path, json.dumps(body))
            answer = connection.getresponse()
            assert answer.read().endswith(b"data: [DONE]\n\n")
            kept = connection.sock
        assert kept is not None
    finally:
        connection.close()


def test_a_slow_endpoint_halves_its_speed_and_no_other_does(simulator):
    simulator.switch_on("slow", SLOW.id, factor=0.5)

    slowed = {"x-request-id": "test-slow-1"}
    other = {"x-request-id": "test-slow-2"}
    heard = ask_for(simulator, SLOW, max_tokens=30, headers=slowed)
    ask_for(simulator, CLAUDE, max_tokens=3, headers=other)

    assert output_tokens_per_s(heard) < 30
    until(lambda: len(faults_met(simulator, "test-slow-")) == 2, "the ends are logged")
    assert faults_met(simulator, "test-slow-") == [["slow"], []]


def test_a_late_first_token_comes_later_by_what_was_added(simulator):
    before = ask_for(simulator, QUICK).pieces()[0][0]
    simulator.switch_on("slow", "groq", ttft_add_s=3.0)

    after = ask_for(simulator, QUICK).pieces()[0][0]

    assert after - before > 1.5


def test_a_failing_provider_answers_with_the_status(simulator):
    simulator.switch_on("fail", "groq", status=503)

    assert ask_for(simulator, QUICK).status == 503
    assert ask_for(simulator, CEREBRAS).status == 200


def test_a_rate_limit_says_how_long_to_wait(simulator):
    simulator.switch_on("rate-limit", QUICK.id, retry_after_s=7)

    heard = ask_for(simulator, QUICK)

    assert (heard.status, heard.headers["retry-after"]) == (429, "7")
    assert heard.body["error"]["code"] == "rate_limit_exceeded"


@pytest.mark.parametrize(("kind", "status"), [("not-served", 404), ("auth", 401)])
def test_an_endpoint_that_is_gone_or_refuses_the_key(simulator, kind, status):
    simulator.switch_on(kind, QUICK.id)

    assert ask_for(simulator, QUICK).status == status


def test_a_fault_of_one_region_leaves_the_others_alone(simulator):
    simulator.switch_on("fail", "all", region="us-east")

    assert ask_for(simulator, QUICK, "us-east").status == 500
    assert ask_for(simulator, QUICK, "eu-west").status == 200


def test_a_cleared_fault_is_gone(simulator):
    simulator.switch_on("fail", "groq")
    simulator.clear()

    assert ask_for(simulator, QUICK).status == 200
    assert simulator.control("GET", "/faults") == (200, {"faults": []})


def test_a_stall_holds_a_stream_under_way_until_it_is_cleared(simulator):
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask_for, simulator, SLOW, max_tokens=120)
        time.sleep(0.9)  # the answer takes 3 s after its first token
        simulator.switch_on("stall", SLOW.id)
        time.sleep(2.0)
        assert not asked.done()
        simulator.clear()
        heard = asked.result(20)

    assert heard.is_ended
    assert count_tokens(heard.text()) == 120
    gaps = [b - a for (a, _), (b, _) in zip(heard.pieces(), heard.pieces()[1:], strict=False)]
    assert max(gaps) > 1.0


def test_a_stalled_answer_sends_a_quarter_and_falls_silent(simulator):
    simulator.switch_on("stall", QUICK.id)

    heard = ask_for(simulator, QUICK, max_tokens=40, timeout_s=3)

    assert heard.broke == "TimeoutError"
    assert count_tokens(heard.text()) == 10


def test_a_disconnect_breaks_a_stream_under_way(simulator):
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask_for, simulator, SLOW, max_tokens=200)
        time.sleep(1.0)
        simulator.switch_on("disconnect", "all")
        heard = asked.result(20)

    assert not heard.is_ended
    assert 0 < count_tokens(heard.text()) < 200


def test_a_slowdown_takes_hold_of_a_stream_under_way(simulator):
    timer = threading.Timer(1.5, simulator.switch_on, ("slow", SLOW.id), {"factor": 0.2})
    timer.start()

    heard = ask_for(simulator, SLOW, max_tokens=60)
    timer.join()

    moments = [at for at, _ in heard.pieces()]
    assert moments[-1] - moments[0] > 2.0  # 1.5 without the fault


@pytest.mark.parametrize("token", ["wrong", ""])
def test_the_control_needs_its_token(simulator, token):
    status, told = simulator.control("POST", "/faults", token=token or " ", kind="stall")

    assert (status, told["detail"]) == (401, "control: the token is missing or wrong")
    assert simulator.control("GET", "/faults")[1] == {"faults": []}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "detail"),
    [
        ("POST", "/faults", {"kind": "melt"}, 422, "unknown kind"),
        ("POST", "/faults", {"kind": "stall", "target": "grok"}, 422, 'did you mean "groq"?'),
        ("DELETE", "/faults", {"target": "nobody"}, 422, "is no endpoint or provider"),
        ("DELETE", "/faults", {"region": "mars"}, 422, "is no region"),
        ("GET", "/nothing", {}, 404, "control: no GET /nothing"),
    ],
)
def test_what_the_control_cannot_do_it_says_in_one_sentence(
    simulator, method, path, body, status, detail
):
    answered, told = simulator.control(method, path, **body)

    assert answered == status
    assert detail in told["detail"]
    assert "\n" not in told["detail"]


def test_the_control_tells_the_truth_of_each_endpoint(simulator):
    _, told = simulator.control("GET", "/endpoints")

    speeds = {one["endpoint"]: one["tokens_per_s"] for one in told["endpoints"]}
    assert speeds["cerebras/gpt-oss-120b"] == 1753.0
    assert speeds["anthropic/claude-opus-4.8"] == 62.0


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"rubbish\r\n\r\n", b"400"),
        (b"GET / SPDY/3\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", b"413"),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 40_000 + b"\r\n\r\n", b"431"),
    ],
)
def test_rubbish_is_refused_and_harms_nothing(simulator, raw, status):
    host, port = simulator.address.regions["eu-west"].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(raw)
        assert connection.recv(4_096).startswith(b"HTTP/1.1 " + status)

    assert ask_for(simulator, QUICK).is_ended


def test_a_body_over_the_bound_is_refused_and_not_kept(simulator):
    parts = urlsplit(simulator.address.regions["eu-west"] + CHAT)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    try:
        connection.request("POST", parts.path, b"x" * (5 * 1024 * 1024))
        assert connection.getresponse().status == 413
    finally:
        connection.close()


def test_more_connections_than_it_can_wait_for_harm_nothing(simulator):
    host, port = simulator.address.regions["us-east"].removeprefix("http://").split(":")
    with contextlib.ExitStack() as stack:
        for _ in range(260):  # its share of three addresses is 200
            stack.enter_context(socket.create_connection((host, int(port)), timeout=20))
        assert ask_for(simulator, QUICK, "eu-west").is_ended

    until(lambda: _is_answered(simulator), "its connections are free again")


def _is_answered(simulator: RunningSimulator) -> bool:
    try:
        return ask_for(simulator, QUICK, "us-east").is_ended
    except OSError:
        return False
