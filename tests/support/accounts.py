"""A service account of Google, and the address where its tokens come from."""

import base64
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from support.replay import Asked, Replay, replay


@cache
def service_account_key(name: str = "probe") -> str:
    """The file of a service account, with a key of its own."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return json.dumps(
        {
            "type": "service_account",
            "project_id": "tide",
            "private_key_id": "k1",
            "private_key": pem.decode(),
            "client_email": f"{name}@tide.iam.gserviceaccount.com",
            "token_uri": "http://127.0.0.1:1/forged",
        }
    )


@dataclass(slots=True)
class Tokens:
    """A served address for tokens: each is a new one."""

    served: Replay
    claims: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where tokens are asked for."""
        return f"{self.served.url}/token"


@contextmanager
def token_server(
    *, ends_in_s: int = 3_600, refusal: dict[str, str] | None = None, takes_s: float = 0.0
) -> Iterator[Tokens]:
    """Serve tokens `token-0`, `token-1`, ... that end after a while, or one refusal."""
    claims: list[dict[str, Any]] = []

    def answer(sock: socket.socket, asked: Asked) -> bool:
        time.sleep(takes_s)
        told: dict[str, Any] = {
            "access_token": f"token-{len(claims)}-{'x' * 20}",
            "expires_in": ends_in_s,
            "token_type": "Bearer",
        }
        claims.append(_claim(asked))
        _send(sock, 200 if refusal is None else 400, told if refusal is None else refusal)
        return False

    with replay(answer) as served:
        yield Tokens(served=served, claims=claims)


def _claim(asked: Asked) -> dict[str, Any]:
    (assertion,) = parse_qs(asked.body.decode())["assertion"]
    part = assertion.split(".")[1]
    claim: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return claim


def _send(sock: socket.socket, status: int, told: object) -> None:
    body = json.dumps(told).encode()
    head = f"HTTP/1.1 {status} Told\r\ncontent-type: application/json\r\nconnection: close\r\n"
    sock.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
