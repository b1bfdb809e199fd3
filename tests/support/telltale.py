"""A provider that tells all it was told: the key and the prompt, as an answer or an error."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Telltale(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Telltale"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0"))).decode()
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        self.server.heard += [key, json.loads(body)["messages"][0]["content"]]
        told = f"{key} said {body}"
        if self.server.answers:
            delta = {"choices": [{"index": 0, "delta": {"content": told}, "finish_reason": "stop"}]}
            text = f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n"
            self._send(200, "text/event-stream", text)
        else:
            error = {"message": told, "type": told, "code": told, "param": told}
            self._send(400, "application/json", json.dumps({"error": error}))

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("x-request-id", "req_7d1")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


class Telltale(ThreadingHTTPServer):
    """The server; `heard` are the keys and prompts that came, `answers` whether it answers well."""

    heard: list[str]
    answers = True


@contextmanager
def telltale() -> Iterator[tuple[Telltale, str]]:
    """Serve on a free port of loopback; give the server and its base URL."""
    server = Telltale(("127.0.0.1", 0), _Telltale)
    server.heard = []
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
