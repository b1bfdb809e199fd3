"""An endpoint as it has just been judged, on its way into the incidents. Values only."""

from collections.abc import Callable, Set
from dataclasses import dataclass

from aggregator.detect.scope import Attribution
from aggregator.detect.standing import Met
from aggregator.detect.turn import Change
from aggregator.detect.watch import Watch
from pacewatch.words.endpoint import Endpoint

Attribute = Callable[[Met], tuple[Attribution, str]]
"""Whose fault a trouble looks like, and the region that has it worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An endpoint as it has just been judged."""

    endpoint: Endpoint
    watch: Watch
    changes: tuple[Change, ...]
    simulated: bool
    accepted: bool
    """Its level of now has just become the usual one."""
    attribute: Attribute
    """Says whose fault a trouble of it looks like."""
    paused: Set[str] = frozenset()
    """Regions that rest."""
