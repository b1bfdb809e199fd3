"""A small stand-in for a server of one's own: OpenAI's chat completions, streamed."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = ["The", " quick", " brown", " fox", " jumps", " over", " the", " lazy", " dog", " again"]


class _Chat(BaseHTTPRequestHandler):
    """Streams ten tokens, 10 ms apart, and sends no usage."""

    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        asked = json.loads(self.rfile.read(length))
        if self.server.key and self.headers.get("authorization") != f"Bearer {self.server.key}":
            self.send_error(401)
            return
        if self.path != "/v1/chat/completions" or asked.get("model") != "smollm2":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for word in WORDS:
            self._send({"index": 0, "delta": {"content": word}, "finish_reason": None})
            time.sleep(0.01)
        self._send({"index": 0, "delta": {}, "finish_reason": "stop"})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _send(self, choice: dict[str, object]) -> None:
        event = {"object": "chat.completion.chunk", "model": "smollm2", "choices": [choice]}
        self._chunk(b"data: " + json.dumps(event).encode() + b"\n\n")

    def _chunk(self, body: bytes) -> None:
        self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        return


class _Server(ThreadingHTTPServer):
    key = ""
    """What a request must bring; nothing where it is empty."""


@contextmanager
def standin(*, key: str = "") -> Iterator[str]:
    """The server on a free port of loopback; gives its base URL."""
    server = _Server(("127.0.0.1", 0), _Chat)
    server.key = key
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
