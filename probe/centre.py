"""How a worker speaks to the aggregator: one HTTP client, one token, one voice about trouble."""

import logging
import ssl
from datetime import datetime

import httpx2

from pacewatch import __version__
from pacewatch.log import event
from pacewatch.words.slot import from_rfc3339
from probe.settings import Settings

TIMEOUT_S = 30.0
SLOW_RETRY_S = 60.0
"""Pause after the token was refused: somebody has to do something about it."""


def open_client(settings: Settings, ca_file: str | None) -> httpx2.Client:
    """Return a client for the aggregator.

    It trusts the region's `ca_file` beside the usual certificates, and takes nothing from the
    environment's proxy variables. It does not follow redirects: the token goes nowhere else.
    """
    return httpx2.Client(
        base_url=settings.aggregator_url,
        headers={
            "authorization": f"Bearer {settings.token}",
            "user-agent": f"pacewatch-worker/{__version__}",
            "accept": "application/json",
        },
        verify=_trust(settings.aggregator_url, ca_file),
        timeout=TIMEOUT_S,
        trust_env=False,
        follow_redirects=False,
    )


def _trust(url: str, ca_file: str | None) -> ssl.SSLContext:
    """Return whom the client trusts; nobody where it speaks in clear, which spares reading them."""
    if url.startswith("http://"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusted = ssl.create_default_context()
    if ca_file is not None:
        trusted.load_verify_locations(ca_file)
    return trusted


def read_now(answer: object) -> datetime | None:
    """Return the centre's time in an answer; None where it holds none."""
    told = answer.get("now") if isinstance(answer, dict) else None
    if not isinstance(told, str):
        return None
    try:
        return from_rfc3339(told)
    except ValueError:
        return None


class Voice:
    """Says one kind of trouble once, not at every retry, and once that it is over."""

    def __init__(self, logger: logging.Logger, area: str) -> None:
        """Speak through that logger, with event names `<area>.failed` and `<area>.recovered`."""
        self._logger = logger
        self._area = area
        self._trouble: str | None = None

    def trouble(self, sentence: str) -> None:
        """Log the sentence where it is not the one that was logged last."""
        if sentence != self._trouble:
            self._trouble = sentence
            event(self._logger, f"{self._area}.failed", level=logging.WARNING, reason=sentence)

    def fine(self) -> None:
        """Log that the trouble is over, where there was any."""
        if self._trouble is not None:
            self._trouble = None
            event(self._logger, f"{self._area}.recovered")


def why_refused(status: int) -> str:
    """Return the sentence about an answer that says nothing about single runs."""
    if status == httpx2.codes.UNAUTHORIZED:
        return (
            "the aggregator does not know this region's token (401); "
            "PACEWATCH_REGION_TOKEN must be one that `pacewatch token issue` made for this region"
        )
    if status == httpx2.codes.FORBIDDEN:
        return "the aggregator lets this token write for another region only (403)"
    return f"the aggregator answered {status}"
