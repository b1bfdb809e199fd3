"""Serves the application: one socket, one loop, a clean end on SIGTERM."""

import asyncio
import signal
import socket

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from pacewatch.words.errors import StackError

_GRACE_S = 10
"""How long requests in flight may take after SIGTERM, seconds."""

HEAD_S = 15.0
"""How long a request's first line and headers may take to arrive, seconds."""


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection on which no whole head arrives in time, so that clients
    that say little by little cannot use up the descriptors.
    """

    closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head."""
        super().connection_made(transport)
        self.await_head()

    def data_received(self, data: bytes) -> None:
        """Take what came, and see whether a head is still to come."""
        super().data_received(data)
        self.await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self.stop_waiting()
        super().connection_lost(exc)

    def await_head(self) -> None:
        """Start the time of a head that has begun to come; end it where the head is whole."""
        if self.conn.their_state is not h11.IDLE:
            self.stop_waiting()
        elif self.closing is None:
            self.closing = self.loop.call_later(HEAD_S, self.transport.close)

    def stop_waiting(self) -> None:
        """Let the connection be."""
        if self.closing is not None:
            self.closing.cancel()
            self.closing = None


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises StackError where the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(512)
    except OSError as error:
        listening.close()
        why = (error.strerror or str(error)).lower()
        raise StackError(
            f"PACEWATCH_LISTEN: cannot listen on {host}:{port}: {why} "
            "(allowed: a free port of an address of this host)"
        ) from error
    return listening


def serve(app: FastAPI, listening: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, then let the requests in flight end, and return."""
    for number in (signal.SIGTERM, signal.SIGINT):
        # the server raises the signal once more when it has ended; by then there is nothing to do
        signal.signal(number, lambda *_: None)
    make_server(app).run(sockets=[listening])


def make_server(app: FastAPI) -> uvicorn.Server:
    """Return the server of the application; `run` serves it."""
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    return uvicorn.Server(config)
