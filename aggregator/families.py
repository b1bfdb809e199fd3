"""The metric families of a page under their names, being filled, and the labels they share."""

from array import array
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from aggregator.exposition import Column, Family
from aggregator.rows import EndpointRow
from pacewatch.words.endpoint import parse_endpoint_id
from pacewatch.words.metrics import METRICS


class Page:
    """The families under their names, being filled."""

    def __init__(self, quantiles: Collection[float]) -> None:
        """Start with every metric, each without a sample; the quantiles are told of every rolling
        figure beside the usual ones.
        """
        self.quantiles = quantiles
        self._families = {name: Family(word=word) for name, word in METRICS.items()}

    def add(self, name: str, labels: str, value: float | None, suffix: str = "") -> None:
        """Add a sample, whose further labels stand in the suffix; what is unknown has none."""
        if value is not None:
            self.column(name, suffix).add(labels, value)

    def column(self, name: str, suffix: str = "") -> Column:
        """Return where a metric's samples go whose further labels stand in the suffix."""
        return self._families[name].column(suffix)

    def add_zeros(self, name: str, labels: list[str], suffix: str = "") -> "array[float]":
        """Add a sample of 0 for each label text; return the values, to be written over."""
        return self._families[name].add_zeros(labels, suffix)

    @property
    def families(self) -> Iterable[Family]:
        """Return all families in the order of the table."""
        return self._families.values()


def flag_text(flag: bool) -> str:  # noqa: FBT001 - the label's own value
    """Return a yes or no as a label's value."""
    return "true" if flag else "false"


class Names(NamedTuple):
    """The labels that follow from an endpoint's id."""

    endpoint: str
    provider: str
    model: str


def names_of(endpoint: str, known: Mapping[str, EndpointRow]) -> Names:
    """Return an endpoint's labels: from the catalog as stored, else from its id."""
    row = known.get(endpoint)
    if row is not None:
        return Names(endpoint, row.provider, row.model)
    parts = parse_endpoint_id(endpoint)
    return Names(endpoint, parts.provider, parts.model)
