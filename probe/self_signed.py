"""A certificate for talking TLS to oneself on the loopback, made when it is needed.

P-256 and ECDSA in a few lines: enough for a certificate that guards nothing, without a library that
signs. Nothing secret may ever go over it.
"""

import base64
import hashlib
import ipaddress
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_BIG = 32

_EC_KEY, _P256 = (1, 2, 840, 10045, 2, 1), (1, 2, 840, 10045, 3, 1, 7)
_ECDSA_SHA256 = (1, 2, 840, 10045, 4, 3, 2)
_COMMON_NAME, _SUBJECT_KEY = (2, 5, 4, 3), (2, 5, 29, 14)
_KEY_USAGE, _ALT_NAME, _CONSTRAINTS = (2, 5, 29, 15), (2, 5, 29, 17), (2, 5, 29, 19)

_INTEGER, _BITS, _OCTETS, _OID, _TEXT, _TIME = 0x02, 0x03, 0x04, 0x06, 0x0C, 0x18
_SEQUENCE, _SET, _TRUE = 0x30, 0x31, b"\x01\x01\xff"

Point = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A certificate and its key, both PEM."""

    certificate: str
    key: str = field(repr=False)


def self_signed(host: str, now: datetime, *, lives: timedelta) -> Pair:
    """Return a certificate for that IP address, its own authority, valid from an hour ago."""
    secret = 1 + secrets.randbelow(_N - 1)
    public = b"\x04" + b"".join(n.to_bytes(_BIG, "big") for n in _times(secret, _G))
    name = _der(
        _SEQUENCE, _der(_SET, _der(_SEQUENCE, _oid(_COMMON_NAME), _der(_TEXT, host.encode())))
    )
    algorithm = _der(_SEQUENCE, _oid(_ECDSA_SHA256))
    body = _der(
        _SEQUENCE,
        _der(0xA0, _integer(2)),
        _integer(1 + secrets.randbelow(2**63)),
        algorithm,
        name,
        _der(_SEQUENCE, _time(now - timedelta(hours=1)), _time(now + lives)),
        name,
        _der(_SEQUENCE, _der(_SEQUENCE, _oid(_EC_KEY), _oid(_P256)), _der(_BITS, b"\x00", public)),
        _der(0xA3, _der(_SEQUENCE, *_extensions(host, public))),
    )
    signed = _der(_SEQUENCE, body, algorithm, _der(_BITS, b"\x00", _sign(secret, body)))
    key = _der(
        _SEQUENCE,
        _integer(1),
        _der(_OCTETS, secret.to_bytes(_BIG, "big")),
        _der(0xA0, _oid(_P256)),
        _der(0xA1, _der(_BITS, b"\x00", public)),
    )
    return Pair(certificate=_pem("CERTIFICATE", signed), key=_pem("EC PRIVATE KEY", key))


def _extensions(host: str, public: bytes) -> list[bytes]:
    address = ipaddress.ip_address(host).packed
    named = hashlib.sha1(public, usedforsecurity=False).digest()
    return [
        _extension(_CONSTRAINTS, _der(_SEQUENCE, _TRUE), is_critical=True),
        _extension(_KEY_USAGE, _der(_BITS, b"\x02\x84"), is_critical=True),  # signs, and certifies
        _extension(_SUBJECT_KEY, _der(_OCTETS, named)),
        _extension(_ALT_NAME, _der(_SEQUENCE, _der(0x87, address))),
    ]


def _extension(oid: tuple[int, ...], value: bytes, *, is_critical: bool = False) -> bytes:
    return _der(_SEQUENCE, _oid(oid), _TRUE if is_critical else b"", _der(_OCTETS, value))


def _sign(secret: int, body: bytes) -> bytes:
    digest = int.from_bytes(hashlib.sha256(body).digest(), "big")
    while True:
        once = 1 + secrets.randbelow(_N - 1)
        r = _times(once, _G)[0] % _N
        s = pow(once, -1, _N) * (digest + r * secret) % _N
        if r and s:
            return _der(_SEQUENCE, _integer(r), _integer(s))


def _times(count: int, point: Point) -> Point:
    """Return the point added to itself that many times, at least once."""
    total: Point | None = None
    while count:
        if count & 1:
            total = point if total is None else _add(total, point)
        point = _add(point, point)
        count >>= 1
    if total is None:
        raise ValueError("a point cannot be taken no times")
    return total


def _add(a: Point, b: Point) -> Point:
    if a == b:
        slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, _P) % _P
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, _P) % _P
    x = (slope * slope - a[0] - b[0]) % _P
    return x, (slope * (a[0] - x) - a[1]) % _P


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    if size < 128:
        return bytes((tag, size)) + content
    told = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 128 | len(told))) + told + content


def _integer(value: int) -> bytes:
    return _der(_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _oid(arcs: tuple[int, ...]) -> bytes:
    content = bytearray((arcs[0] * 40 + arcs[1],))
    for arc in arcs[2:]:
        groups = [arc & 127]
        while arc := arc >> 7:
            groups.append(arc & 127 | 128)
        content += bytes(reversed(groups))
    return _der(_OID, bytes(content))


def _time(moment: datetime) -> bytes:
    return _der(_TIME, moment.strftime("%Y%m%d%H%M%SZ").encode())


def _pem(label: str, content: bytes) -> str:
    text = base64.encodebytes(content).decode()
    return f"-----BEGIN {label}-----\n{text}-----END {label}-----\n"
