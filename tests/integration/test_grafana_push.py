"""`grafana push` against an HTTP server that answers as Grafana's API documents it."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from dashboards.publish import DASHBOARDS


class _Grafana(BaseHTTPRequestHandler):
    """Takes dashboards from one token and remembers them."""

    taken: ClassVar[list] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        allowed = self.headers["authorization"] == "Bearer right"
        if allowed and self.path == "/api/dashboards/db":
            self.taken.append(body)
            self._say(200, {"status": "success", "url": f"/d/{body['dashboard']['uid']}"})
        else:
            self._say(401, {"message": "Invalid API key"})

    def _say(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def grafana():
    _Grafana.taken = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Grafana)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _push(url, **environment):
    return subprocess.run(
        [sys.executable, "-m", "pacewatch", "grafana", "push", "--url", url, "--folder", "sre"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_dashboard_is_put_over_what_stands_there(grafana):
    done = _push(grafana, PACEWATCH_GRAFANA_TOKEN="right")

    addresses = "".join(f"{grafana}/d/pacewatch-{name}\n" for name in DASHBOARDS)
    assert (done.returncode, done.stdout) == (0, addresses), done.stderr
    assert len(_Grafana.taken) == len(DASHBOARDS)
    for taken in _Grafana.taken:
        assert taken["overwrite"] is True
        assert taken["folderUid"] == "sre"
        assert taken["dashboard"]["panels"]


def test_a_refused_token_is_one_sentence_without_the_token(grafana):
    done = _push(grafana, PACEWATCH_GRAFANA_TOKEN="wrong-token")

    assert done.returncode == 1
    assert done.stderr.startswith("pacewatch: Grafana: dashboard endpoints was not taken: ")
    assert "wrong-token" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_grafana_that_is_not_there_is_one_sentence():
    done = _push("http://127.0.0.1:9", PACEWATCH_GRAFANA_TOKEN="right")

    assert done.returncode == 1
    assert done.stderr == (
        "pacewatch: Grafana does not answer: connection refused (--url names it)\n"
    )


def test_without_a_token_the_variable_is_named():
    done = _push("http://127.0.0.1:9")

    assert done.returncode == 2
    assert "PACEWATCH_GRAFANA_TOKEN is not set" in done.stderr
