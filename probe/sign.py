"""How a request shows who asks: a key in a header, a signature of AWS, a token of Google.

What must be fetched for it is fetched before a run, ahead of its end: never inside a measured
request, and in a thread of its own. A signature is made for the one host that the endpoint is bound
to, and for no other. The libraries of AWS and of Google are loaded when they are first needed.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from pacewatch.words.endpoint import Auth, Endpoint
from pacewatch.words.fleet import Region
from pacewatch.words.outcome import Outcome
from probe.apart import apart
from probe.keys import AmbientKey, AwsKey, Key

FETCH_S = 60.0
"""How long credentials may take to be fetched, seconds."""

_KEY_HEADERS = {
    Auth.BEARER: ("authorization", "Bearer "),
    Auth.AWS: ("authorization", "Bearer "),
    Auth.X_API_KEY: ("x-api-key", ""),
    Auth.API_KEY: ("api-key", ""),
    Auth.X_GOOG_API_KEY: ("x-goog-api-key", ""),
}


class NoSignature(Exception):  # noqa: N818 - what stood in the way, told as an outcome
    """A request cannot be signed; `outcome` says whose fault it is, `reason` in one word why."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        """Keep the outcome and the reason."""
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class Credentials(Protocol):
    """What signs requests."""

    def is_ready(self) -> bool:
        """Tell whether nothing has to be fetched before the next signature."""

    def fetch(self) -> None:
        """Fetch what the next signatures need, which may take long; raises NoSignature."""

    def sign(self, url: str, headers: Mapping[str, str], content: bytes) -> Mapping[str, str]:
        """Return the headers that sign a POST; raises NoSignature. Takes no time."""


class HeaderKey:
    """A key that stands in a header as it is."""

    def __init__(self, name: str, prefix: str, key: Key) -> None:
        """Keep the header's name, what stands before the key, and the key."""
        self._name, self._prefix, self._key = name, prefix, key

    def is_ready(self) -> bool:
        """Return true: there is nothing to fetch."""
        return True

    def fetch(self) -> None:
        """Do nothing."""

    def sign(self, url: str, headers: Mapping[str, str], content: bytes) -> Mapping[str, str]:
        """Return the one header."""
        return {self._name: self._prefix + self._key.reveal()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """Credentials, and the only place that they may be shown to."""

    credentials: Credentials
    origin: tuple[str, str]
    """Scheme, and host with port."""

    def headers(self, url: str, told: Mapping[str, str], content: bytes) -> dict[str, str]:
        """Return the headers that sign a POST to that URL; raises NoSignature for another host."""
        if origin_of(url) != self.origin:
            raise NoSignature(Outcome.INTERNAL, "other_host")
        return dict(self.credentials.sign(url, told, content))


def secrets_in(signed: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys and tokens that the headers of a signature show; a signature itself is none,
    since it is good for one request.
    """
    return tuple(
        value.removeprefix("Bearer ")
        for name, value in signed.items()
        if name != "x-amz-date" and not value.startswith("AWS4-")
    )


def origin_of(url: str) -> tuple[str, str]:
    """Return scheme, and host with port, of a URL."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def signer_of(endpoint: Endpoint, key: Key | None, region: Region) -> Signer | None:
    """Return what signs the endpoint's requests from a region; None where nothing does.

    The simulator is shown no key.
    """
    if key is None or endpoint.auth is Auth.NONE or region.simulator_url is not None:
        return None
    credentials = _credentials(endpoint, key, region)
    return Signer(credentials=credentials, origin=origin_of(endpoint.base_url))


def _credentials(endpoint: Endpoint, key: Key, region: Region) -> Credentials:
    if isinstance(key, AwsKey | AmbientKey):
        from probe.sign_aws import AwsCredentials

        return AwsCredentials(key, endpoint, region)
    if endpoint.auth is Auth.GOOGLE:
        from probe.sign_google import service_account

        return service_account(key.reveal(), region.proxy_url, region.ca_file)
    return HeaderKey(*_KEY_HEADERS[endpoint.auth], key)


async def open_signer(
    endpoint: Endpoint, key: Key | None, region: Region
) -> Signer | Exception | None:
    """Return what signs the endpoint's requests, with all that it needs fetched; or what stood in
    the way.

    The event loop goes on meanwhile. Nobody waits for the thread once the limit is over.
    """
    if key is None or _is_at_hand(endpoint, key):
        return signer_of(endpoint, key, region)
    try:
        async with asyncio.timeout(FETCH_S):
            return await apart(lambda: _fetched(endpoint, key, region), name="credentials")
    except TimeoutError:
        return NoSignature(Outcome.INTERNAL, "credentials_timeout")


def _fetched(endpoint: Endpoint, key: Key, region: Region) -> Signer | Exception | None:
    try:
        found = signer_of(endpoint, key, region)
        if found is not None and not found.credentials.is_ready():
            found.credentials.fetch()
    except Exception as error:  # noqa: BLE001 - what stood in the way, whatever it is
        return error
    return found


def _is_at_hand(endpoint: Endpoint, key: Key) -> bool:
    """Tell whether a key is shown as it is, so that nothing is loaded and nothing fetched."""
    return endpoint.auth is not Auth.GOOGLE and not isinstance(key, AwsKey | AmbientKey)


def load_for(endpoint: Endpoint, key: Key | None) -> None:
    """Load what the endpoint's signatures take, so that no run waits for it."""
    if isinstance(key, AwsKey | AmbientKey):
        import probe.sign_aws
    elif key is not None and endpoint.auth is Auth.GOOGLE:
        import probe.sign_google  # noqa: F401 - loaded for its own sake
