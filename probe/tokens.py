"""Token counts over received text, with the o200k_base vocabulary; after the stream has ended."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import bpe_openai

_HALF = re.compile("[\ud800-\udfff]")

_PORTION = 200_000
"""Characters tokenised at once: far under what the tokeniser takes at a time."""


@lru_cache(maxsize=1)
def _encoding() -> Any:
    return bpe_openai.get_encoding("o200k_base")


def warm_up() -> None:
    """Load the vocabulary (one to two seconds, 140 MB), so that no run waits for it."""
    _encoding().encode_ordinary("ready")


def count_tokens(text: str) -> int:
    """Return how many o200k_base tokens a text has."""
    return sum(len(_encoding().encode_ordinary(part)) for part in _portions(_sound(text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The tokens of an answer."""

    of_chunks: tuple[int, ...]
    """How many tokens each chunk brought."""
    ids: tuple[int, ...]
    """All tokens, each kind's text as a whole, one after another."""


def count_chunks(texts: Sequence[str], kinds: Sequence[str]) -> Counted:
    """Return the tokens of an answer's chunks.

    The whole text of each kind is tokenised at once; a token belongs to the chunk that brought
    its last byte.
    """
    counts = [0] * len(texts)
    ids: list[int] = []
    for kind in sorted(set(kinds)):
        places = [place for place, letter in enumerate(kinds) if letter == kind]
        ids += _share_out([texts[place] for place in places], places, counts)
    return Counted(of_chunks=tuple(counts), ids=tuple(ids))


def _share_out(texts: list[str], places: list[int], counts: list[int]) -> list[int]:
    """Add each token of the texts to the count of the chunk at its place; return the tokens."""
    encoding = _encoding()
    size_of = encoding.decode_single_token_bytes
    sizes: dict[int, int] = {}
    ids: list[int] = []
    current, brought, read = 0, text_bytes(texts[0]), 0
    for part in _portions(_sound("".join(texts))):
        for token in encoding.encode_ordinary(part):
            size = sizes.get(token)
            if size is None:
                size = sizes[token] = len(size_of(token))
            read += size
            while read > brought and current + 1 < len(texts):
                current += 1
                brought += text_bytes(texts[current])
            counts[places[current]] += 1
            ids.append(token)
    return ids


def text_bytes(text: str) -> int:
    """Return the UTF-8 size of a text; half of a surrogate pair, which some send, has three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _sound(text: str) -> str:
    """Return the text with each lone half of a surrogate pair replaced by a sign of its size."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def _portions(text: str) -> list[str]:
    return [text[at : at + _PORTION] for at in range(0, len(text), _PORTION)]
