"""What a broken server puts on the wire in place of an answer.

Nearly everything here would go on for ever; it ends when the other side goes away, and at
LONGEST_S.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Mapping

from pacewatch.sim.faults import How
from pacewatch.sim.http import Reply
from pacewatch.sim.script import Piece
from pacewatch.sim.voices.interface import Framing, Voice

LONGEST_S = 900.0
"""Longer than any client waits, seconds."""
PORTION_BYTES = 65_536
"""Sent at once of what has no end."""
LINE_BYTES = 300_000_000
"""Of a line, or a message, that is too long."""
EVENTS_AT_ONCE = 200
DRIP_S = 0.5
"""Between the bytes of a head that drips, and between the comments of a line kept alive."""
LOOK_S = 0.1
"""How often a silent server looks whether the other side is still there, seconds."""

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
_PAGE = b"<!doctype html><title>Welcome</title><p>The service is being looked after.</p>"
_SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
_GOAWAY = b"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"


class Broken:
    """One answer of a broken server."""

    def __init__(self, reply: Reply, voice: Voice, framing: Framing) -> None:
        """Answer in the words of the voice, as far as there are words."""
        self._reply = reply
        self._voice = voice
        self._framing = framing
        self._ways: Mapping[How, Callable[[], Awaitable[None]]] = {
            How.SILENT: self._be_silent,
            How.SLOW_HEAD: self._drip_head,
            How.ENDLESS_HEAD: self._head_without_end,
            How.HTML: self._page,
            How.HTTP2: self._speak_http2,
            How.LONG_LINE: self._long_line,
            How.ENDLESS: self._write_on,
            How.ENDLESS_NOTHING: self._say_nothing,
            How.KEEP_ALIVE: self._keep_alive,
            How.BOMB: self._bomb,
        }

    def can(self, how: How) -> bool:
        """Tell whether that way replaces the whole answer."""
        return how in self._ways

    async def send(self, how: How) -> None:
        """Send it; the connection is of no use afterwards.

        Raises ConnectionError where the other side went away.
        """
        try:
            async with asyncio.timeout(LONGEST_S):
                await self._ways[how]()
        finally:
            self._reply.cut()

    async def _be_silent(self) -> None:
        while True:
            if self._reply.is_gone():
                return
            await asyncio.sleep(LOOK_S)

    async def _drip_head(self) -> None:
        head = _HEAD + b"x-padding: " + b"." * 10_000
        for at in range(len(head)):
            await self._reply.raw(head[at : at + 1])
            await asyncio.sleep(DRIP_S)

    async def _head_without_end(self) -> None:
        await self._reply.raw(_HEAD)
        line = b"x-padding: " + b"." * 200 + b"\r\n"
        await self._for_ever(self._reply.raw, line * (PORTION_BYTES // len(line)))

    async def _page(self) -> None:
        await self._reply.whole(200, _PAGE, {"content-type": "text/html", "connection": "close"})
        await self._be_silent()

    async def _speak_http2(self) -> None:
        await self._reply.raw(_SETTINGS + _GOAWAY)
        await self._be_silent()

    async def _long_line(self) -> None:
        await self._start(self._framing.unending())
        for _ in range(LINE_BYTES // PORTION_BYTES):
            await self._reply.send(b"x" * PORTION_BYTES)

    async def _write_on(self) -> None:
        await self._start(self._voice.opening())
        piece = Piece(text=" on", tokens=1, is_reasoning=False, is_last=False)
        await self._reply.send(self._voice.piece(piece))
        again = b"".join(self._voice.piece(piece) for _ in range(EVENTS_AT_ONCE))
        await self._for_ever(self._reply.send, again)

    async def _say_nothing(self) -> None:
        await self._start(self._voice.opening())
        await self._for_ever(self._reply.send, self._framing.nothing(PORTION_BYTES // 2))

    async def _keep_alive(self) -> None:
        await self._start(self._voice.opening())
        while True:
            await self._reply.send(self._framing.nothing(0))
            await asyncio.sleep(DRIP_S)

    async def _bomb(self) -> None:
        await self._reply.start({**self._voice.headers(), "content-encoding": "gzip"})
        packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
        line = self._framing.nothing(1_000)
        begun = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
        many = packer.compress(line * 1_000) + packer.flush(zlib.Z_FULL_FLUSH)
        await self._reply.send(begun + many)
        await self._for_ever(self._reply.send, many * (PORTION_BYTES // len(many)))

    async def _start(self, first: bytes) -> None:
        await self._reply.start(self._voice.headers())
        if first:
            await self._reply.send(first)

    async def _for_ever(self, send: Callable[[bytes], Awaitable[None]], portion: bytes) -> None:
        while True:
            await send(portion)
            await asyncio.sleep(0)


class Trickling(Reply):
    """A reply that sends each byte of a stream by itself."""

    @classmethod
    def over(cls, reply: Reply) -> "Trickling":
        """Return one on the connection of a reply."""
        return cls(*reply.connection)

    async def send(self, piece: bytes) -> None:
        """Send a piece byte by byte; raises ConnectionError where nobody is there."""
        for at in range(len(piece)):
            await super().send(piece[at : at + 1])

    async def end(self, piece: bytes) -> None:
        """Send the last piece of a stream byte by byte, and its end."""
        await self.send(piece)
        await self.raw(b"0\r\n\r\n")
