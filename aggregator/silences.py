"""Silences: what nobody is to be told of for a while, as people make and end them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from psycopg.rows import class_row

from aggregator.db import Connection, queries
from pacewatch.words.errors import SettingsError

MOST = 500
"""Silences that are listed at once."""

NEWEST = 2**62
"""Stands after every silence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A silence as the store has it."""

    silence_id: int
    endpoints: str
    """A pattern of ids."""
    region: str
    """Empty: all."""
    starts_at: datetime
    ends_at: datetime
    why: str
    made_by: str


def read_silences(
    connection: Connection,
    now: datetime,
    *,
    ended: bool,
    before: int = NEWEST,
    limit: int | None = None,
) -> list[Silence]:
    """Return the silences that hold, the latest first, every one unless there is a limit; with
    `ended` all that are kept.
    """
    asked = {"now": now, "all": ended, "before": before, "limit": limit}
    with connection.cursor(row_factory=class_row(Silence)) as cursor:
        return cursor.execute(queries("views")["select_silences_page"], asked).fetchall()


def covers(pattern: str, endpoints: Collection[str]) -> bool:
    """Tell whether a silence of that pattern is of all these endpoints; where there are none, only
    one of everything is.
    """
    return all(fnmatchcase(endpoint, pattern) for endpoint in endpoints or [""])


def make_silence(  # noqa: PLR0913 - the columns of a silence
    connection: Connection,
    endpoints: str,
    now: datetime,
    *,
    region: str = "",
    ends_at: datetime,
    why: str,
    made_by: str = "",
) -> Silence:
    """Begin a silence; raises SettingsError for a pattern that no probed endpoint matches."""
    probed = [row["endpoint"] for row in connection.execute(queries("views")["select_probed"])]
    if not any(fnmatchcase(endpoint, endpoints) for endpoint in probed):
        raise SettingsError(
            f'endpoints "{endpoints}": matches no endpoint that is probed '
            "(allowed: an id, or a pattern of ids with * and ?)"
        )
    row = {"endpoints": endpoints, "region": region, "now": now, "ends_at": ends_at}
    with connection.cursor(row_factory=class_row(Silence)) as cursor:
        made = cursor.execute(
            queries("views")["insert_silence"], {**row, "why": why, "made_by": made_by}
        ).fetchone()
    if made is None:
        raise AssertionError("an insert returns its row")
    return made


def end_silence(connection: Connection, silence: int, now: datetime) -> Silence | None:
    """End a silence now, unless it has ended, and say so in the timelines that tell of it; return
    it as it is then, None where there is none.
    """
    with connection.cursor(row_factory=class_row(Silence)) as cursor:
        asked = {"silence": silence}
        found = cursor.execute(queries("views")["select_silence"], asked).fetchone()
        if found is None or found.ends_at <= now:
            return found
        named, told = queries("views")["end_silence"], queries("views")["note_silence_end"]
        connection.execute(told, {**asked, "now": now})
        return cursor.execute(named, {**asked, "now": now}).fetchone()
