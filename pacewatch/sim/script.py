"""What a simulated endpoint does with a request: how long it thinks, how fast it writes, what.

Pure: the same endpoint, region and seed give the same script.
"""

import hashlib
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from pacewatch.sim.text import write_tokens
from pacewatch.words.endpoint import Endpoint

MAX_OUTPUT_TOKENS = 32_768
"""No simulated answer is longer, whatever is asked."""
DEFAULT_OUTPUT_TOKENS = 300
"""Length of an answer where the request names no limit."""
CHUNKS_PER_S = 500
"""A faster endpoint puts several tokens into a chunk, as real ones do."""

CACHED_SHARE = 0.1
"""Share of the time to first token that a prompt takes which the provider had kept."""
CHARS_PER_TOKEN = 4.4
"""Of a prompt, as a simulated provider counts it."""
PROMPT_START_CHARS = 282
"""The first 64 tokens of a prompt, which a provider that keeps prompts knows it by."""

_TTFT_SPREAD = 0.15
_SPEED_SPREAD = 0.03
"""Standard deviations of the logarithms."""
_BLOCK_TOKENS = {"azure": 4, "inception": 16}
"""Providers that release text in blocks: a content filter, a diffusion model."""


_USUAL_TOKENS_PER_S = {"cerebras": 1800.0, "groq": 400.0, "sambanova": 400.0}
"""What to expect where nothing is published: within a factor of two of this, else of 110."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nature:
    """What an endpoint is like on an ordinary day."""

    tokens_per_s: float
    ttft_s: float
    """To the first token, without the way."""
    block_tokens: int
    """Tokens of a chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What a request asks, as far as it decides the answer."""

    model: str
    prompt_tokens: int
    max_tokens: int | None = None
    reasons: bool = False
    """True: it reasons before the answer."""
    shown: float = 1.0
    """Share of the reasoning that is streamed; the rest is hidden, takes its time and is billed."""
    room_tokens: int = 0
    """Tokens of `max_tokens` that are room for reasoning."""
    wants_usage: bool = False
    wants_metrics: bool = False
    prompt_start: str = ""
    """How the prompt begins, for a provider that keeps prompts."""
    cached_tokens: int = 0
    """Tokens of the prompt that the provider had kept."""
    as_array: bool = False
    """True: the answer is to be one JSON array, not events."""
    wants_sealed: bool = False
    """True: reasoning is to come along encrypted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One answer, planned."""

    ttft_s: float
    """To the first token that is written, shown or hidden."""
    tokens_per_s: float
    reasoning_tokens: int
    """Of the reasoning that is streamed."""
    answer_tokens: int
    hidden_tokens: int
    """Of the reasoning that is not."""
    block_tokens: int
    cut: bool
    """True: the answer ends at the token limit."""
    seed: str

    @property
    def tokens(self) -> int:
        """Return all tokens that are streamed."""
        return self.reasoning_tokens + self.answer_tokens

    @property
    def hidden_s(self) -> float:
        """Return how long the hidden reasoning takes, seconds."""
        return self.hidden_tokens / self.tokens_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The text of one chunk."""

    text: str
    tokens: int
    is_reasoning: bool
    is_last: bool


def nature_of(endpoint: Endpoint) -> Nature:
    """Return the endpoint's nature: its published speed, or one that its id decides."""
    speed = endpoint.published_tokens_per_s
    if speed is None:
        usual = _USUAL_TOKENS_PER_S.get(endpoint.provider, 110.0)
        speed = round(usual * 2 ** (2 * share_of(endpoint.id, "speed") - 1), 1)
    blocks = _BLOCK_TOKENS.get(endpoint.provider, 1)
    return Nature(
        tokens_per_s=speed,
        ttft_s=round(0.15 * 4 ** share_of(endpoint.id, "ttft"), 3),
        block_tokens=max(blocks, math.ceil(speed / CHUNKS_PER_S)),
    )


def way_s(provider: str, region: str) -> float:
    """Return the seconds that the way from a region to a provider adds to the first token."""
    return round(0.004 + 0.036 * share_of(provider, region), 4)


def share_of(*names: str) -> float:
    """Return a number in [0, 1) that the names decide."""
    digest = hashlib.sha256("|".join(names).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def make_script(nature: Nature, ask: Ask, *, way: float, seed: str, exact: bool) -> Script:
    """Return the answer to a request; `exact` leaves out all spread of times."""
    dice = random.Random(seed)  # noqa: S311 - reproducible, no secret
    slower, faster = (0.0, 0.0) if exact else (dice.gauss(0, 1), dice.gauss(0, 1))
    reasoning, answer, cut = split_output(ask)
    shown = reasoning - hidden_of(ask)
    ttft_s = nature.ttft_s * math.exp(_TTFT_SPREAD * slower) + way
    return Script(
        ttft_s=ttft_s * (CACHED_SHARE if ask.cached_tokens else 1),
        tokens_per_s=nature.tokens_per_s * math.exp(_SPEED_SPREAD * faster),
        reasoning_tokens=shown,
        answer_tokens=answer,
        hidden_tokens=reasoning - shown,
        block_tokens=nature.block_tokens,
        cut=cut,
        seed=seed,
    )


def split_output(ask: Ask) -> tuple[int, int, bool]:
    """Return the tokens of reasoning and of the answer, and whether the limit cuts the answer.

    An endpoint that reasons uses a quarter of the asked answer for it, shown or not, and then
    writes the answer in full, as far as the limit allows.
    """
    limit = MAX_OUTPUT_TOKENS if ask.max_tokens is None else ask.max_tokens
    limit = max(1, min(limit, MAX_OUTPUT_TOKENS))
    asked = DEFAULT_OUTPUT_TOKENS if ask.max_tokens is None else limit
    if not ask.reasons:
        return 0, asked, ask.max_tokens is not None
    if asked > ask.room_tokens:
        asked -= ask.room_tokens
    reasoning = min(max(1, asked // 4), limit)
    answer = min(asked, limit - reasoning)
    return reasoning, answer, answer < asked or reasoning + answer == limit


def hidden_of(ask: Ask) -> int:
    """Return the tokens of the reasoning that are not streamed."""
    reasoning, _, _ = split_output(ask)
    return reasoning - round(reasoning * ask.shown)


def pieces_of(script: Script) -> Iterator[Piece]:
    """Yield the answer chunk by chunk; reasoning and answer are texts of their own."""
    for is_reasoning, total in ((True, script.reasoning_tokens), (False, script.answer_tokens)):
        words, left = write_tokens(f"{script.seed}|{is_reasoning}"), total
        while left > 0:
            size = min(script.block_tokens, left)
            left -= size
            yield Piece(
                text="".join(next(words) for _ in range(size)),
                tokens=size,
                is_reasoning=is_reasoning,
                is_last=left == 0 and not (is_reasoning and script.answer_tokens),
            )


def count_prompt_tokens(text: str) -> int:
    """Return what a provider would count: about a token for 4.4 characters, and the frame's."""
    return 8 + round(len(text) / CHARS_PER_TOKEN)
