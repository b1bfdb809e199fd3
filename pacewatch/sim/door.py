"""How an address of the simulator is entered, where that is not in clear."""

import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """TLS with a chosen certificate, which may be a bad one; without one nobody listens."""

    certificate: Path | None = None
    """PEM, with what it was signed by."""
    key: Path | None = None
    protocols: tuple[str, ...] = ("http/1.1",)
    """What is agreed to in the handshake (ALPN)."""

    @property
    def is_shut(self) -> bool:
        """Tell whether connections are refused."""
        return self.certificate is None

    def context(self) -> ssl.SSLContext | None:
        """Return what a listener shakes hands with, None where it is shut; raises OSError."""
        if self.certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        context.set_alpn_protocols(list(self.protocols))
        return context


def shut_port(port: int) -> socket.socket:
    """Return a socket that holds a port (0: any free one) at which connections are refused, for as
    long as it is open; raises OSError.
    """
    held = socket.socket()
    try:
        held.bind((HOST, port))
    except OSError:
        held.close()
        raise
    return held
