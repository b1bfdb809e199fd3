"""Work that blocks, in a thread that nobody has to wait for."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_Found = TypeVar("_Found")


async def apart(work: Callable[[], _Found], *, name: str) -> _Found:
    """Return what `work` returns, or raise what it raises; the event loop goes on meanwhile.

    Unlike a thread of the loop's own pool this one is left to itself when its caller gives up, also
    at the end of the loop and of the process.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Found] = loop.create_future()

    def tell(found: _Found | None, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(found)  # type: ignore[arg-type]

    def run() -> None:
        found, failure = None, None
        try:
            found = work()
        except Exception as error:  # noqa: BLE001 - handed on to who waits
            failure = error
        with suppress(RuntimeError):  # the loop has been closed meanwhile
            loop.call_soon_threadsafe(tell, found, failure)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await done
