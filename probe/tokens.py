"""Token counts over received text, with the o200k_base vocabulary; after the stream has ended.

Only the compiled part of bpe-openai is loaded: its Python part reads three vocabularies when it is
imported, which takes a second and 70 MB more.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")

_PORTION = 200_000
"""Characters tokenised at once: far under what the tokeniser takes at a time."""


@lru_cache(maxsize=1)
def _tokeniser() -> Any:
    package = find_spec("bpe_openai")
    if package is None or package.origin is None:
        raise ImportError("bpe-openai is not installed")
    file = next(Path(package.origin).parent.glob("_bindings*.so"), None)
    if file is None:
        raise ImportError("bpe-openai has no compiled part for this Python")
    loader = ExtensionFileLoader("bpe_openai._bindings", str(file))
    spec = spec_from_loader(loader.name, loader)
    if spec is None:
        raise ImportError("bpe-openai's compiled part cannot be loaded")
    module: Any = module_from_spec(spec)
    loader.exec_module(module)
    return module.tokenizer_for_encoding("o200k_base")


def warm_up() -> None:
    """Load the vocabulary (under a second, 40 MB), so that no run waits for it."""
    _tokeniser().encode("ready")


def count_tokens(text: str) -> int:
    """Return how many o200k_base tokens a text has."""
    return sum(_tokeniser().count(part) for part in _portions(_sound(text)))


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
    ids: list[int] = []
    current, brought, read = 0, text_bytes(texts[0]), 0
    for tokens, size in _whole_characters("".join(texts)):
        read += size
        while read > brought and current + 1 < len(texts):
            current += 1
            brought += text_bytes(texts[current])
        counts[places[current]] += len(tokens)
        ids += tokens
    return ids


def _whole_characters(text: str) -> Iterator[tuple[list[int], int]]:
    """Yield the tokens of a text with their size in bytes, those that share a character together.

    A chunk is text, so it never ends within a character.
    """
    tokeniser = _tokeniser()
    sizes: dict[int, int | None] = {}
    for part in _portions(_sound(text)):
        torn: list[int] = []
        for token in tokeniser.encode(part):
            if not torn:
                if token not in sizes:
                    sizes[token] = _size(tokeniser, [token])
                if (size := sizes[token]) is not None:
                    yield [token], size
                    continue
            torn.append(token)
            if len(torn) > 1 and (size := _size(tokeniser, torn)) is not None:
                yield torn, size
                torn = []


def _size(tokeniser: Any, tokens: list[int]) -> int | None:
    """Return the size of tokens in bytes; None where they end within a character."""
    try:
        return text_bytes(tokeniser.decode(tokens))
    except ValueError:
        return None


def text_bytes(text: str) -> int:
    """Return the UTF-8 size of a text; half of a surrogate pair, which some send, has three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _sound(text: str) -> str:
    """Return the text with each lone half of a surrogate pair replaced by a sign of its size."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def _portions(text: str) -> list[str]:
    return [text[at : at + _PORTION] for at in range(0, len(text), _PORTION)]
