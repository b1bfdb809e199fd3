"""The simulator's control: switch faults on and off, over HTTP on loopback, with a token.

GET    /faults                        the faults that are on
POST   /faults                        switch one on: kind, target, and what the kind takes
DELETE /faults  {target, region}      take faults away; both may be missing: all of them
GET    /endpoints                     what is served, and how fast it is on an ordinary day
"""

import hmac
import json
import logging
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any

from pacewatch.log import event
from pacewatch.sim.faults import Faults, check_region, check_target, fault_json, parse_fault
from pacewatch.sim.http import Reply, Request
from pacewatch.sim.route import Served
from pacewatch.sim.sse import to_json
from pacewatch.words.errors import WireError

logger = logging.getLogger(__name__)


class Control:
    """Answers requests of the control; only those that show the token."""

    def __init__(
        self,
        *,
        token: str,
        faults: Faults,
        served: Collection[Served],
        regions: Collection[str],
    ) -> None:
        """Control the faults of what is served."""
        self._token = token
        self._faults = faults
        self._served = {one.endpoint.id: one for one in served}
        self._regions = regions

    async def answer(self, request: Request, reply: Reply) -> None:
        """Answer one request; raises ConnectionError where the connection broke."""
        status, told = self._do(request)
        headers = {} if status < 400 else {"content-type": "application/problem+json"}
        await reply.whole(status, to_json(told), headers)

    def _do(self, request: Request) -> tuple[int, dict[str, Any]]:
        shown = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(shown, f"Bearer {self._token}".encode()):
            return _problem(401, "control: the token is missing or wrong")
        try:
            match request.method, request.path:
                case "GET", "/faults":
                    return 200, self._list()
                case "POST", "/faults":
                    return self._switch_on(_read(request.body))
                case "DELETE", "/faults":
                    return self._clear(_read(request.body))
                case "GET", "/endpoints":
                    return 200, {"endpoints": [_nature_json(s) for s in self._served.values()]}
        except WireError as error:
            return _problem(422, str(error))
        return _problem(404, f"control: no {request.method[:20]} {request.path[:200]}")

    def _list(self) -> dict[str, Any]:
        return {"faults": [fault_json(fault) for fault in self._faults.on]}

    def _switch_on(self, raw: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        fault = parse_fault(raw, endpoints=self._served, regions=self._regions)
        self._faults.switch_on(fault)
        event(logger, "fault.switched_on", **fault_json(fault))
        return 200, self._list()

    def _clear(self, raw: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        target = raw.get("target")
        if target is not None:
            target = check_target(target, self._served)
        region = check_region(raw.get("region"), self._regions)
        cleared = self._faults.clear(target, region)
        event(logger, "fault.cleared", target=target, region=region, cleared=cleared)
        return 200, {"cleared": cleared, **self._list()}


def _read(body: bytes) -> dict[str, Any]:
    try:
        read = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise WireError("control: a JSON object is needed")
    return read


def _nature_json(served: Served) -> dict[str, Any]:
    return {
        "endpoint": served.endpoint.id,
        "path": served.path,
        "model": served.endpoint.provider_model,
        "tokens_per_s": served.nature.tokens_per_s,
        "ttft_s": served.nature.ttft_s,
        "tokens_per_chunk": served.nature.block_tokens,
    }


def _problem(status: int, detail: str) -> tuple[int, dict[str, Any]]:
    return status, {"status": status, "title": HTTPStatus(status).phrase, "detail": detail}
