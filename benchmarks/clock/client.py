"""One client under test, in a process of its own on one core: asks together, and writes what it
saw, a line a request; moments are the monotonic clock's, ns.
"""

import argparse
import asyncio
import json
import os
import ssl
import threading
import time
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

ROUND_S = 120.0
PACEWATCH, PLAIN = "pacewatch", "plain"


def main() -> None:
    """Ask as the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=[PACEWATCH, PLAIN])
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--workload", help="ask with prompts of its size")
    parser.add_argument("--ca")
    parser.add_argument("--proxy")
    parser.add_argument("--priority", default="realtime")
    parser.add_argument("--beside", choices=["nothing", "thread", "garbage"], default="nothing")
    parser.add_argument("--core", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    os.sched_setaffinity(0, {asked.core})
    ask = ask_pacewatch if asked.client == PACEWATCH else ask_plain
    disturb(asked.beside)
    told = asyncio.run(ask(asked))
    asked.out.write_text("".join(json.dumps(line) + "\n" for line in told))


def disturb(kind: str) -> None:
    """Begin a thread beside that reckons, or one that makes garbage and counts tokens."""
    work = {"thread": reckon, "garbage": litter}.get(kind)
    if work is not None:
        threading.Thread(target=work, daemon=True).start()


def reckon() -> None:
    """Keep the interpreter busy."""
    x = 1
    while True:
        x = x * 1103515245 + 12345 & 0x7FFFFFFF


def litter() -> None:
    """Make circles for the collector, and count the tokens of a text, again and again."""
    from probe.tokens import count_chunks

    texts = [f" w{n}" for n in range(2_000)]
    while True:
        kept: list[Any] = []
        for _ in range(5_000):
            circle: dict[str, Any] = {}
            circle["self"] = [circle, {"a": 1}, "x" * 10]
            kept.append(circle)
        count_chunks(texts, ["a"] * len(texts))


async def ask_pacewatch(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Ask as a worker does: with a reader process, on connections that are ready."""
    from probe.asking import ask_together
    from probe.reading import Reading
    from probe.request import request_id

    reading, told = Reading(asked.priority), []
    for _ in range(asked.rounds):
        execution = uuid4()
        names = [request_id(execution, n) for n in range(asked.streams)]
        heard = await ask_together([question(asked, name) for name in names], reading)
        told += [
            {"id": str(name), "priority": reading.priority, **line_of(one)}
            for name, one in zip(names, heard, strict=True)
        ]
    await asyncio.to_thread(reading.close)
    return told


def question(asked: argparse.Namespace, name: UUID) -> Any:
    """Return the request that a worker would send."""
    from pacewatch.words.endpoint import Auth, Endpoint, Limits, Precision, Protocol
    from pacewatch.words.fleet import Region
    from pacewatch.words.slot import WORKLOADS
    from probe.prompts import make_prompt
    from probe.protocols.table import PROTOCOLS
    from probe.request import make_question

    workload = WORKLOADS.get(asked.workload)
    endpoint = Endpoint(
        id="own/truth",
        provider="own",
        provider_name="Own",
        model="truth",
        provider_model=asked.model,
        precision=Precision.UNKNOWN,
        protocol=Protocol.OPENAI_CHAT,
        base_url=f"{asked.url}/v1",
        auth=Auth.NONE,
        limits=Limits(first_token_s=60, stall_s=30, total_s=ROUND_S),
    )
    return make_question(
        endpoint=endpoint,
        protocol=PROTOCOLS[endpoint.protocol],
        region=Region(name="bench", proxy_url=asked.proxy, ca_file=asked.ca),
        signer=None,
        prompt=make_prompt(workload.input_tokens, 1000) if workload else "Say something.",
        output_tokens=1000,
        request_id=str(name),
    )


def line_of(heard: Any) -> dict[str, Any]:
    """Return what became of a request, with the figures that would be published."""
    from pacewatch.words.figures import figures_of
    from probe.record import timing_of

    seen = heard.seen
    timing = timing_of(
        seen,
        n=0,
        link=heard.link,
        earliest_ns=seen.sent_ns or 0,
        output_tokens=0,
        secrets=(),
    )
    return {
        "sent": seen.sent_ns,
        "at": list(seen.at_ns),
        "tokens": list(timing.chunks.tokens),
        "stamp": str(timing.stamp),
        "outcome": str(timing.outcome),
        "flags": [str(flag) for flag in timing.flags],
        "tokens_per_s": figures_of(timing).output_tokens_per_s,
    }


async def ask_plain(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Ask as a plain client does: httpx2, lines, JSON, and the clock read at each event."""
    import httpx2

    verify: ssl.SSLContext | bool = ssl.create_default_context(cafile=asked.ca)
    client = httpx2.AsyncClient(verify=verify, trust_env=False, timeout=ROUND_S, proxy=asked.proxy)
    told: list[dict[str, Any]] = []

    async def one() -> None:
        line: dict[str, Any] = {"id": str(uuid4()), "at": [], "outcome": "ok"}
        line["sent"] = time.monotonic_ns()
        told.append(line)
        try:
            await read_plain(client, asked, line)
        except httpx2.HTTPError as error:
            line["outcome"] = type(error).__name__
        at = line["at"]
        if len(at) > 1 and at[-1] > at[0]:
            line["tokens_per_s"] = (len(at) - 1) / (at[-1] - at[0]) * 1e9

    async with client:
        await asyncio.gather(*(client.get(f"{asked.url}/health") for _ in range(asked.streams)))
        for _ in range(asked.rounds):
            await asyncio.gather(*(one() for _ in range(asked.streams)))
    return told


async def read_plain(client: Any, asked: argparse.Namespace, line: dict[str, Any]) -> None:
    """Read one answer, noting the clock at each event with text."""
    body = {
        "model": asked.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "Say something."}],
    }
    async with client.stream(
        "POST",
        f"{asked.url}/v1/chat/completions",
        json=body,
        headers={"x-request-id": line["id"]},
    ) as response:
        async for text in response.aiter_lines():
            if text.startswith("data: {"):
                for choice in json.loads(text[6:]).get("choices", ()):
                    delta = choice["delta"]
                    if delta.get("content") or delta.get("reasoning_content"):
                        line["at"].append(time.monotonic_ns())


if __name__ == "__main__":
    main()
