"""Prompts that simulated providers have kept, where they are asked to keep any.

A provider knows a prompt again by its first tokens, whatever follows, from whatever region.
"""

import hashlib
from collections import OrderedDict

from pacewatch.sim.script import PROMPT_START_CHARS

KEPT_TOKENS = 64
"""Tokens that a known prompt is known by, and that are told as kept."""
MOST_PROMPTS = 100_000
"""More are forgotten, the oldest first."""


class KeptPrompts:
    """What all providers have kept."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def keep(self, provider: str, start: str) -> int:
        """Keep a prompt by its start; return the tokens of it that the provider knew already."""
        if len(start) < PROMPT_START_CHARS:
            return 0
        name = hashlib.sha256(f"{provider}|{start}".encode()).digest()[:16]
        if name in self._known:
            return KEPT_TOKENS
        self._known[name] = None
        if len(self._known) > MOST_PROMPTS:
            self._known.popitem(last=False)
        return 0
