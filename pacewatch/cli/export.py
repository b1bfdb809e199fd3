"""`export`: raw requests of any length of time, as CSV or as JSON lines."""

import re
import sys
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from pacewatch.cli.choices import choice_of, metavar_of
from pacewatch.words.slot import Load, from_rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator

Names = list[str] | None

_SLOT = re.compile(rb'"slot_at":"([^"]+)"|^[0-9a-f-]{36},[0-9]+,([0-9T:.Z-]+),', re.MULTILINE)
_TAIL_BYTES = 4_000
"""Several lines: only the last slot of a piece is looked for."""

_SPAN = re.compile(r"(\d{1,5})([dh])")


class Form(StrEnum):
    """How the lines are written."""

    CSV = "csv"
    JSONL = "jsonl"


FormWord = Annotated[
    Form,
    typer.Option(
        "--format",
        help="How the lines are written.",
        parser=choice_of(Form),
        metavar=metavar_of(Form),
    ),
]
LoadWord = Annotated[
    Load | None,
    typer.Option(help="Only this load.", parser=choice_of(Load), metavar=metavar_of(Load)),
]


def add_to(app: typer.Typer) -> None:
    """Mount this file's command."""
    app.command()(export)


def export(  # noqa: PLR0913 - its options
    since: Annotated[
        str, typer.Option(help="From when on: 30d, 12h, 2026-12-01, or a moment of RFC 3339.")
    ] = "1d",
    until: Annotated[str, typer.Option(help="Before when, as --since; 0h is now.")] = "0h",
    form: FormWord = Form.JSONL,
    output: Annotated[
        Path | None, typer.Option(help="The file to write; without it standard output.")
    ] = None,
    endpoint: Annotated[Names, typer.Option(help="Only this endpoint; may be repeated.")] = None,
    model: Annotated[Names, typer.Option(help="Only this model; may be repeated.")] = None,
    provider: Annotated[Names, typer.Option(help="Only this provider; may be repeated.")] = None,
    precision: Annotated[
        Names, typer.Option(help="Only this precision, as the provider says; may be repeated.")
    ] = None,
    region: Annotated[Names, typer.Option(help="Only from this region; may be repeated.")] = None,
    workload: Annotated[Names, typer.Option(help="Only this workload; may be repeated.")] = None,
    load: LoadWord = None,
) -> None:
    """Write every request of a time, a line each, in the order of their slots."""
    from datetime import UTC

    from pacewatch.cli import centre
    from pacewatch.words.errors import SettingsError
    from pacewatch.words.slot import to_rfc3339

    now = datetime.now(UTC)
    faults: list[str] = []
    begin, end = (
        moment_of(text, now, f"--{name}", faults)
        for name, text in (("since", since), ("until", until))
    )
    if faults:
        raise SettingsError(faults)
    asked = {
        "since": [to_rfc3339(begin)],
        "until": [to_rfc3339(end)],
        "format": [str(form)],
        "endpoint": endpoint or [],
        "model": model or [],
        "provider": provider or [],
        "precision": precision or [],
        "region": region or [],
        "workload": workload or [],
        "load": [str(load)] if load else [],
    }
    with centre.streamed("/api/export", asked, named=f"pacewatch.{form}") as pieces:
        if output is None:
            _write(pieces, begin, end, sys.stdout.buffer)
            return
        try:
            with output.open("wb") as file:  # not before: an answer that is none leaves it alone
                _write(pieces, begin, end, file)
        except OSError as error:
            raise SettingsError(f"--output: {output}: {error.strerror}") from error


def moment_of(text: str, now: datetime, name: str, faults: list[str]) -> datetime:
    """Return the moment that an option names; notes a fault for what names none. Pure."""
    try:
        if span := _SPAN.fullmatch(text):
            unit = "days" if span[2] == "d" else "hours"
            return now - timedelta(**{unit: int(span[1])})
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
    except (ValueError, OverflowError):
        faults.append(f'{name}: "{text}" is no time (form: 30d, 12h, 2026-12-01, or RFC 3339)')
        return now


def _write(pieces: "Iterator[bytes]", begin: datetime, end: datetime, file: IO[bytes]) -> None:
    from pacewatch.cli import render

    with render.progress() as tell:
        size, reached = 0, begin
        for piece in pieces:
            file.write(piece)
            size += len(piece)
            reached = last_slot(piece) or reached
            share = (reached - begin) / max(end - begin, timedelta(seconds=1))
            tell(f"{render.bar(share, 1, cells=20):20} {share:4.0%}, {size / 1e6:,.1f} MB")
        file.flush()


def last_slot(piece: bytes) -> datetime | None:
    """Return the moment of the last slot that a piece of an export tells, in either form. Pure."""
    found = list(_SLOT.finditer(piece, max(0, len(piece) - _TAIL_BYTES)))
    return from_rfc3339((found[-1][1] or found[-1][2]).decode()) if found else None
