"""A small real HTTP server in the aggregator's place, whose answers a test chooses: what the real
one says only in trouble can be had from it at once.
"""

import gzip
import json
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pacewatch.words.slot import to_rfc3339

Answer = tuple[int, dict[str, str], dict[str, Any] | None]
"""Status, headers, body; a body of None answers by the book."""


class Inlet(ThreadingHTTPServer):
    """What came in, and what is answered: `script` first, then by the book."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.script: deque[Answer] = deque()
        self.sizes: list[int] = []
        """Runs of each push, in order."""
        self.stored: dict[str, dict[str, Any]] = {}
        """Records by execution."""
        self.statuses: dict[str, str] = {}
        """What is said of a run instead of stored, by run id."""
        self.heartbeats: list[dict[str, Any]] = []
        self.tokens: set[str | None] = set()
        self.paused = False
        self.suspected_at: str | None = None
        self.down = False
        """Answers everything with 503."""
        self.changed = threading.Condition()

    def wait_until(self, holds: Any, timeout_s: float = 30) -> None:
        """Wait until `holds(self)`; a test that waits longer fails."""
        with self.changed:
            assert self.changed.wait_for(lambda: holds(self), timeout_s), "waited in vain"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a worker that was killed while it was spoken to."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def runs(self) -> list[str]:
        return [record["run"] for record in self.stored.values()]


class _Handler(BaseHTTPRequestHandler):
    server: Inlet
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        told = json.loads(body)
        inlet = self.server
        with inlet.changed:
            inlet.tokens.add(self.headers.get("authorization"))
            status, headers, answer = self._answer(told)
            inlet.changed.notify_all()
        packed = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(packed))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(packed)

    def _answer(self, told: dict[str, Any]) -> Answer:
        inlet = self.server
        now = to_rfc3339(datetime.now(UTC))
        if inlet.down:
            return 503, {}, {}
        if self.path == "/v1/workers":
            inlet.heartbeats.append(told)
            answer = {"now": now, "paused": inlet.paused, "catalog": told["catalog"]}
            return 200, {}, answer | {"suspected_at": inlet.suspected_at}
        inlet.sizes.append(len(told["runs"]))
        if inlet.script:
            status, headers, answer = inlet.script.popleft()
            if answer is not None or status != 200:
                return status, headers, answer
        return 200, {}, {"results": [self._take(record) for record in told["runs"]], "now": now}

    def _take(self, record: dict[str, Any]) -> dict[str, Any]:
        inlet = self.server
        status = inlet.statuses.get(record["run"], "stored")
        if status in {"stored", "held", "duplicate"}:
            if record["execution"] in inlet.stored:
                status = "held"
            inlet.stored[record["execution"]] = record
        return {
            "run": record["run"],
            "execution": record["execution"],
            "status": status,
            "reason": "as the test wants it" if status == "refused" else None,
        }

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served_inlet(port: int = 0) -> Iterator[Inlet]:
    """A served inlet, on a free port unless said."""
    inlet = Inlet(port)
    thread = threading.Thread(target=inlet.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield inlet
    finally:
        inlet.shutdown()
        thread.join()
        inlet.server_close()
