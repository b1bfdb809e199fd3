"""Signs of life, read from what the centre answers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pacewatch.stack.pulse import Pulse

AT = "2026-12-02T10:00:00Z"


@contextmanager
def centre(document: dict[str, object], status: int = 200) -> Iterator[Pulse]:
    """What asks a server that answers everything with the document."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield Pulse(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def told(**fields: object) -> dict[str, object]:
    return {"at": AT, "ticked_at": None, "regions": [], **fields}


def test_a_tick_within_45_seconds_is_a_sign_of_life():
    with centre(told(ticked_at="2026-12-02T09:59:15Z")) as pulse:
        assert pulse.has_ticked()


def test_an_older_tick_is_none():
    with centre(told(ticked_at="2026-12-02T09:59:14Z")) as pulse:
        assert not pulse.has_ticked()


def test_a_store_without_a_tick_has_none():
    with centre(told()) as pulse:
        assert not pulse.has_ticked()


def test_a_heartbeat_counts_for_its_own_region_alone():
    regions = [
        {"region": "fra", "last_seen_at": "2026-12-02T09:59:50Z"},
        {"region": "iad", "last_seen_at": None},
    ]
    with centre(told(regions=regions)) as pulse:
        assert [pulse.has_reported(name) for name in ("fra", "iad", "nrt")] == [True, False, False]


def test_a_centre_that_refuses_leaves_everybody_unknown():
    with centre({"detail": "the store is away"}, status=503) as pulse:
        assert pulse.is_unknown()
        assert not pulse.is_serving()


def test_a_centre_that_is_not_there_leaves_everybody_unknown():
    with centre(told()) as pulse:
        pass

    assert pulse.is_unknown()
    assert not pulse.is_alive()
