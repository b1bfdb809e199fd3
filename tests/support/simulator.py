"""A simulator in a process of its own, on real sockets: what a suite's probe speaks to."""

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pacewatch.sim.address import FILE_NAME, Address, read_address
from pacewatch.sim.door import Door
from pacewatch.sim.simulator import ANSWERS_LOG, REQUESTS_LOG, Plan
from pacewatch.words.endpoint import Auth, Endpoint, Precision, Protocol
from pacewatch.words.fleet import Region
from support.servers import short_folder

_CHILD = (
    "import pickle, sys; from pacewatch.sim.simulator import serve; "
    "serve(pickle.load(sys.stdin.buffer))"
)


def make_endpoint(
    id: str = "groq/llama-3.3-70b",
    *,
    base_url: str = "https://api.groq.com/openai/v1",
    protocol: Protocol = Protocol.OPENAI_CHAT,
    auth: Auth = Auth.NONE,
    tokens_per_s: float | None = 322.0,
    **more: Any,
) -> Endpoint:
    """Return an endpoint as the demo asks it; its model's name is its provider_model."""
    provider, _, model = id.partition("/")
    values = {
        "provider_name": provider.title(),
        "model": model,
        "provider_model": model,
        "precision": Precision.UNKNOWN,
        **more,
    }
    return Endpoint(
        id=id,
        provider=provider,
        base_url=base_url,
        protocol=protocol,
        auth=auth,
        published_tokens_per_s=tokens_per_s,
        **values,
    )


def make_anthropic_endpoint(**more: Any) -> Endpoint:
    """Return the 62 tokens/s endpoint that speaks anthropic-messages."""
    values = {
        "id": "anthropic/claude-opus-4.8",
        "base_url": "https://api.anthropic.com/v1",
        "protocol": Protocol.ANTHROPIC,
        "tokens_per_s": 62.0,
        "provider_model": "claude-opus-4-8",
        **more,
    }
    return make_endpoint(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningSimulator:
    """A simulator that runs."""

    address: Address
    state: Path
    pid: int

    def region(self, name: str) -> Region:
        """Return the region as a fleet of the demo has it."""
        return Region(name=name, simulator_url=self.address.regions[name])

    def switch_on(self, kind: str, target: str, **options: Any) -> None:
        """Switch a fault on."""
        status, told = self.control("POST", "/faults", kind=kind, target=target, **options)
        assert status == 200, told

    def clear(self) -> None:
        """Take all faults away."""
        assert self.control("DELETE", "/faults")[0] == 200

    def control(
        self, method: str, path: str, *, token: str | None = None, **body: Any
    ) -> tuple[int, Any]:
        """Ask the control; returns status and JSON."""
        connection = HTTPConnection(urlsplit(self.address.url).netloc, timeout=10)
        headers = {"authorization": f"Bearer {token or self.address.token}"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        return answer.status, told

    def requests(self) -> list[dict[str, Any]]:
        """Return the log of all that was asked."""
        return _lines(self.state / REQUESTS_LOG)

    def answers(self) -> list[dict[str, Any]]:
        """Return the log of what was sent, one line for each request that is over."""
        return _lines(self.state / ANSWERS_LOG)

    def settled_answers(self) -> list[dict[str, Any]]:
        """Return the log of what was sent once every request is over: a client may know of its end
        before the simulator has written it down.
        """
        end = time.monotonic() + 20
        while len(found := self.answers()) < len(self.requests()):
            assert time.monotonic() < end, "a request is not over"
            time.sleep(0.02)
        return found

    def sent_as(self, request_id: str) -> dict[str, Any]:
        """Return what was sent to the request of that id, once every request is over."""
        (found,) = [one for one in self.settled_answers() if one["x-request-id"] == request_id]
        return found


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@contextmanager
def running_simulator(
    *endpoints: Endpoint,
    regions: tuple[str, ...] = ("eu-west",),
    doors: Mapping[str, Door] | None = None,
    exact: bool = True,
) -> Iterator[RunningSimulator]:
    """A simulator that serves the endpoints; `exact` leaves out all spread of times. Each of
    `doors` is a further region that is entered so.
    """
    doors = doors or {}
    with short_folder() as state:
        ports = dict.fromkeys((*regions, *doors), 0)
        plan = Plan(endpoints=endpoints, ports=ports, state=state, doors=doors, exact=exact)
        process = subprocess.Popen([sys.executable, "-c", _CHILD], stdin=subprocess.PIPE)
        assert process.stdin
        try:
            pickle.dump(plan, process.stdin)
            process.stdin.close()
            _wait_for(state / FILE_NAME, process)
            yield RunningSimulator(address=read_address(state), state=state, pid=process.pid)
        finally:
            process.terminate()
            process.wait(10)


def _wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 20
    while not file.exists():
        assert process.poll() is None, "the simulator stopped"
        assert time.monotonic() < end, "the simulator did not start"
        time.sleep(0.01)
