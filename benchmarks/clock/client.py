"""One client under test, in a process of its own: asks together, and writes what it saw, a line a
request: {"id", "sent", "gap", "at": [...], "stamp"}, monotonic ns.
"""

import argparse
import asyncio
import json
import resource
import ssl
import sys
import threading
import time
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

ROUND_S = 120.0


def main() -> None:
    """Ask as the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=["pacewatch", "plain"])
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--ca")
    parser.add_argument("--proxy")
    parser.add_argument("--priority", default="realtime")
    parser.add_argument("--beside", choices=["nothing", "thread", "garbage"], default="nothing")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    ask = ask_pacewatch if asked.client == "pacewatch" else ask_plain
    disturb(asked.beside)
    told = asyncio.run(ask(asked))
    told.append({"cpu_s": cpu_s()})
    asked.out.write_text("".join(json.dumps(line) + "\n" for line in told))


def cpu_s() -> float:
    """Return the CPU time of this process so far, and of its children that have ended."""
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


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
    from pacewatch.words.endpoint import Auth, Endpoint, Limits, Precision, Protocol
    from pacewatch.words.fleet import Region
    from probe.asking import ask_together
    from probe.protocols.table import PROTOCOLS
    from probe.reading import Reading
    from probe.request import make_question, request_id

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
    region = Region(name="bench", proxy_url=asked.proxy, ca_file=asked.ca)

    def question(execution: UUID, n: int) -> Any:
        return make_question(
            endpoint=endpoint,
            protocol=PROTOCOLS[endpoint.protocol],
            region=region,
            signer=None,
            prompt="Say something.",
            output_tokens=1000,
            request_id=str(request_id(execution, n)),
        )

    reading = Reading(asked.priority)
    told: list[dict[str, Any]] = []
    for _ in range(asked.rounds):
        execution = uuid4()
        heard = await ask_together([question(execution, n) for n in range(asked.streams)], reading)
        for n, one in enumerate(heard):
            seen = one.seen
            told.append(
                {
                    "id": str(request_id(execution, n)),
                    "sent": seen.sent_ns,
                    "gap": seen.send_gap_ns,
                    "at": seen.at_ns,
                    "stamp": "kernel" if seen.is_kernel else "user",
                    "outcome": str(seen.ending.outcome) if seen.ending else None,
                    "priority": reading.priority,
                }
            )
    await asyncio.to_thread(reading.close)
    return told


async def ask_plain(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Ask as a plain client does: httpx2, lines, JSON, and the clock read at each event."""
    import httpx2

    verify: ssl.SSLContext | bool = ssl.create_default_context(cafile=asked.ca)
    client = httpx2.AsyncClient(verify=verify, trust_env=False, timeout=ROUND_S, proxy=asked.proxy)
    told: list[dict[str, Any]] = []

    async def one() -> None:
        body = {
            "model": asked.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": "Say something."}],
        }
        id_, at = str(uuid4()), []
        sent = time.monotonic_ns()
        async with client.stream(
            "POST",
            f"{asked.url}/v1/chat/completions",
            json=body,
            headers={"x-request-id": id_},
        ) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: {"):
                    event = json.loads(line[6:])
                    if event["choices"] and event["choices"][0]["delta"].get("content"):
                        at.append(time.monotonic_ns())
        told.append({"id": id_, "sent": sent, "gap": 0, "at": at, "stamp": "user"})

    async def warm() -> None:
        await client.get(f"{asked.url}/health")

    async with client:
        await asyncio.gather(*(warm() for _ in range(asked.streams)))
        for _ in range(asked.rounds):
            await asyncio.gather(*(one() for _ in range(asked.streams)))
    return told


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
