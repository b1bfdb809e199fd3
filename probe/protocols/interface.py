"""What a wire protocol is to the probe: it says WHAT a piece of an answer is, never WHEN it came.

A protocol asks (`path`, `headers`, `body`), parts the bytes of an answer into frames (`framing`)
and reads each frame (`read`). It sees no clock and no socket.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.timing import Identity, ProviderTokens, ServerTimings


class MalformedAnswer(Exception):  # noqa: N818 - what the provider did, not an error of ours
    """What came was not the protocol, or broke a bound; the text is one word for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One event of an answer, whole."""

    name: str
    """The event's own name; empty where it has none."""
    data: str
    is_fault: bool = False
    """True: the framing itself says that the event is an error, and its name is the error's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Generated text, never empty."""

    kind: str
    """REASONING, ANSWER or TOOL of `pacewatch.words.timing`."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A text told once more, whole, never empty: generated text where nothing of its kind was
    streamed, a repetition where something was.
    """

    kind: str
    """As a chunk's."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider tells them: totals so far, None where this frame does not tell."""

    tokens: ProviderTokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Why the answer ends; the end itself may still be to come."""

    word: str | None
    """The provider's own word for it."""
    is_truncated: bool = False
    """True: a token limit cut the answer."""
    is_filtered: bool = False
    """True: a content filter stopped the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The protocol's own end of the answer."""

    is_last: bool = False
    """True: nothing is waited for after it."""
    needs_body: bool = False
    """True: it is one only once the body has ended too, and text may still follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllTold:
    """The last that a provider tells; where the answer has ended, nothing is waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFault:
    """An error that the provider told inside a stream."""

    code: str | None
    """Its code, else its type, in the provider's words."""


Piece = Chunk | Whole | Usage | ServerTimings | Identity | Finish | End | AllTold | StreamFault
"""What a frame may hold."""


class Framing(Protocol):
    """Parts the bytes of one answer into frames; holds what is not whole yet, within bounds."""

    def feed(self, data: bytes) -> Iterable[Frame]:
        """Return the frames that these bytes complete; raises MalformedAnswer, at the latest when
        the frames before it have been taken.
        """

    def finish(self) -> list[Frame]:
        """Return the frame that the end of the body completes, if any; raises MalformedAnswer."""

    def plain(self) -> bytes | None:
        """Return the body where it is no stream of frames at all; None where it is one."""


class WireProtocol(Protocol):
    """One wire protocol; without state, so that one value serves all requests."""

    def path(self, endpoint: Endpoint) -> str:
        """Return what comes after the endpoint's base URL, percent-encoded, with its query."""

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        """Return the headers that the protocol itself asks for, no secrets."""

    def body(self, endpoint: Endpoint, prompt: str, output_tokens: int) -> dict[str, Any]:
        """Return the request's body; the endpoint's own members come last and win."""

    def framing(self) -> Framing:
        """Return a fresh framing for one answer."""

    def read(self, frame: Frame) -> Sequence[Piece]:
        """Return what the frame holds, in order, reasoning first; raises MalformedAnswer."""

    def read_whole(self, body: bytes) -> Sequence[Piece]:
        """Return what a body that is no stream holds: a fault; else raises MalformedAnswer."""
