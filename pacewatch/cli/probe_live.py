"""The answers of a run while they come: a track of columns each, renewed ten times a second.

What is drawn costs the figures nothing where a process of its own reads the sockets: stamps are
the kernel's, and what is read on later has them.
"""

import asyncio
from collections.abc import Sequence
from time import monotonic_ns

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from pacewatch.cli.columns import columns_text
from pacewatch.words.outcome import Outcome
from pacewatch.words.text import plural, seconds_text, word_text
from probe.seen import Seen

EVERY_S = 0.1
FIRST_SPAN_NS = 1_000_000_000
"""What a track spans at first; it doubles whenever an answer outgrows it."""

_LEFT, _RIGHT = 4, 16
"""Cells beside a track: the request's number, and how it stands."""


class Track:
    """How much text one answer has brought, slice of time by slice of time."""

    def __init__(self, seen: Seen, began_ns: int, cells: int) -> None:
        """Begin empty, from that moment on, that many cells wide."""
        self.seen = seen
        self.span_ns = FIRST_SPAN_NS
        self.heights = [0] * cells
        self.kinds = [""] * cells
        self._began_ns = began_ns
        self._taken = 0

    def take(self, now_ns: int) -> None:
        """Take in what has come by now."""
        for n in range(self._taken, len(self.seen.kinds)):
            at_ns = max(self.seen.at_ns[n] - self._began_ns, 0)
            while at_ns >= self.span_ns:
                self._double()
            cell = at_ns * len(self.heights) // self.span_ns
            self.heights[cell] += len(self.seen.texts[n])
            self.kinds[cell] = self.seen.kinds[n]
        self._taken = max(self._taken, len(self.seen.kinds))
        while self.seen.ending is None and now_ns - self._began_ns >= self.span_ns:
            self._double()

    def stretch(self, span_ns: int) -> None:
        """Span as much as the others do."""
        while self.span_ns < span_ns:
            self._double()

    def _double(self) -> None:
        cells = len(self.heights)
        pairs = [(cell, cell + 1) for cell in range(0, cells - 1, 2)]
        heights = [self.heights[a] + self.heights[b] for a, b in pairs]
        kinds = [self.kinds[b] or self.kinds[a] for a, b in pairs]
        self.heights = heights + [0] * (cells - len(heights))
        self.kinds = kinds + [""] * (cells - len(kinds))
        self.span_ns *= 2

    @property
    def chunks(self) -> int:
        """Return how many chunks have been taken in."""
        return self._taken

    def standing(self) -> str:
        """Return how the answer stands, in a word or two."""
        if self.seen.ending is not None and self.seen.ending.outcome is not Outcome.OK:
            return word_text(self.seen.ending.outcome)
        return plural(self.chunks, "chunk") if self.chunks else "waiting"


class Picture:
    """All tracks of a run, on one axis of time."""

    def __init__(self, title: str, *, width: int, height: int, has_tracks: bool = True) -> None:
        """Begin before any connection stands; without tracks it is two lines alone."""
        self._title = Text(title, no_wrap=True, overflow="ellipsis")
        self._has_tracks = has_tracks
        self._most = max(height - 5, 1)
        self.cells = max(width - 1 - _LEFT - _RIGHT, 10) // 2 * 2
        self._tracks: Sequence[Track] = ()
        self._began_ns = 0

    def begin(self, seen: Sequence[Seen], now_ns: int) -> None:
        """Draw these answers, from now on."""
        self._began_ns = now_ns
        self._tracks = [Track(one, now_ns, self.cells) for one in seen]

    def draw(self, now_ns: int) -> RenderableType:
        """Return the picture as it is now."""
        if not self._tracks:
            return Group(self._title, Text("connecting"))
        for track in self._tracks:
            track.take(now_ns)
        said = Text(self._standing(now_ns))
        if not self._has_tracks:
            return Group(self._title, said)
        span_ns = max(track.span_ns for track in self._tracks)
        for track in self._tracks:
            track.stretch(span_ns)
        lines = [self._line(n, track, now_ns) for n, track in enumerate(self._tracks[: self._most])]
        hidden = len(self._tracks) - len(lines)
        more = [Text(f"and {hidden} more", style="dim")] if hidden else []
        return Group(self._title, *lines, *more, self._axis(span_ns), said)

    def _line(self, n: int, track: Track, now_ns: int) -> Text:
        passed = min((now_ns - self._began_ns) * self.cells // track.span_ns, self.cells)
        number = "" if len(self._tracks) == 1 else str(n + 1)
        line = Text(number.rjust(_LEFT - 1) + " ", no_wrap=True, overflow="crop")
        line.append_text(columns_text(track.heights, track.kinds, passed=passed))
        line.append(" " + track.standing())
        return line

    def _axis(self, span_ns: int) -> Text:
        last = seconds_text(span_ns / 1e9)
        text = " " * _LEFT + "sent".ljust(self.cells - len(last)) + last
        return Text(text, style="dim", no_wrap=True, overflow="crop")

    def _standing(self, now_ns: int) -> str:
        passed = seconds_text((now_ns - self._began_ns) / 1e9)
        over = sum(track.seen.ending is not None for track in self._tracks)
        waiting = sum(not track.chunks and track.seen.ending is None for track in self._tracks)
        if len(self._tracks) > 1:
            coming = len(self._tracks) - over - waiting
            return f"{passed}: {waiting} waiting, {coming} answering, {over} over"
        (track,) = self._tracks
        if waiting:
            return f"{passed}: waiting for the first token"
        return f"{passed}: answering, {track.standing()}"


class Watching:
    """Draws a run on a terminal while it is made; nothing of it stays there."""

    def __init__(self, console: Console, title: str, *, has_tracks: bool) -> None:
        """Draw on that terminal."""
        size = console.size
        self._picture = Picture(title, width=size.width, height=size.height, has_tracks=has_tracks)
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def begin(self, seen: Sequence[Seen]) -> None:
        """Be shown the answers in the making."""
        self._picture.begin(seen, monotonic_ns())

    async def draw(self) -> None:
        """Draw until cancelled."""
        with self._live:
            while True:
                self._live.update(self._picture.draw(monotonic_ns()), refresh=True)
                await asyncio.sleep(EVERY_S)
