"""A real Alertmanager by the shipped configuration, and those whom it tells: Slack, PagerDuty and
a service that waits for the watchdog, on one HTTP server of the tests' own.
"""

import http.client
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from support.stack import free_port, until

SHIPPED = Path(__file__).parents[2] / "deploy/alertmanager"


class Told:
    """What was told, in order: to whom, and the message."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, dict[str, Any]]] = []

    def to(self, whom: str) -> list[dict[str, Any]]:
        """The messages to one of them."""
        return [message for name, message in self.messages if name == whom]

    def titles(self) -> list[str]:
        """The first lines of what Slack was told, in order."""
        return [message["attachments"][0]["title"] for message in self.to("slack")]

    def texts(self) -> list[str]:
        """What Slack was told below them, in order."""
        return [message["attachments"][0]["text"] for message in self.to("slack")]


@contextmanager
def _listeners(told: Told) -> Iterator[str]:
    """An HTTP server that takes any message; gives its address."""

    class Taker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            told.messages.append((self.path.removeprefix("/"), json.loads(body)))
            self.send_response(202 if self.path == "/pagerduty" else 200)
            self.end_headers()
            self.wfile.write(b'{"status": "success"}')

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taker)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _configuration(text: str, folder: Path, listeners: str) -> str:
    """The shipped configuration with its waits shortened, its addresses those of the tests, and
    demos told as what is real is.
    """
    changes = {
        "global:\n": f"global:\n  pagerduty_url: {listeners}/pagerduty\n",
        "/etc/alertmanager/secrets": str(folder),
        "templates/*.tmpl": f"{SHIPPED}/templates/*.tmpl",
        "group_wait: 30s": "group_wait: 1s",
        "group_interval: 5m": "group_interval: 1s",
        "'simulated=\"true\"'": "'simulated=\"never\"'",
        "    # webhook_configs": "    webhook_configs",
        "https://deadman.example/pacewatch": f"{listeners}/watchdog",
    }
    for shipped, ours in changes.items():
        assert shipped in text, shipped
        text = text.replace(shipped, ours)
    return text


@contextmanager
def running_alertmanager(folder: Path) -> Iterator[tuple[str, Told]]:
    """An Alertmanager with its files below the folder: its host:port, and what it tells."""
    program = shutil.which("prometheus-alertmanager")
    assert program, "prometheus-alertmanager is missing; scripts/tools installs it"
    told = Told()
    home = folder / "alertmanager"
    home.mkdir()
    with _listeners(told) as listeners, (home / "log").open("wb") as log:
        (home / "slack-url").write_text(f"{listeners}/slack\n")
        (home / "pagerduty-key").write_text("key\n")
        text = (SHIPPED / "alertmanager.yml").read_text("utf-8")
        (home / "alertmanager.yml").write_text(_configuration(text, home, listeners))
        listen = f"127.0.0.1:{free_port()}"
        process = subprocess.Popen(
            [
                program,
                f"--config.file={home}/alertmanager.yml",
                f"--storage.path={home}/data",
                f"--web.listen-address={listen}",
                "--cluster.listen-address=",
            ],
            stdout=log,
            stderr=log,
        )
        try:
            until(lambda: _is_ready(listen))
            yield listen, told
        finally:
            process.terminate()
            process.wait(60)


def _is_ready(listen: str) -> bool:
    connection = http.client.HTTPConnection(listen, timeout=10)
    try:
        connection.request("GET", "/-/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
