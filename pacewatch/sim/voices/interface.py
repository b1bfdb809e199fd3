"""What a wire protocol must be able to say; a new one is a file and a row in `table`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pacewatch.sim.refusals import Refusal
from pacewatch.sim.script import Ask, Piece
from pacewatch.words.endpoint import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a provider knows of an answer at its end: tokens, and its own times in seconds."""

    prompt_tokens: int
    reasoning_tokens: int
    answer_tokens: int
    queue_s: float
    prompt_s: float
    completion_s: float
    """From the first token to the last."""
    is_cut: bool

    @property
    def output_tokens(self) -> int:
        """Return all that is billed as output."""
        return self.reasoning_tokens + self.answer_tokens

    @property
    def ttft_s(self) -> float:
        """Return the provider's own time to first token."""
        return self.queue_s + self.prompt_s

    @property
    def total_s(self) -> float:
        """Return the provider's own time for all."""
        return self.ttft_s + self.completion_s


class Voice(Protocol):
    """The words of one answer, event by event. One voice speaks one answer."""

    def headers(self) -> Mapping[str, str]:
        """Return the headers of the answer."""

    def opening(self) -> bytes:
        """Return the events that come before any generated text."""

    def piece(self, piece: Piece) -> bytes:
        """Return the events of the next piece of text; nothing where it goes out with the end."""

    def closing(self, account: Account) -> bytes:
        """Return the events that end the answer."""


class Speaker(Protocol):
    """One wire protocol."""

    def path(self, base_path: str) -> str:
        """Return the path that requests of an endpoint with that base path are posted to."""

    def hear(self, body: Mapping[str, Any], endpoint: Endpoint) -> Ask | Refusal:
        """Return what the body asks of the endpoint, or why it is refused."""

    def voice(self, endpoint: Endpoint, ask: Ask, *, request_id: str, created: int) -> Voice:
        """Return the voice of one answer; `created` is in seconds since 1970."""
