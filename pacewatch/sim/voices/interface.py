"""What a wire protocol must be able to say; a new one is a file and a row in `table`."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from pacewatch.sim.refusals import Refusal
from pacewatch.sim.script import Ask, Piece
from pacewatch.words.endpoint import Endpoint


class Stop(StrEnum):
    """Why an answer is over."""

    END = "end"
    LIMIT = "limit"
    FILTER = "filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a provider knows of an answer at its end: tokens, and its own times in seconds."""

    prompt_tokens: int
    """All of the prompt, kept or not."""
    cached_tokens: int = 0
    reasoning_tokens: int
    """All that was reasoned, shown or not."""
    answer_tokens: int
    queue_s: float
    prompt_s: float
    completion_s: float
    """From the first token to the last."""
    stop: Stop

    @property
    def is_cut(self) -> bool:
        """Tell whether the token limit ended the answer."""
        return self.stop is Stop.LIMIT

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

    def trouble(self, refusal: Refusal) -> bytes:
        """Return the events that tell an error in place of the rest of the answer."""


class Framing(Protocol):
    """What goes over the wire beside an answer."""

    def nothing(self, padding: int) -> bytes:
        """Return what keeps a connection alive and says nothing, with bytes of padding."""

    def unending(self) -> bytes:
        """Return how an event begins that has no end; any bytes may follow."""

    def garbage(self) -> bytes:
        """Return an event that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where requests of an endpoint are posted to: a path, around the model where that names it."""

    before: str
    after: str | None = None
    """None: `before` is the whole path, and the model stands in the body."""
    needs: str | None = None
    """The name that the query must have."""

    def path(self, model: str) -> str:
        """Return the path of requests for a model."""
        return self.before if self.after is None else f"{self.before}{model}{self.after}"


class Speaker(Protocol):
    """One wire protocol."""

    framing: Framing

    def places(self, base_path: str, provider: str) -> tuple[Place, ...]:
        """Return where requests of a provider's endpoint with that base path are posted to."""

    def hear(
        self, body: Mapping[str, Any], endpoint: Endpoint, query: Mapping[str, str]
    ) -> Ask | Refusal:
        """Return what is asked of the endpoint, or why it is refused."""

    def voice(self, endpoint: Endpoint, ask: Ask, *, request_id: str, created: int) -> Voice:
        """Return the voice of one answer; `created` is in seconds since 1970."""
