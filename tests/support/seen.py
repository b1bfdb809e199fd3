"""Builders of what a probe has seen."""

from typing import Any

from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import ProviderTokens
from probe.classify import Ending
from probe.protocols.interface import Finish
from probe.seen import Seen

SECOND_NS = 1_000_000_000


def make_seen(*texts: str, kinds: str = "", **fields: Any) -> Seen:
    """A good answer whose chunks came 100 ms apart from 200 ms after the send on."""
    values: dict[str, Any] = {
        "ending": Ending(outcome=Outcome.OK),
        "sent_ns": SECOND_NS,
        "headers_ns": SECOND_NS + 90_000_000,
        "end_ns": SECOND_NS + 900_000_000,
        "status": 200,
        "at_ns": [SECOND_NS + 200_000_000 + n * 100_000_000 for n in range(len(texts))],
        "kinds": list(kinds or "a" * len(texts)),
        "texts": list(texts),
        "has_end": True,
        "finish": Finish(word="stop"),
    }
    return Seen(**(values | fields))


def billed(output: int, **more: int) -> ProviderTokens:
    """What a provider says it bills."""
    return ProviderTokens(input=20, output=output, **more)
