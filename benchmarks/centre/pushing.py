"""Batches of finished runs, as a worker pushes them."""

import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import count
from typing import Any

from support.records import make_slot, plan, record_of
from support.timings import make_timing

from centre.store import Store
from pacewatch.words.slot import Load
from pacewatch.words.timing import Chunks, Timing

TOKENS = 1_000
_AGES_S = count()


def batches(store: Store, *, many: int, runs: int, seed: int) -> list[list[dict[str, Any]]]:
    """Return batches of records whose slots are planned; each batch is of one region, and one run
    in five is a parallel one, as the schedule has it.
    """
    dice = random.Random(seed)  # noqa: S311 - sizes and times, no secret
    made, slots = [], []
    for _ in range(many):
        region = f"region-{dice.randint(1, store.size.regions):02}"
        batch = []
        for endpoint in dice.sample(range(store.size.endpoints), min(runs, store.size.endpoints)):
            load = Load.PARALLEL if dice.random() < 0.2 else Load.SINGLE
            slot = make_slot(
                store.now - timedelta(seconds=60 + next(_AGES_S)),  # each of its own
                endpoint=f"provider-{endpoint % 20}/model-{endpoint // 5}",
                region=region,
                workload="standard",
                load=load,
            )
            slots.append(slot)
            requests = 1 if load is Load.SINGLE else 10
            batch.append(
                record_of(
                    slot,
                    *(_timing(dice, n) for n in range(requests)),
                    simulated=False,
                    cost_usd=0.0008,
                )
            )
        made.append(batch)
    with store.pool.connection() as connection:
        plan(connection, *slots)
    return made


def region_of(batch: Sequence[dict[str, Any]]) -> str:
    """Return the region that a batch comes from."""
    region: str = batch[0]["region"]
    return region


def _timing(dice: random.Random, n: int) -> Timing:
    """Return a good request of 1,000 tokens, one a chunk, at some 120 tokens/s."""
    at_us = tuple(_stamps(dice))
    return make_timing(
        Chunks(
            at_us=at_us,
            size_bytes=tuple(dice.choices((1, 2, 3, 4, 5, 6, 8, 11), k=TOKENS)),
            tokens=(1,) * TOKENS,
            kind="a" * TOKENS,
        ),
        n=n,
        end_us=at_us[-1] + 500,
        headers_us=at_us[0] - 1_000,
    )


def _stamps(dice: random.Random) -> Iterator[int]:
    at = 200_000
    for _ in range(TOKENS):
        yield at
        at += max(60, int(dice.gauss(8_300, 2_500)))
