"""What was seen of one request while it ran: nanoseconds and texts, kept in memory alone."""

from array import array
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pacewatch.words.outcome import Outcome
from pacewatch.words.timing import Identity, ProviderTokens, RateLimits, ServerTimings
from probe.classify import Ending, of_stream_fault
from probe.protocols.interface import (
    AllTold,
    Chunk,
    End,
    Finish,
    MalformedAnswer,
    Piece,
    StreamFault,
    Usage,
    Whole,
)
from probe.stamps import Portion

_Told = TypeVar("_Told", Identity, ProviderTokens)

_TEXTS = (Chunk, Whole)
"""Made once: a fast answer brings thousands of pieces a second."""

MAX_CHUNKS = 100_000
"""Token-bearing chunks of one answer."""

MAX_RUN_CHUNKS = 200_000
"""Of all answers of a run, so that its record fits one push and a worker stays small."""

MAX_TEXT_SIZE = 4 * 1024 * 1024
"""Generated text of one answer, characters."""


@dataclass(slots=True, kw_only=True)
class Seen:
    """One request in the making; times are the monotonic clock's, ns."""

    ending: Ending | None = None
    """None until something has ended it."""
    most_chunks: int = MAX_CHUNKS
    """More are an endless answer."""
    sent_ns: int | None = None
    send_gap_ns: int = 0
    headers_ns: int | None = None
    end_ns: int = 0
    status: int | None = None
    http: str | None = None
    first: Portion | None = None
    """The read that brought the first token-bearing chunk."""
    last: Portion | None = None
    """The read that brought the last one."""
    is_kernel: bool = True
    """False once a token-bearing chunk came whose stamp is not the kernel's."""
    at_ns: "array[int]" = field(default_factory=lambda: array("q"))
    kinds: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    streamed: set[str] = field(default_factory=set)
    """Kinds of text that came in chunks."""
    text_size: int = 0
    tokens: ProviderTokens | None = None
    told: ServerTimings | None = None
    identity: Identity = field(default_factory=Identity)
    last_identity: Identity | None = None
    limits: RateLimits | None = None
    finish: Finish | None = None
    may_end: bool = False
    """True once an end has come that is one only with the end of the body."""
    has_end: bool = False
    """True once the protocol's own end has come: nothing after it is a fault."""

    def take(self, piece: Piece, portion: Portion) -> None:
        """Add a piece that came with that read; raises MalformedAnswer for too much."""
        if isinstance(piece, _TEXTS):
            self._write(piece, portion)
        elif isinstance(piece, Identity):
            if piece is not self.last_identity:
                self._know(piece)
        elif isinstance(piece, Usage):
            self._count(piece.tokens)
        elif isinstance(piece, Finish):
            self.finish = piece
        elif isinstance(piece, End):
            self.may_end = True
            self.has_end = self.has_end or not piece.needs_body
        elif isinstance(piece, AllTold):
            self.end_body()
        elif isinstance(piece, StreamFault):
            if not self.has_end:
                self.ending = of_stream_fault(piece.code, self.status)
        else:
            self.told = piece

    def _write(self, text: Chunk | Whole, portion: Portion) -> None:
        """Add a text; one told whole only where it is no repetition."""
        if isinstance(text, Chunk):
            self.streamed.add(text.kind)
        elif text.kind in self.streamed or text.text in self.texts:
            return
        self._add(text, portion)

    def _add(self, chunk: Chunk | Whole, portion: Portion) -> None:
        if len(self.at_ns) >= self.most_chunks:
            raise MalformedAnswer("endless")  # one more, and the centre would refuse the record
        if portion is not self.last:
            self.first = self.first or portion
            self.last = portion
            self.is_kernel = self.is_kernel and portion.is_kernel
        self.at_ns.append(portion.stamp_ns)
        self.kinds.append(chunk.kind)
        self.texts.append(chunk.text)
        self.text_size += len(chunk.text)
        if self.text_size > MAX_TEXT_SIZE:
            raise MalformedAnswer("endless")

    def _count(self, tokens: ProviderTokens) -> None:
        """Take tokens that are told, the last total of each; a usage without one tells nothing.

        A prompt's size that leaves its cached part untold does not take away from one that told it.
        """
        if tokens == ProviderTokens():
            return
        before = self.tokens or ProviderTokens()
        self.tokens = _over(before, tokens)
        if before.cached_input and tokens.cached_input is None:
            whole = max(before.input or 0, tokens.input or 0)
            self.tokens = replace(self.tokens, input=whole)

    def _know(self, identity: Identity) -> None:
        """Take what is told of who answers; the request's id in the headers goes before."""
        first_id = self.identity.request_id
        self.last_identity = identity
        self.identity = _over(self.identity, identity)
        if first_id is not None:
            self.identity = replace(self.identity, request_id=first_id)

    def end_body(self) -> None:
        """Note that nothing more comes of the answer: it has ended where it may have."""
        self.has_end = self.may_end

    def forget(self) -> None:
        """Let go of chunks and texts, once the record has what it needs of them."""
        self.at_ns = array("q")
        self.kinds.clear()
        self.texts.clear()

    def close(self) -> None:
        """Decide how the request ended, where nothing has: by its end, or by the lack of one."""
        if self.ending is not None:
            return
        if not self.has_end:
            self.ending = Ending(outcome=Outcome.DISCONNECTED)
        elif self.finish is not None and self.finish.is_filtered:
            self.ending = Ending(outcome=Outcome.FILTERED)
        else:
            self.ending = Ending(outcome=Outcome.OK if self.at_ns else Outcome.EMPTY)


def _over(old: _Told, new: _Told) -> _Told:
    """Return the old values with the new ones over them, where those tell."""
    told: dict[str, Any] = {
        name: value for name in new.__slots__ if (value := getattr(new, name)) is not None
    }
    return replace(old, **told)
