"""Remarks beside figures, and how much each asks for attention."""

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """How much a remark asks for attention."""

    FINE = "fine"
    QUIET = "quiet"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One remark."""

    tone: Tone
    text: str
    title: str = ""
    """What a pointer that rests on it is told."""
