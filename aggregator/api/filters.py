"""Which endpoints and series are asked for, as every list of the API takes it."""

from typing import Annotated

from fastapi import Depends, Query
from pydantic import StringConstraints

from aggregator.board import Filter
from pacewatch.words.slot import Load

Word = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00]*$")]
"""A name as a query may hold it: Postgres takes every text but one with a NUL."""

Names = Annotated[list[Word] | None, Query(max_length=100)]
"""A filter that may be given several times; left out, it lets everything through."""


def filter_of(  # noqa: PLR0913 - seven filters
    endpoint: Names = None,
    model: Names = None,
    provider: Names = None,
    precision: Names = None,
    region: Names = None,
    workload: Names = None,
    load: Annotated[list[Load] | None, Query(max_length=2)] = None,
) -> Filter:
    """Return the filter that a query asks for."""
    return Filter(
        endpoints=frozenset(endpoint or ()),
        models=frozenset(model or ()),
        providers=frozenset(provider or ()),
        precisions=frozenset(precision or ()),
        regions=frozenset(region or ()),
        workloads=frozenset(workload or ()),
        loads=frozenset(map(str, load or ())),
    )


Asked = Annotated[Filter, Depends(filter_of)]
"""A route's parameter: what is asked for."""
