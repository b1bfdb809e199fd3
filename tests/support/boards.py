"""A small fleet, measured from two regions, with one endpoint of every kind of trouble."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from aggregator.db import Pool
from pacewatch.words.fleet import DEMO_SCHEDULE, Fleet, Region
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Load
from support.centre import make_fleet, migrated_pool
from support.fleets import make_endpoint
from support.records import NOON
from support.seed import (
    Measured,
    Sample,
    add_endpoint,
    add_series,
    add_worker,
    failing,
    prepare,
    push_all,
    steady,
)

REGIONS = ("eu-west", "us-east")
HOSTILE = "<script>alert(1)</script> \"quoted\" & 'more'"
"""A provider's name as a file may hold it."""

ENDPOINTS = {
    "cerebras/gpt-oss-120b": {"provider_name": "Cerebras", "importance": "page"},
    "groq/gpt-oss-120b": {"provider_name": "Groq"},
    "own/gpt-oss-120b@fp8#lab": {
        "provider_name": HOSTILE,
        "precision": "fp8",
        "location": "<b>cellar</b>",
    },
    "deepinfra/gpt-oss-120b": {"provider_name": "DeepInfra"},
    "zai/glm-5.2": {"provider_name": "Z.ai"},
    "inception/mercury-2": {"provider_name": "Inception"},
    "nvidia/gpt-oss-120b": {"provider_name": "NVIDIA NIM", "active": False},
}
EVERY = timedelta(seconds=60)


def board_fleet() -> Fleet:
    """The fleet of these regions, in the demo's schedule."""
    return make_fleet(
        regions={name: Region(name=name) for name in REGIONS},
        endpoints=(make_endpoint("cerebras", "gpt-oss-120b"),),
    )


def samples_of(endpoint: str, region: str, load: Load) -> list[Sample]:
    """The runs of a series, the latest half a minute before NOON; us-east is a tenth slower."""
    far = region == "us-east"
    speed, ttft_s, runs = {
        "cerebras/gpt-oss-120b": (1753.0, 0.21, 20),
        "groq/gpt-oss-120b": (477.6, 0.18, 20),
        "own/gpt-oss-120b@fp8#lab": (140.0, 0.4, 20),
        "deepinfra/gpt-oss-120b": (51.7, 0.62, 12 if far else 20),
        "zai/glm-5.2": (123.0, 0.9, 0 if far else 4),
        "nvidia/gpt-oss-120b": (190.0, 0.8, 0 if far else 20),
        "inception/mercury-2": (857.0, 0.6, 0),
    }[endpoint]
    found = steady(
        tokens_per_s=speed * (0.9 if far else 1),
        ttft_s=ttft_s,
        runs=runs if load is Load.SINGLE else runs // 4,
        newest_at=NOON - timedelta(seconds=30),
        every=EVERY,
    )
    if endpoint == "groq/gpt-oss-120b" and far:
        return failing(found, Outcome.SERVER_ERROR, last=2)
    if endpoint == "deepinfra/gpt-oss-120b":
        return failing(found, Outcome.RATE_LIMITED, last=1 if load is Load.SINGLE and far else 0)
    return found


def fill(pool: Pool, *, measured: bool = True) -> None:
    """Put endpoints, series, workers and, if so, their runs into a migrated store, at NOON."""
    with pool.connection() as connection:
        prepare(connection, NOON)
        add_worker(connection, "eu-west", NOON - timedelta(seconds=4))
        add_worker(
            connection,
            "us-east",
            NOON - timedelta(minutes=14),
            catalog="other",
            clock_offset_s=-7203.1,
            outbox_runs=12,
            budget_left_usd=None,
        )
        for endpoint, facts in ENDPOINTS.items():
            add_endpoint(connection, endpoint, NOON, **facts)
            for region in REGIONS:
                for load in Load:
                    add_series(connection, endpoint, region, load=str(load))
    if measured:
        push_all(
            pool,
            [
                Measured(
                    samples=samples_of(endpoint, region, load),
                    endpoint=endpoint,
                    region=region,
                    load=load,
                )
                for endpoint in ENDPOINTS
                for region in REGIONS
                for load in Load
            ],
            NOON,
            window_s=DEMO_SCHEDULE.window_s,
        )


@contextmanager
def filled_pool(url: str) -> Iterator[Pool]:
    """A migrated store, filled."""
    with migrated_pool(url) as pool:
        fill(pool)
        yield pool
