"""Tokens of Google's service accounts, through google-auth: fetched, renewed ahead of their end.

The key itself never leaves: it signs a claim, which goes to Google's own address for tokens and
nowhere else, whatever the key's file says.
"""

import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from time import monotonic
from typing import Any

import httpx2
from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
from google.oauth2.service_account import Credentials

from pacewatch.words.outcome import Outcome
from probe.connect import tls_context
from probe.sign import NoSignature

SCOPE = "https://www.googleapis.com/auth/cloud-platform"

TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address

AHEAD_S = 300.0
"""A token that ends sooner is renewed before it is shown, seconds."""

_LIMIT_S = 10.0
_CLOCK_WORDS = ("timeframe", "iat", "expired", "in the future")
"""How Google says that a claim is good but for its times, which were those of our clock."""


class ServiceAccount:
    """The token of one service account, for all that run at once."""

    def __init__(self, key: str, proxy_url: str | None, ca_file: str | None) -> None:
        """Keep the key and the way to Google; raises NoSignature for a key that cannot sign."""
        try:
            told = json.loads(key) | {"token_uri": TOKEN_URL}
            make: Any = Credentials.from_service_account_info
            self._credentials: Any = make(told, scopes=[SCOPE])
        except (ValueError, GoogleAuthError) as error:
            raise NoSignature(Outcome.INTERNAL, "bad_service_account") from error
        self._proxy_url, self._ca_file = proxy_url, ca_file
        self._lock = threading.Lock()
        self._good_until = 0.0

    def is_ready(self) -> bool:
        """Tell whether the token is good for a while."""
        return monotonic() < self._good_until

    def fetch(self) -> None:
        """Fetch a token, where nobody else has just done so; raises NoSignature."""
        with self._lock:
            if self.is_ready():
                return
            try:
                with _client(self._proxy_url, self._ca_file) as client:
                    self._credentials.refresh(_Way(client))
            except TransportError as error:
                raise NoSignature(Outcome.INTERNAL, "token_unreachable") from error
            except RefreshError as error:
                raise _refused(error) from error
            ends_at = self._credentials.expiry.replace(tzinfo=UTC)
            left_s = (ends_at - datetime.now(UTC)).total_seconds()
            self._good_until = monotonic() + max(0.0, left_s - AHEAD_S)

    def sign(self, url: str, headers: Mapping[str, str], content: bytes) -> Mapping[str, str]:
        """Return the header with the token."""
        return {"authorization": f"Bearer {self._credentials.token}"}


@lru_cache(maxsize=16)
def service_account(key: str, proxy_url: str | None, ca_file: str | None) -> ServiceAccount:
    """Return the service account of a key, the same one each time; raises NoSignature."""
    return ServiceAccount(key, proxy_url, ca_file)


def _refused(error: RefreshError) -> NoSignature:
    """Return whose fault a refused claim is: our clock's, or the key's."""
    told = error.args[1] if len(error.args) > 1 and isinstance(error.args[1], dict) else {}
    said = str(told.get("error_description", "")).casefold()
    if any(word in said for word in _CLOCK_WORDS):
        return NoSignature(Outcome.INTERNAL, "clock_refused")
    code = told.get("error")
    return NoSignature(Outcome.AUTH, code if isinstance(code, str) else "token_refused")


def _client(proxy_url: str | None, ca_file: str | None) -> httpx2.Client:
    return httpx2.Client(
        proxy=proxy_url, verify=tls_context(ca_file), timeout=_LIMIT_S, trust_env=False
    )


class _Answer:
    """An answer as google-auth reads it."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.status = answer.status_code
        self.headers = dict(answer.headers)
        self.data = answer.content


class _Way:
    """How google-auth reaches the network: one request, no redirect."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> _Answer:
        try:
            return _Answer(
                self._client.request(method, url, content=body, headers=dict(headers or {}))
            )
        except httpx2.HTTPError as error:
            raise TransportError(type(error).__name__) from error  # type: ignore[no-untyped-call]
