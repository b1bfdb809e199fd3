"""Sends one answer, piece by piece, each at its moment.

Moments are absolute: each is the one before plus the time that its tokens take, so a late piece
makes none after it late. They count from when the first piece really went out.
The loop that this runs in must have timers finer than a millisecond, see `fine_loop`.
"""

import asyncio
import selectors
from collections.abc import Callable
from dataclasses import dataclass, field

from pacewatch.sim.faults import Effect, How
from pacewatch.sim.http import Reply
from pacewatch.sim.refusals import refuse_midway
from pacewatch.sim.script import Ask, Piece, Script, pieces_of
from pacewatch.sim.voices.interface import Account, Framing, Stop, Voice

OPENING_SHARE = 0.5
"""Head and opening events go out at this share of the time to first token."""
QUEUE_SHARE = 0.3
"""Share of the time to first token that the provider calls its queue."""
LONGEST_STALL_S = 900.0
"""A stalled stream is broken off after this, seconds."""

CUT_SHARE = 0.25
"""Share of the answer that an endpoint sends first which then stalls or breaks off."""
CLOSING_GAP_S = 0.005
"""The end follows the last text by one token's time, at most this, seconds."""
UNENDED = "client_gone"
"""How an answer has ended that nothing ended."""
_MIDWAY = frozenset({How.RESET, How.CLEAN_CLOSE, How.GARBAGE})
"""What a server does that is broken in the middle of an answer."""
LOOK_S = 0.1
"""How often a stalled stream looks whether it may go on, seconds."""


@dataclass(slots=True, kw_only=True)
class Sent:
    """What of an answer went out, and when; seconds from the request's last byte."""

    end: str = UNENDED
    """`complete`, `client_gone`, `disconnected`, `stream_error`, `filtered`, `empty`, `broken`."""
    reasoning_tokens: int = 0
    answer_tokens: int = 0
    first_tokens: int = 0
    """Tokens of the first piece."""
    first_s: float | None = None
    last_s: float | None = None
    late_s: float = 0.0
    """The most by which a piece went out after its moment."""
    faults: set[str] = field(default_factory=set)
    """Kinds of the faults that were on at any moment of it."""

    @property
    def tokens(self) -> int:
        """Return all tokens that went out."""
        return self.reasoning_tokens + self.answer_tokens

    @property
    def tokens_per_s(self) -> float | None:
        """Return the speed that really was sent; None for less than two pieces."""
        if self.first_s is None or self.last_s is None or self.last_s <= self.first_s:
            return None
        return (self.tokens - self.first_tokens) / (self.last_s - self.first_s)


def fine_loop() -> asyncio.AbstractEventLoop:
    """Return a loop whose timers are exact to microseconds; epoll rounds up to milliseconds."""
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


async def pause_until(moment_s: float) -> None:
    """Return at the moment of the running loop's clock, at once where it has passed."""
    left_s = moment_s - asyncio.get_running_loop().time()
    if left_s > 0:
        await asyncio.sleep(left_s)


