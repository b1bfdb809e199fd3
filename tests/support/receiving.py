"""A service that takes messages over HTTP on the loopback: it may refuse, hang, or be away."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Receiver:
    """What came, and how the next is answered."""

    def __init__(self) -> None:
        self.got: list[dict] = []
        self.keys: list[str | None] = []
        """The messages' own keys, as their headers tell them."""
        self.status = 200
        self.before_answer: Callable[[], object] = lambda: None
        """Called when a message has come and no answer has gone out."""
        self.came = threading.Event()
        self.port = 0

    @property
    def titles(self) -> list[str]:
        """The first lines of what was taken."""
        return [one["title"] for one in self.got]


@contextmanager
def receiving(port: int = 0, *, certificate: Path | None = None) -> Iterator[Receiver]:
    """A receiver that answers 200 and keeps each JSON body; over TLS where it has a certificate."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            receiver.keys.append(self.headers["Idempotency-Key"])
            receiver.got.append(body)
            receiver.came.set()
            receiver.before_answer()
            try:
                self.send_response(receiver.status)
                self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()
            except OSError:  # who asked is gone
                return

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
