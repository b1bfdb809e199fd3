"""Which endpoints and series are asked for, as every list of the API takes it."""

from typing import Annotated

from fastapi import Depends, Query
from pydantic import StringConstraints

from aggregator.board import Filter
from pacewatch.words.slot import Load

Word = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00]*$")]
"""A name as a query may hold it: Postgres takes every text but one with a NUL."""

Names = list[Word] | None
"""A filter that may be given several times; left out, it lets everything through."""

Endpoints = Annotated[Names, Query(max_length=100, description="Ids of endpoints.")]
Models = Annotated[Names, Query(max_length=100, description="By their makers' names.")]
Providers = Annotated[Names, Query(max_length=100, description="Their words in ids.")]
Precisions = Annotated[Names, Query(max_length=100, description="As the provider tells it.")]
Regions = Annotated[Names, Query(max_length=100, description="Where workers stand.")]
Workloads = Annotated[Names, Query(max_length=100, description="The shape of the requests.")]


def filter_of(  # noqa: PLR0913 - seven filters
    endpoint: Endpoints = None,
    model: Models = None,
    provider: Providers = None,
    precision: Precisions = None,
    region: Regions = None,
    workload: Workloads = None,
    load: Annotated[
        list[Load] | None, Query(max_length=2, description="Alone, or under parallel load.")
    ] = None,
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
