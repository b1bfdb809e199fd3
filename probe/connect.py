"""A ready connection to a host: DNS, TCP, the proxy's tunnel and TLS, each timed apart.

All of it happens before a request's clock starts. The addresses of a name are tried one after
another in the resolver's order; the time told is that of the one that answered.
"""

import asyncio
import errno
import socket
import ssl
from dataclasses import dataclass
from functools import lru_cache, partial
from time import monotonic_ns
from typing import Any
from urllib.parse import urlsplit

from httpx2 import create_ssl_context

from pacewatch.words.outcome import Outcome
from probe.apart import apart
from probe.arrivals import BrokenLink
from probe.network import Wire, stamp_arrivals

_PROXY_HEAD_BYTES = 16_384
_NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""What a host says that can open nothing more: its own fault, never a provider's."""
_BEYOND_PROXY = frozenset({b"502", b"503", b"504"})
"""What a proxy answers when it is well and the provider cannot be reached."""


class NoLink(Exception):  # noqa: N818 - what the network did, not an error of ours
    """No connection came about; `outcome` says at which station, `reason` in one word why."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        """Keep the station and the reason."""
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a connection goes."""

    scheme: str
    host: str
    port: int
    proxy_url: str | None = None
    ca_file: str | None = None


@dataclass(slots=True, kw_only=True)
class Link:
    """A connection that is ready for its request, and what it took."""

    wire: Wire
    dns_us: int | None
    connect_us: int
    tls_us: int | None
    via_proxy: bool


async def open_link(target: Target, *, limit_s: float) -> Link:
    """Return a ready connection; raises NoLink, at the latest after the limit.

    What fails on the way to and in the region's own proxy is `internal`.
    """
    context = _context_of(target)
    stage = _Stage()
    try:
        async with asyncio.timeout(limit_s):
            return await _open(target, context, stage, limit_s)
    except TimeoutError:
        raise NoLink(stage.outcome, stage.reason("timeout")) from None


@dataclass(slots=True)
class _Stage:
    """Where the setting up stands, for what is told when it fails."""

    outcome: Outcome = Outcome.DNS
    is_proxy: bool = False

    def enter(self, outcome: Outcome) -> None:
        """Go to the next station."""
        self.outcome = Outcome.INTERNAL if self.is_proxy else outcome

    def reason(self, word: str) -> str:
        """Return the word, with whose fault it is."""
        return f"proxy_{word}" if self.is_proxy else word

    def failure(self, word: str) -> NoLink:
        """Return what is raised for a failure at this station."""
        return NoLink(self.outcome, self.reason(word))


async def _open(
    target: Target, context: ssl.SSLContext | None, stage: _Stage, limit_s: float
) -> Link:
    host, port = target.host, target.port
    if target.proxy_url is not None:
        proxy = urlsplit(target.proxy_url)
        host, port = proxy.hostname or "", proxy.port or 80
        stage.is_proxy = True
        if proxy.scheme != "http":
            raise NoLink(Outcome.INTERNAL, "proxy_scheme")
    stage.enter(Outcome.DNS)
    addresses, dns_us = await _look_up(host, port, stage)
    stage.enter(Outcome.CONNECT)
    wire, connect_us = await _connect(addresses, stage, limit_s)
    try:
        if target.proxy_url is not None:
            await _tunnel(wire, target, stage)
            stage.is_proxy = False
        tls_us = None
        if context is not None:
            stage.enter(Outcome.TLS)
            tls_us = await _shake_hands(wire, target.host, context, stage)
    except BaseException:
        wire.close()
        raise
    return Link(
        wire=wire,
        dns_us=dns_us,
        connect_us=connect_us,
        tls_us=tls_us,
        via_proxy=target.proxy_url is not None,
    )


_Address = tuple[socket.AddressFamily, Any]


async def _look_up(host: str, port: int, stage: _Stage) -> tuple[list[_Address], int | None]:
    """Return the addresses of a name, and how long that took, us; a literal is not looked up."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except (OSError, ValueError):
            continue
        return [(family, (host, port))], None
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    began = monotonic_ns()
    try:
        found = await apart(ask, name="resolve")
    except socket.gaierror as error:
        raise stage.failure(errno_word(error)) from error
    except (UnicodeError, OSError) as error:
        _refuse_our_own(error)
        raise stage.failure("bad_name") from error
    return [(entry[0], entry[4]) for entry in found], (monotonic_ns() - began) // 1000


async def _connect(addresses: list[_Address], stage: _Stage, limit_s: float) -> tuple[Wire, int]:
    """Return a wire to the first address that answers, and how long that one took, us.

    With several addresses each has its share of the limit, so that a dead one does not eat it.
    """
    loop = asyncio.get_running_loop()
    failure = stage.failure("no_address")
    for family, address in addresses:
        try:
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            _refuse_our_own(error)
            raise stage.failure(errno_word(error)) from error
        try:
            sock.setblocking(False)  # noqa: FBT003 - the socket's own form
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stamp_arrivals(sock)
            began = monotonic_ns()
            async with asyncio.timeout(limit_s / len(addresses)):
                await loop.sock_connect(sock, address)
            return Wire(sock), (monotonic_ns() - began) // 1000
        except TimeoutError:
            sock.close()
            failure = stage.failure("timeout")
        except OSError as error:
            sock.close()
            failure = stage.failure(errno_word(error))
        except BaseException:
            sock.close()
            raise
    raise failure


async def _tunnel(wire: Wire, target: Target, stage: _Stage) -> None:
    """Have the proxy connect through."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    lines = [f"CONNECT {host}:{target.port} HTTP/1.1", f"Host: {host}:{target.port}"]
    try:
        await wire.send_now("\r\n".join([*lines, "", ""]).encode())
        head = await wire.read_head(_PROXY_HEAD_BYTES)
    except BrokenLink as error:
        raise stage.failure("broke_off") from error
    status = head[:16].partition(b" ")[2][:3]
    if status.startswith(b"2"):
        return
    if status in _BEYOND_PROXY:
        raise NoLink(Outcome.CONNECT, f"proxy_{status.decode()}")
    raise stage.failure("refused")


async def _shake_hands(wire: Wire, host: str, context: ssl.SSLContext, stage: _Stage) -> int:
    began = monotonic_ns()
    try:
        await wire.begin_tls(context, host)
    except ssl.SSLCertVerificationError as error:
        raise stage.failure("certificate_verify_failed") from error
    except ssl.SSLError as error:
        raise stage.failure((error.reason or "tls").lower()) from error
    except BrokenLink as error:
        raise stage.failure("broke_off") from error
    return (monotonic_ns() - began) // 1000


def _context_of(target: Target) -> ssl.SSLContext | None:
    """Return what TLS is checked with, None in clear; an unreadable CA file is `internal`."""
    if target.scheme != "https":
        return None
    try:
        return tls_context(target.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise NoLink(Outcome.INTERNAL, "ca_file") from error


@lru_cache(maxsize=16)
def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Return the context of a region: the host's authorities, and its own file's beside them."""
    context = create_ssl_context(trust_env=False)
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _refuse_our_own(error: Exception) -> None:
    """Raise NoLink of `internal` where this host has no room for another socket."""
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        raise NoLink(Outcome.INTERNAL, errno_word(error)) from error


def errno_word(error: OSError) -> str:
    """Return the system's own word for an error, as ECONNREFUSED or EAI_NONAME."""
    if isinstance(error, socket.gaierror):
        return next(
            (n for n in dir(socket) if n[:4] == "EAI_" and getattr(socket, n) == error.errno),
            "EAI",
        )
    return errno.errorcode.get(error.errno or 0, type(error).__name__)