class Stream:
    """One answer on its way."""

    def __init__(  # noqa: PLR0913 - what one answer is made of
        self,
        *,
        reply: Reply,
        voice: Voice,
        framing: Framing,
        ask: Ask,
        script: Script,
        received_s: float,
        effect: Callable[[], Effect],
    ) -> None:
        """Take what to send; `effect` tells the faults that the request meets now."""
        self.sent = Sent()
        self._reply = reply
        self._voice = voice
        self._framing = framing
        self._script = script
        self._ask = ask
        self._received_s = received_s
        self._effect = effect
        met = self._meet()
        self._factor = met.factor
        self._ttft_s = script.ttft_s + script.hidden_s / met.factor + met.ttft_add_s
        self._due_s = received_s + self._ttft_s
        self._paced_s = 0.0

    async def send(self) -> None:
        """Send all of it; raises ConnectionError where the other side went away."""
        await pause_until(self._received_s + self._ttft_s * OPENING_SHARE)
        await self._reply.start(self._voice.headers())
        if opening := self._voice.opening():
            await self._reply.send(opening)
        is_packed = False
        for piece in pieces_of(self._script):
            if not await self._may_go(piece):
                return
            said = self._voice.piece(piece)
            went_s = asyncio.get_running_loop().time()
            if said:
                await self._reply.send(said)
            self._note(piece, went_s)
            is_packed = not said
        if not is_packed:
            gap_s = min(1 / self._script.tokens_per_s, CLOSING_GAP_S)
            await pause_until(self._due_s + gap_s)
        await self._close(Stop.LIMIT if self._script.cut else Stop.END, "complete")

    async def _close(self, stop: Stop, end: str) -> None:
        await self._reply.end(self._voice.closing(self.account(stop)))
        self.sent.end = end

    async def _may_go(self, piece: Piece) -> bool:
        """Wait for the piece's moment; False where a fault ends the stream before it."""
        if self.sent.tokens:
            took_s = piece.tokens / (self._script.tokens_per_s * self._factor)
            self._due_s += took_s
            self._paced_s += took_s
        await pause_until(self._due_s)
        met = self._meet()
        self._factor = met.factor
        if met.is_empty and not self.sent.tokens:
            await self._close(Stop.END, "empty")
            return False
        if self.sent.tokens < self._script.tokens * CUT_SHARE:
            return True
        if met.is_stalled:
            await self._stall()
            met = self._meet()
        return not await self._is_ended_by(met)

    async def _is_ended_by(self, met: Effect) -> bool:
        """End the stream where a fault says so; tells whether one did."""
        if met.is_disconnected:
            self._reply.cut()
            self.sent.end = "disconnected"
        elif met.trouble is not None:
            await self._reply.end(self._voice.trouble(refuse_midway(met.trouble)))
            self.sent.end = "stream_error"
        elif met.is_filtered:
            await self._close(Stop.FILTER, "filtered")
        elif met.how in _MIDWAY:
            await self._break(met.how)
            self.sent.end = "broken"
        return self.sent.end != UNENDED

    async def _break(self, how: How | None) -> None:
        if how is How.RESET:
            self._reply.reset()
        elif how is How.GARBAGE:
            await self._reply.end(self._framing.garbage())
        else:
            await self._reply.raw(b"0\r\n\r\n")

    def _meet(self) -> Effect:
        """Return the faults that are on now, and note that they were met."""
        met = self._effect()
        self.sent.faults.update(met.kinds)
        return met

    async def _stall(self) -> None:
        """Wait until the fault is taken away; what follows is due from then on."""
        clock = asyncio.get_running_loop().time
        began_s = clock()
        while self._meet().is_stalled:
            if self._reply.is_gone() or clock() > began_s + LONGEST_STALL_S:
                self._reply.cut()
                raise ConnectionAbortedError
            await asyncio.sleep(LOOK_S)
        self._paced_s += clock() - began_s
        self._due_s = clock()

    def _note(self, piece: Piece, went_s: float) -> None:
        sent = self.sent
        sent.late_s = max(sent.late_s, went_s - self._due_s)
        if sent.first_s is None:
            sent.first_s = went_s - self._received_s
            sent.first_tokens = piece.tokens
            self._due_s = went_s  # a late start delays the answer, it does not hurry it
        sent.last_s = went_s - self._received_s
        if piece.is_reasoning:
            sent.reasoning_tokens += piece.tokens
        else:
            sent.answer_tokens += piece.tokens

    def account(self, stop: Stop) -> Account:
        """Return what the provider bills for what has been sent, and what it knows of its time."""
        return Account(
            prompt_tokens=self._ask.prompt_tokens,
            cached_tokens=self._ask.cached_tokens,
            reasoning_tokens=self.sent.reasoning_tokens + self._script.hidden_tokens,
            answer_tokens=self.sent.answer_tokens,
            queue_s=self._ttft_s * QUEUE_SHARE,
            prompt_s=self._ttft_s * (1 - QUEUE_SHARE),
            completion_s=self._paced_s,
            stop=stop,
        )
