"""Writes metric families as Prometheus text or as OpenMetrics, in pieces.

Held for size: a large fleet has over a million samples. A sample is two words of memory, a label
text that it shares with the others of its series and a number; its line is made when it is sent.
"""

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from prometheus_client.exposition import choose_encoder

from pacewatch.words.metrics import Kind, MetricWord

_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})

_LINES = 1_000
"""Lines of a piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Samples of one metric that end in the same labels: a value for each label text."""

    labels: list[str]
    values: "array[float]"

    def add(self, labels: str, value: float) -> None:
        """Add a sample with its rendered labels."""
        self.labels.append(labels)
        self.values.append(value)

    def lines(self, name: str, suffix: str) -> Iterator[str]:
        """Give the samples as text, many lines at a time."""
        head, tail = f"{name}{{", f"{suffix}}} "
        for start in range(0, len(self.labels), _LINES):
            labels = self.labels[start : start + _LINES]
            values = self.values[start : start + _LINES]
            if values.count(values[0]) == len(values):
                end = f"{tail}{values[0]!r}\n"
                yield head + (end + head).join(labels) + end
            else:
                yield "".join(
                    [
                        f"{head}{label}{tail}{value!r}\n"
                        for label, value in zip(labels, values, strict=True)
                    ]
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric with all its samples: both formats write them alike."""

    word: MetricWord
    columns: dict[str, Column] = field(default_factory=dict)
    """By what they end in: the text of the labels that follow those of the series, or nothing."""

    def column(self, suffix: str = "") -> Column:
        """Return the column of that suffix, a new one where there was none."""
        found = self.columns.get(suffix)
        if found is None:
            found = self.columns[suffix] = Column(labels=[], values=array("d"))
        return found

    def add_zeros(self, labels: list[str], suffix: str) -> "array[float]":
        """Add a sample of 0 for each label text; return the values, to be written over."""
        column = Column(labels=labels, values=array("d", bytes(8 * len(labels))))
        self.columns[suffix] = column
        return column.values

    def text(self, *, openmetrics: bool) -> Iterator[str]:
        """Give the family as text, in pieces."""
        word = self.word
        # OpenMetrics names a counter's family without the suffix that its samples bear
        bare = openmetrics and word.kind is Kind.COUNTER
        name = word.name.removesuffix("_total") if bare else word.name
        escapes = _ESCAPES if openmetrics else _HELP_ESCAPES
        yield f"# HELP {name} {word.help.translate(escapes)}\n# TYPE {name} {word.kind}\n"
        for suffix, column in self.columns.items():
            yield from column.lines(word.name, suffix)


def label_text(names: Sequence[str], values: Iterable[str]) -> str:
    """Return labels as both formats write them, without the braces."""
    return ",".join(
        [f'{name}="{escaped(value)}"' for name, value in zip(names, values, strict=True)]
    )


@lru_cache(maxsize=4096)
def escaped(value: str) -> str:
    """Return a label's value as both formats write it between its quotes."""
    return value.translate(_ESCAPES)


def content_type(accept: str) -> str:
    """Return the content type of the format that an Accept header prefers."""
    _, chosen = choose_encoder(accept)
    return chosen


def write_families(families: Iterable[Family], *, openmetrics: bool) -> Iterator[bytes]:
    """Give the families as text in pieces: OpenMetrics, or Prometheus' own."""
    for family in families:
        for piece in family.text(openmetrics=openmetrics):
            yield piece.encode()
    if openmetrics:
        yield b"# EOF\n"


def packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Give the pieces as one gzip, whenever there is some of it."""
    packer = zlib.compressobj(level=1, wbits=31)
    for piece in pieces:
        if some := packer.compress(piece):
            yield some
    yield packer.flush()
