"""Several requests of one loop: off at once, and read on in turns."""

import asyncio
from collections import deque
from collections.abc import Callable
from time import sleep


class Turns:
    """Lets one answer be read on between two looks at the sockets.

    Ten fast answers are more work than one core has time for: then what has come waits here,
    stamped, and the sockets are still emptied in time.
    """

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_turning = False

    async def wait(self) -> None:
        """Wait for the next turn."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        if not self._is_turning:
            self._is_turning = True
            loop.call_soon(self._next, loop)
        await turn

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                break
        self._is_turning = bool(self._waiting)
        if self._is_turning:
            loop.call_soon(self._next, loop)


class Start:
    """Lets requests leave together: each waits here until all are ready, or have given up."""

    def __init__(self, parties: int) -> None:
        """Begin with how many requests are expected."""
        self.parties = parties
        self.turns = Turns() if parties > 1 else None
        self._missing = parties
        self._ready: list[Callable[[], None]] = []
        self._gone = asyncio.Event()

    async def wait(self, send: Callable[[], None]) -> None:
        """Wait for the others; `send` is called once, right after theirs."""
        self._ready.append(send)
        self.leave()
        await self._gone.wait()

    def leave(self) -> None:
        """Count one request less that is waited for; the last one lets all go."""
        self._missing -= 1
        if self._missing <= 0:
            sleep(0)  # takes the interpreter's lock anew: no thread asks for it back at once
            for send in self._ready:
                send()
            self._ready.clear()
            self._gone.set()
