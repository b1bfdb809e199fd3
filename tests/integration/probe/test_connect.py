"""Everything that can go wrong before, and around, the first byte of an answer."""

import asyncio
import contextlib
import os
import resource
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.answers import GOOD, good_case, raw
from support.probing import probe_once
from support.replay import Asked, read_request, replay
from support.tls import Authority

from pacewatch.words.endpoint import Limits
from pacewatch.words.flag import Flag
from pacewatch.words.fleet import Region
from pacewatch.words.outcome import Outcome
from probe.connect import NoLink, Target, open_link


@pytest.fixture(scope="module")
def trusted(tmp_path_factory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


def region(**fields: str) -> Region:
    return Region(name="test", **fields)


def test_a_connection_is_told_station_by_station_and_lies_in_no_figure(trusted):
    with replay(good_case(), tls=trusted.serving("localhost")) as served:
        timing = probe_once(f"{served.url}/v1", region=region(ca_file=trusted.ca_file))

    link = timing.connection
    assert timing.outcome is Outcome.OK
    assert (link.http, link.reused, link.via_proxy) == ("1.1", False, False)
    assert link.dns_us is not None
    assert link.connect_us is not None
    assert (link.tls_us or 0) > 0
    assert timing.sent_us == 0
    assert timing.headers_us is not None


@pytest.mark.skipif("sys.platform != 'linux'", reason="TCP_INFO is read on Linux alone")
def test_the_kernels_round_trip_time_and_retransmissions_are_kept():
    with replay(good_case()) as served:
        link = probe_once(f"{served.url}/v1").connection

    before_us, after_us = link.rtt_us
    assert 0 < (before_us or 0) < 1_000_000
    assert 0 < (after_us or 0) < 1_000_000
    assert link.retransmits == 0


def test_an_address_that_is_no_name_is_not_looked_up():
    with replay(good_case()) as served:
        timing = probe_once(f"http://127.0.0.1:{served.port}/v1")

    assert (timing.outcome, timing.connection.dns_us) == (Outcome.OK, None)


def test_a_name_that_does_not_resolve_is_dns():
    timing = probe_once("http://nowhere.invalid/v1")

    assert timing.outcome is Outcome.DNS
    assert timing.sent_us is None
    assert timing.fault is not None
    assert (timing.fault.type or "").startswith("EAI_")


@pytest.mark.parametrize("host", ["x" * 64 + ".test", "a..b"])
def test_a_name_that_cannot_be_one_is_dns(host):
    assert probe_once(f"http://{host}/v1").outcome is Outcome.DNS


def test_a_refused_connection_is_connect():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    timing = probe_once(f"http://127.0.0.1:{port}/v1")

    assert timing.outcome is Outcome.CONNECT
    assert timing.fault is not None
    assert timing.fault.type == "ECONNREFUSED"


@contextlib.contextmanager
def _full_listener() -> Iterator[int]:
    """A port whose queue is full, so that the kernel answers no more."""
    with socket.socket() as listener, contextlib.ExitStack() as queued:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            one = queued.enter_context(socket.socket())
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.connect(listener.getsockname())
        yield listener.getsockname()[1]


def test_a_connection_that_does_not_come_about_in_time_is_connect():
    with _full_listener() as port:
        timing = probe_once(f"http://127.0.0.1:{port}/v1", limits=Limits(connect_s=0.3))

    assert timing.outcome is Outcome.CONNECT
    assert timing.fault is not None
    assert timing.fault.type == "timeout"


@pytest.mark.parametrize(
    ("name", "is_expired", "knows_ca"),
    [("localhost", False, False), ("localhost", True, True), ("elsewhere.test", False, True)],
    ids=["unknown authority", "expired", "wrong name"],
)
def test_a_bad_certificate_is_tls(trusted, name, is_expired, knows_ca):
    with replay(good_case(), tls=trusted.serving(name, is_expired=is_expired)) as served:
        timing = probe_once(
            f"{served.url}/v1",
            region=region(ca_file=trusted.ca_file) if knows_ca else region(),
        )

    assert timing.outcome is Outcome.TLS
    assert timing.fault is not None
    assert timing.fault.type == "certificate_verify_failed"
    assert served.asked == []


def test_a_server_without_tls_is_tls():
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def answer() -> None:
            sock, _ = plain.accept()
            sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            sock.recv(65_536)
            sock.close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        timing = probe_once(f"https://127.0.0.1:{plain.getsockname()[1]}/v1")
        thread.join(5)

    assert timing.outcome is Outcome.TLS
    assert timing.fault is not None
    assert timing.fault.type == "wrong_version_number"


def test_a_handshake_that_never_ends_is_tls():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        timing = probe_once(f"https://127.0.0.1:{port}/v1", limits=Limits(connect_s=0.3))

    assert timing.outcome is Outcome.TLS


def test_a_server_that_speaks_only_http_2_is_malformed_or_tls(trusted):
    settings = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    with replay(raw(settings)) as served:
        assert probe_once(f"{served.url}/v1").outcome is Outcome.MALFORMED

    context = trusted.serving("localhost")
    context.set_alpn_protocols(["h2"])
    with replay(raw(settings), tls=context) as served:
        timing = probe_once(f"{served.url}/v1", region=region(ca_file=trusted.ca_file))
    assert timing.outcome in (Outcome.MALFORMED, Outcome.TLS)


def test_an_unreadable_ca_file_is_our_own_fault(tmp_path):
    timing = probe_once("https://localhost:1/v1", region=region(ca_file=str(tmp_path / "none")))

    assert timing.outcome is Outcome.INTERNAL


# Through a proxy


@contextlib.contextmanager
def _proxy(answer: bytes = b"HTTP/1.1 200 Connected\r\n\r\n") -> Iterator[tuple[str, list[Asked]]]:
    """A proxy that connects through, or answers otherwise and closes."""
    asked: list[Asked] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            sock, _ = listener.accept()
            request = read_request(sock)
            if request is None:
                return
            asked.append(request)
            sock.sendall(answer)
            if answer.split()[1] == b"200":
                host, _, port = request.line.split()[1].rpartition(":")
                asyncio.run(_pump(sock, socket.create_connection((host, int(port)))))
            sock.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    finally:
        listener.close()
        thread.join(5)


async def _pump(a: socket.socket, b: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    for sock in (a, b):
        sock.setblocking(False)

    async def one_way(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := await loop.sock_recv(source, 65_536):
                await loop.sock_sendall(sink, data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    await asyncio.wait_for(asyncio.gather(one_way(a, b), one_way(b, a)), 10)
    a.close()
    b.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_connects_through_for_both_schemes(trusted, scheme):
    tls = trusted.serving("localhost") if scheme == "https" else None
    with replay(good_case(), tls=tls) as served, _proxy() as (proxy_url, asked):
        timing = probe_once(
            f"{served.url}/v1", region=region(proxy_url=proxy_url, ca_file=trusted.ca_file)
        )

    assert timing.outcome is Outcome.OK
    assert Flag.VIA_PROXY in timing.flags
    assert timing.connection.via_proxy
    assert asked[0].line == f"CONNECT localhost:{served.port} HTTP/1.1"
    assert "authorization" not in asked[0].headers


def test_no_proxy_is_taken_from_the_environment(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with replay(good_case()) as served:
        assert probe_once(f"{served.url}/v1").outcome is Outcome.OK


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", Outcome.CONNECT),
        (b"HTTP/1.1 407 Authenticate\r\n\r\n", Outcome.INTERNAL),
        (b"nonsense here", Outcome.INTERNAL),
    ],
)
def test_a_proxy_that_will_not_is_our_own_fault_unless_the_provider_is_away(answer, outcome):
    with _proxy(answer) as (proxy_url, _):
        timing = probe_once("http://api.test/v1", region=region(proxy_url=proxy_url))

    assert timing.outcome is outcome


@pytest.mark.parametrize("proxy_url", ["http://127.0.0.1:1", "http://p.invalid:1", "https://a:1"])
def test_a_proxy_that_cannot_be_reached_is_our_own_fault(proxy_url):
    timing = probe_once("http://api.test/v1", region=region(proxy_url=proxy_url))

    assert timing.outcome is Outcome.INTERNAL


@contextlib.contextmanager
def no_descriptor_left() -> Iterator[None]:
    """A process that can open nothing more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(int(file.name) for file in Path("/proc/self/fd").iterdir())
    taken = [os.open("/dev/null", os.O_RDONLY)]
    while taken[-1] <= used:
        taken.append(os.open("/dev/null", os.O_RDONLY))
    resource.setrlimit(resource.RLIMIT_NOFILE, (taken[-1] + 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)


@pytest.mark.skipif("sys.platform != 'linux'", reason="descriptors are counted in /proc")
def test_a_host_that_can_open_nothing_more_is_our_own_fault_and_says_so():
    async def connect() -> NoLink:
        with no_descriptor_left(), pytest.raises(NoLink) as refused:
            await open_link(Target(scheme="http", host="127.0.0.1", port=9), limit_s=5)
        return refused.value

    failure = asyncio.run(connect())

    assert (failure.outcome, failure.reason) == (Outcome.INTERNAL, "EMFILE")


@pytest.mark.parametrize("location", [b"/v2", b"http://[", b"\xff://", b""])
def test_a_redirect_is_rejected_and_not_followed_wherever_it_points(location):
    head = b"HTTP/1.1 307 Away\r\nlocation: " + location + b"\r\nset-cookie: a=b\r\n"
    with replay(raw(head + b"content-length: 0\r\n\r\n")) as served:
        timing = probe_once(f"{served.url}/v1")

    assert timing.outcome is Outcome.REJECTED
    assert len(served.asked) == 1


def test_the_request_is_what_the_protocol_asks_for_and_its_key_goes_into_its_header():
    with replay(good_case()) as served:
        probe_once(f"{served.url}/v1", key="test-key-0123456789", headers={"X-Team": "sre"})

    (asked,) = served.asked
    assert asked.line == "POST /v1/chat/completions HTTP/1.1"
    assert asked.headers["host"] == f"localhost:{served.port}"
    assert asked.headers["authorization"] == "Bearer test-key-0123456789"
    assert asked.headers["x-team"] == "sre"
    assert asked.headers["accept-encoding"] == "identity"
    assert b"test-key" not in asked.body


def test_a_simulated_provider_is_sent_no_key():
    with replay(good_case(GOOD)) as served:
        timing = probe_once(
            "https://api.groq.com/openai/v1",
            provider="groq",
            region=region(simulator_url=f"http://127.0.0.1:{served.port}"),
        )

    (asked,) = served.asked
    assert timing.outcome is Outcome.OK
    assert asked.line == "POST /groq/openai/v1/chat/completions HTTP/1.1"
    assert "authorization" not in asked.headers
