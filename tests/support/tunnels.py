"""An egress proxy that connects through, and notes what passes."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from support.listening import listening


@dataclass(slots=True)
class Tunnels:
    """A served proxy."""

    url: str
    heads: list[bytes] = field(default_factory=list)
    """What each client asked the proxy for."""
    passed: list[bytes] = field(default_factory=list)
    """What it handed on, both ways."""


@contextmanager
def tunnels() -> Iterator[Tunnels]:
    """Serve a proxy for CONNECT to names of this host."""
    served = Tunnels(url="")
    with listening(lambda client, _: _serve(served, client)) as port:
        served.url = f"http://127.0.0.1:{port}"
        yield served


def _serve(served: Tunnels, client: socket.socket) -> None:
    head = client.recv(65_536)
    served.heads.append(head)
    host, _, port = head.split(b" ")[1].decode().rpartition(":")
    aim = socket.create_connection((host, int(port)))
    client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
    back = threading.Thread(target=_hand_on, args=(served, aim, client), daemon=True)
    back.start()
    _hand_on(served, client, aim)
    back.join(5)
    for sock in (client, aim):
        sock.close()


def _hand_on(served: Tunnels, source: socket.socket, aim: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            served.passed.append(data)
            aim.sendall(data)
    for sock in (source, aim):
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
