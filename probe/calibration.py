"""How exact this host's timings are: asks a metronome, a process whose sends are known, as a
provider is asked, and compares.
"""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from pacewatch.words.endpoint import Auth, Endpoint, Limits, Precision, Protocol
from pacewatch.words.errors import CalibrationError
from pacewatch.words.fleet import Region
from pacewatch.words.outcome import Outcome
from pacewatch.words.text import plural
from pacewatch.words.timing import Stamp
from probe.asking import ask_together
from probe.child import command, environment
from probe.metronome import FIRST_NS
from probe.protocols.table import PROTOCOLS
from probe.reading import Reading
from probe.request import Question, make_question
from probe.seen import Seen
from probe.self_signed import Pair, self_signed
from probe.timing_error import Answer, Beats, Raw, compare

_HOST = "127.0.0.1"
_ANSWER_S = 20.0
"""How long the metronome may take to start, and to tell its log, seconds."""

LATE_S = 5.0
"""How much longer than it should a play may take, seconds; then it is lost."""

_LINE_BYTES = 64 * 1024 * 1024
_LIVES = timedelta(days=3650)
"""As long as any process: its certificate is made once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """One thing that is asked of the metronome."""

    tokens_per_s: int
    streams: int
    is_tls: bool
    tokens: int

    @property
    def words(self) -> str:
        """What it is, for people."""
        way = "TLS" if self.is_tls else "plain"
        return f"{plural(self.streams, 'stream')} of {self.tokens_per_s:,} tokens/s, {way}"

    @property
    def most_s(self) -> float:
        """How long it may take, seconds."""
        return (FIRST_NS / 1e9) + self.tokens / self.tokens_per_s + LATE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What became of a play."""

    play: Play
    raw: Raw
    stamp: Stamp
    """USER where one answer or more had stamps that are not the kernel's."""


SHORT = (
    Play(tokens_per_s=1753, streams=10, is_tls=True, tokens=1000),
    Play(tokens_per_s=80, streams=1, is_tls=True, tokens=40),
)
"""What a worker plays each hour: the most that a run may bring, and what most of them do."""


def full(seconds: float) -> tuple[Play, ...]:
    """Return all that is played on request, each for about so many seconds."""
    return tuple(
        Play(
            tokens_per_s=rate, streams=streams, is_tls=is_tls, tokens=max(2, round(rate * seconds))
        )
        for is_tls in (False, True)
        for streams in (1, 10)
        for rate in (80, 500, 1753)
    )


class Metronome:
    """The metronome's process, running."""

    def __init__(
        self, process: asyncio.subprocess.Process, ports: list[int], ca_file: Path
    ) -> None:
        """Keep what it takes to ask it."""
        self._process = process
        self._ports = ports
        self._region = Region(name="calibration", ca_file=str(ca_file))

    def question(self, play: Play, name: str) -> Question:
        """Return one request of a play."""
        scheme, port = ("https", self._ports[1]) if play.is_tls else ("http", self._ports[0])
        endpoint = Endpoint(
            id="own/metronome",
            provider="own",
            provider_name="Own",
            model="metronome",
            provider_model=f"beat-{play.tokens_per_s}-{play.tokens}",
            precision=Precision.UNKNOWN,
            protocol=Protocol.OPENAI_CHAT,
            base_url=f"{scheme}://{_HOST}:{port}/v1",
            auth=Auth.NONE,
            limits=Limits(
                connect_s=LATE_S,
                first_token_s=play.most_s,
                stall_s=play.most_s,
                total_s=play.most_s,
            ),
        )
        return make_question(
            endpoint=endpoint,
            protocol=PROTOCOLS[endpoint.protocol],
            region=self._region,
            signer=None,
            prompt="Tick.",
            output_tokens=play.tokens,
            request_id=name,
        )

    async def log(self) -> dict[str, Beats]:
        """Return what it sent since it was last asked, by the requests' ids.

        Raises CalibrationError.
        """
        if self._process.stdin is None:
            raise CalibrationError("the metronome cannot be asked")
        self._process.stdin.write(b"?")
        told = await _line(self._process)
        return {
            one["id"]: Beats(asked_ns=one["asked_ns"], sends_ns=tuple(one["sends_ns"]))
            for one in told
        }


@asynccontextmanager
async def metronome(pair: Pair, folder: Path) -> AsyncIterator[Metronome]:
    """Give a running metronome with that certificate, which stays in the folder.

    Raises CalibrationError.
    """
    certificate, key = folder / "calibration.pem", folder / "calibration-key.pem"
    certificate.write_text(pair.certificate)
    key.touch(mode=0o600)
    key.write_text(pair.key)
    try:
        process = await asyncio.create_subprocess_exec(
            *command("probe.metronome", str(certificate), str(key)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            limit=_LINE_BYTES,
        )
        try:
            ports = await _line(process)
            key.unlink()
            yield Metronome(process, ports, certificate)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
    except OSError as error:
        raise CalibrationError(f"the metronome cannot be started: {error.strerror}") from error
    finally:
        key.unlink(missing_ok=True)


async def _line(process: asyncio.subprocess.Process) -> Any:
    if process.stdout is None:
        raise CalibrationError("the metronome cannot be heard")
    try:
        async with asyncio.timeout(_ANSWER_S):
            return json.loads(await process.stdout.readline())
    except (TimeoutError, ValueError) as error:
        raise CalibrationError("the metronome ended, or does not answer") from error


@cache
def make_pair() -> Pair:
    """Return the certificate of this process's metronomes."""
    return self_signed(_HOST, datetime.now(UTC), lives=_LIVES)


async def play(one: Play, beat: Metronome, reading: Reading) -> Played:
    """Make one play; raises CalibrationError."""
    names = [str(uuid4()) for _ in range(one.streams)]
    heard = await ask_together([beat.question(one, name) for name in names], reading)
    seen = {name: _answer(each.seen) for name, each in zip(names, heard, strict=True)}
    is_kernel = all(each.seen.first is not None and each.seen.is_kernel for each in heard)
    return Played(
        play=one,
        raw=compare(seen, await beat.log()),
        stamp=Stamp.KERNEL if is_kernel else Stamp.USER,
    )


async def play_all(
    plays: Sequence[Play],
    folder: Path,
    reading: Reading,
    *,
    tell: Callable[[int, Play], None] = lambda _, __: None,
) -> list[Played]:
    """Make the plays, one after another, telling of each before it begins; raises CalibrationError.

    The certificate lies in the folder, and is the same for as long as this process lives.
    """
    played = []
    async with metronome(make_pair(), folder) as beat:
        for n, one in enumerate(plays):
            tell(n, one)
            played.append(await play(one, beat, reading))
    return played


async def play_short(folder: Path, reading: Reading) -> list[Played]:
    """Make a worker's plays; raises CalibrationError."""
    return await play_all(SHORT, folder, reading)


def _answer(seen: Seen) -> Answer | None:
    is_good = seen.ending is not None and seen.ending.outcome is Outcome.OK
    if not is_good or seen.sent_ns is None:
        return None
    return Answer(sent_ns=seen.sent_ns, at_ns=tuple(seen.at_ns))
