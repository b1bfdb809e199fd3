"""Serves the application: one socket, one loop, a clean end on SIGTERM."""

import signal
import socket

import uvicorn
from fastapi import FastAPI

from pacewatch.words.errors import StackError

_GRACE_S = 10
"""How long requests in flight may take after SIGTERM, seconds."""


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
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        # the server raises the signal once more when it has ended; by then there is nothing to do
        signal.signal(number, lambda *_: None)
    uvicorn.Server(config).run(sockets=[listening])
