"""Writes metric families as Prometheus text or as OpenMetrics.

Written for size: a fleet has hundreds of thousands of samples, and the labels of a series are
rendered once for all its families.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from prometheus_client.exposition import choose_encoder

from pacewatch.words.metrics import Kind, MetricWord

_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric with all its samples, a written line each: both formats write them alike."""

    word: MetricWord
    lines: list[str] = field(default_factory=list)

    def add(self, labels: str, value: float) -> None:
        """Add a sample with its rendered labels."""
        self.lines.append(f"{self.word.name}{{{labels}}} {value!r}")


def label_text(names: Sequence[str], values: Iterable[str]) -> str:
    """Return labels as both formats write them, without the braces."""
    return ",".join(f'{name}="{escaped(value)}"' for name, value in zip(names, values, strict=True))


@lru_cache(maxsize=4096)
def escaped(value: str) -> str:
    """Return a label's value as both formats write it between its quotes."""
    return value.translate(_ESCAPES)


def content_type(accept: str) -> str:
    """Return the content type of the format that an Accept header prefers."""
    _, chosen = choose_encoder(accept)
    return chosen


def write_families(families: Iterable[Family], *, openmetrics: bool) -> bytes:
    """Return the families as text: OpenMetrics, or Prometheus' own."""
    lines: list[str] = []
    for family in families:
        word = family.word
        # OpenMetrics names a counter's family without the suffix that its samples bear
        bare = openmetrics and word.kind is Kind.COUNTER
        name = word.name.removesuffix("_total") if bare else word.name
        escapes = _ESCAPES if openmetrics else _HELP_ESCAPES
        lines.append(f"# HELP {name} {word.help.translate(escapes)}")
        lines.append(f"# TYPE {name} {word.kind}")
        lines.extend(family.lines)
    if openmetrics:
        lines.append("# EOF")
    return ("\n".join(lines) + "\n").encode()
