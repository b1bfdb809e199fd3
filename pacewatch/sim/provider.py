"""Answers requests as the providers do, and logs what was asked and sent.

One `ProviderDesk` a region; all share faults and logs.
"""

import re
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pacewatch.sim.broken import Broken, Trickling
from pacewatch.sim.error_forms import error_answer
from pacewatch.sim.faults import Effect, Faults, How
from pacewatch.sim.http import Reply, Request
from pacewatch.sim.kept_prompts import KeptPrompts
from pacewatch.sim.requestlog import LineLog
from pacewatch.sim.route import Asked, Refused, Routes, Served
from pacewatch.sim.script import Ask, Script, make_script, way_s
from pacewatch.sim.sse import to_json
from pacewatch.sim.stream import Stream
from pacewatch.sim.voices.interface import Stop
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.slot import to_rfc3339

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class ProviderDesk:
    """All providers, as one region sees them."""

    def __init__(  # noqa: PLR0913 - what a desk shares with the others
        self,
        *,
        region: str,
        served: tuple[Served, ...],
        faults: Faults,
        kept: KeptPrompts,
        requests: LineLog,
        answers: LineLog,
        exact: bool,
        seed: str,
    ) -> None:
        """Serve the endpoints to a region; `exact` leaves out all spread of times."""
        self._region = region
        self._routes = Routes(served)
        self._faults = faults
        self._kept = kept
        self._requests = requests
        self._answers = answers
        self._exact = exact
        self._seed = seed
        self._counts: Counter[str] = Counter()

    async def answer(self, request: Request, reply: Reply) -> None:
        """Answer one request; raises ConnectionError where the connection broke."""
        request_id = _request_id(request)
        meant = self._routes.understand(request, lambda e: self._effect(e).refused)
        self._requests.write(self._line(meant, request_id))
        if isinstance(meant, Refused):
            await self._refuse(meant, reply, request_id)
        else:
            await self._stream(meant, request, reply, request_id)

    def _effect(self, endpoint: Endpoint) -> Effect:
        return self._faults.effect(
            endpoint=endpoint.id, provider=endpoint.provider, region=self._region
        )

    async def _refuse(self, refused: Refused, reply: Reply, request_id: str) -> None:
        refusal = refused.refusal
        answer = error_answer(refused.provider, refused.protocol, refusal, request_id)
        headers = dict(answer.headers)
        if refusal.retry_after_s is not None:
            headers["retry-after"] = str(refusal.retry_after_s)
        if 300 <= answer.status < 400:
            headers["location"] = "/moved"
        met = self._faults.effect(
            endpoint=refused.endpoint or "", provider=refused.provider, region=self._region
        )
        self._answers.write(
            {
                **self._line(refused, request_id),
                "status": answer.status,
                "end": "refused",
                "tokens": 0,
                "faults": met.kinds,
            }
        )
        await reply.whole(answer.status, to_json(answer.body), headers)

    async def _stream(self, asked: Asked, request: Request, reply: Reply, request_id: str) -> None:
        endpoint, speaker = asked.served.endpoint, asked.served.speaker
        met = self._effect(endpoint)
        ask = self._recalled(endpoint, asked.ask) if met.keeps_prompts else asked.ask
        number = self._counts[endpoint.id]
        self._counts[endpoint.id] += 1
        script = make_script(
            asked.served.nature,
            ask,
            way=way_s(endpoint.provider, self._region),
            seed=f"{self._seed}|{endpoint.id}|{self._region}|{number}",
            exact=self._exact,
        )
        spoken_for = _changed(endpoint) if met.is_changed else endpoint
        voice = speaker.voice(spoken_for, ask, request_id=request_id, created=int(time.time()))
        stream = Stream(
            reply=Trickling.over(reply) if met.how is How.TRICKLE else reply,
            voice=voice,
            framing=speaker.framing,
            ask=ask,
            script=script,
            received_s=request.received_s,
            effect=lambda: self._effect(endpoint),
        )
        broken = Broken(reply, voice, speaker.framing)
        try:
            if met.how is not None and broken.can(met.how):
                stream.sent.end = "broken"
                await broken.send(met.how)
            else:
                await stream.send()
        finally:
            self._answers.write({**self._line(asked, request_id), **_sent_line(stream, script)})

    def _recalled(self, endpoint: Endpoint, ask: Ask) -> Ask:
        """Return what is asked with the tokens of the prompt that the provider knew already."""
        return replace(ask, cached_tokens=self._kept.keep(endpoint.provider, ask.prompt_start))

    def _line(self, meant: Asked | Refused, request_id: str) -> dict[str, Any]:
        endpoint = meant.served.endpoint.id if isinstance(meant, Asked) else meant.endpoint
        return {
            "at": to_rfc3339(datetime.now(UTC)),
            "region": self._region,
            "endpoint": endpoint,
            "x-request-id": request_id,
        }


def _changed(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with the name by which another version of its model answers."""
    return replace(endpoint, provider_model=f"{endpoint.provider_model}-changed")


def _sent_line(stream: Stream, script: Script) -> dict[str, Any]:
    sent, billed = stream.sent, stream.account(Stop.END)
    return {
        "status": 200,
        "end": sent.end,
        "tokens": sent.tokens,
        "reasoning_tokens": sent.reasoning_tokens,
        "billed": {
            "input": billed.prompt_tokens,
            "output": billed.output_tokens,
            "reasoning": billed.reasoning_tokens,
            "cached_input": billed.cached_tokens,
        },
        "planned_ttft_s": round(script.ttft_s + script.hidden_s, 6),
        "planned_tokens_per_s": round(script.tokens_per_s, 3),
        "ttft_s": _rounded(sent.first_s),
        "end_to_end_s": _rounded(sent.last_s),
        "tokens_per_s": _rounded(sent.tokens_per_s),
        "late_s": _rounded(sent.late_s),
        "faults": sorted(sent.faults),
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)


def _request_id(request: Request) -> str:
    """Return the id that the request brought, or a new one."""
    brought = request.headers.get("x-request-id", "")
    if _REQUEST_ID.fullmatch(brought):
        return brought
    return f"req-{uuid4().hex}"
