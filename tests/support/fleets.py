"""Fleets for tests: endpoints of made-up providers at known speeds and prices."""

from dataclasses import replace
from typing import Any

from pacewatch.words.endpoint import Auth, Endpoint, Precision, Price, Protocol
from pacewatch.words.fleet import Fleet, Region, Schedule, Spending

PRICE = Price(input_usd=1.0, output_usd=1.0, source="made up for a test")
"""A `standard` request costs 0.2 cents, so a whole day of one series, 28 requests, 5.6 cents."""


def make_endpoint(provider: str = "acme", model: str = "m1", **changes: Any) -> Endpoint:
    """Return an endpoint at 100 tokens/s without a price."""
    plain = Endpoint(
        id=f"{provider}/{model}",
        provider=provider,
        provider_name=provider.title(),
        model=model,
        provider_model=f"{provider}-{model}",
        precision=Precision.UNKNOWN,
        protocol=Protocol.OPENAI_CHAT,
        base_url="http://127.0.0.1:9/v1",
        auth=Auth.NONE,
        published_tokens_per_s=100.0,
    )
    return replace(plain, **changes)


def make_fleet(
    *endpoints: Endpoint,
    regions: int = 1,
    usd_per_day: float = 5.0,
    simulated: bool = False,
    **schedule: Any,
) -> Fleet:
    """Return a fleet of these endpoints, one where none is given, in regions r0, r1, ..."""
    chosen = endpoints or (make_endpoint(),)
    return Fleet(
        regions={f"r{n}": Region(name=f"r{n}") for n in range(regions)},
        catalog={endpoint.id: endpoint for endpoint in chosen},
        endpoints=tuple(sorted(chosen, key=lambda endpoint: endpoint.id)),
        schedule=Schedule(**schedule),
        spending=Spending(usd_per_day=usd_per_day),
        simulated=simulated,
    )
