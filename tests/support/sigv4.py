"""Checks a request's signature as AWS does, from the bytes that came; shares nothing with the
library that signs.
"""

import hashlib
import hmac
import re
from urllib.parse import quote

from support.replay import Asked

_FORM = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<scope>(?P<day>\d{8})/(?P<region>[^/]+)"
    r"/(?P<service>[^/]+)/aws4_request), SignedHeaders=(?P<names>[^,]+), "
    r"Signature=(?P<signature>[0-9a-f]{64})"
)


def signed_for(asked: Asked, secret: str) -> dict[str, str]:
    """Whose key, region and service the request is signed for; fails where the signature is not
    that of the secret over what came.
    """
    told = _FORM.fullmatch(asked.headers["authorization"])
    assert told is not None, asked.headers["authorization"]
    assert asked.headers["x-amz-date"].startswith(told["day"])
    method, target, _ = asked.line.split(" ")
    path, _, query = target.partition("?")
    names = told["names"].split(";")
    assert {"host", "x-amz-date"} <= set(names)
    canonical = "\n".join(
        (
            method,
            quote(path, safe="/-_.~"),
            query,
            *(f"{name}:{asked.headers[name]}" for name in names),
            "",
            told["names"],
            hashlib.sha256(asked.body).hexdigest(),
        )
    )
    text = "\n".join(
        (
            "AWS4-HMAC-SHA256",
            asked.headers["x-amz-date"],
            told["scope"],
            hashlib.sha256(canonical.encode()).hexdigest(),
        )
    )
    key = f"AWS4{secret}".encode()
    for part in told["scope"].split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    assert told["signature"] == hmac.digest(key, text.encode(), "sha256").hex()
    return {name: told[name] for name in ("key", "region", "service")}
