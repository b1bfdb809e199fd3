"""Values of a run record, with their bounds."""

import json
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, Field, JsonValue

MAX_TOKENS = 10_000_000
MAX_AS_TOLD = 8_000
"""Characters of JSON that the provider's own timings may take."""
LONGEST_US = 86_400 * 1_000_000
"""No time of a request is longer than a day, microseconds."""


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("holds half a surrogate pair") from error
    return text


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("is beyond the calendar") from error


def tellable(told: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return what a provider told of its timings; raises ValueError where it cannot be kept."""
    try:
        text = json.dumps(told, allow_nan=False, ensure_ascii=False)
        text.encode()
    except ValueError as error:
        raise ValueError("holds what cannot be told on: infinity, or half a character") from error
    if len(text) > MAX_AS_TOLD:
        raise ValueError(f"takes more than {MAX_AS_TOLD} characters")
    return told


Micros = Annotated[int, Field(strict=True, ge=0, le=LONGEST_US)]
Count = Annotated[int, Field(strict=True, ge=0, le=MAX_TOKENS)]
Large = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Seconds = Annotated[float, Field(strict=True, ge=0, le=1e9, allow_inf_nan=False)]
AnySeconds = Annotated[float, Field(strict=True, ge=-1e9, le=1e12, allow_inf_nan=False)]
Switch = Annotated[bool, Field(strict=True)]
Word = Annotated[str, Field(max_length=100), AfterValidator(_storable)]
Phrase = Annotated[str, Field(max_length=500), AfterValidator(_storable)]
Name = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_storable)]
Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
