"""How exact timings are: `scripts/bench-clock`. See benchmarks/README.md."""

import argparse
import sys

from clock.bounds import ALONE, BESIDE, TRAPS, WORKLOADS, bounds
from clock.measure import Ask, Cell, Found, Spread, cell, over, own_calibration, spread, spring
from clock.show import machine, markdown, put_into_page, text
from clock.stage import WAYS, CannotBuildError, Stage, stage

RUNS = 21
"""Parallel runs of which the spread of the sends is the median."""


def main() -> None:
    """Measure and print; exit 1 where a gate is missed, 2 where it cannot be measured here."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round and one try of each")
    options.add_argument("--way", choices=WAYS, action="append", help="that way alone")
    options.add_argument("--beside", choices=BESIDE, action="append", help="that one alone")
    options.add_argument("--write", action="store_true", help="put the tables into the docs")
    asked = options.parse_args()
    if asked.write and (asked.quick or asked.way or asked.beside):
        options.error("--write: needs all of it, measured in full")
    try:
        with stage() as place:
            found = measure(place, asked)
    except CannotBuildError as error:
        say(f"This benchmark cannot be made here: {error}.")
        sys.exit(2)
    print(text(found))
    if asked.write:
        put_into_page(markdown(found))
    if is_wrong(found):
        sys.exit(1)


def measure(place: Stage, asked: argparse.Namespace) -> Found:
    """Return all that is measured, at one place and time."""
    rounds, tries = (1, 1) if asked.quick else (5, 3)
    at, many, alone = machine(), list[Cell](), list[Cell]()
    for way in asked.way or WAYS:
        for beside in asked.beside or BESIDE:
            say(f"10 streams, {way}, beside {BESIDE[beside]} ...")
            how = Ask(way=way, beside=beside, rounds=rounds)
            many.append(cell(place, how, bounds(way, beside), tries))
    for rate in (80, 500):
        say(f"1 stream of {rate} tokens/s ...")
        how = Ask(way="TLS", model=f"truth-ttft100-tps{rate}-n{rate}", streams=1, rounds=rounds)
        alone.append(cell(place, how, ALONE, tries))
    spreads = [
        together(place, way, beside, workload, tries)
        for workload in WORKLOADS
        for way in ("plain", "TLS")
        for beside in asked.beside or BESIDE
    ]
    say("answers that are easily measured wrongly ...")
    traps = [spring(place, trap, tries) for trap in TRAPS]
    say("pacewatch calibrate ...")
    return Found(at=at, many=many, alone=alone, spreads=spreads, traps=traps, own=own_calibration())


def together(place: Stage, way: str, beside: str, workload: str, tries: int) -> Spread:
    """Return how far apart the sends of parallel runs are; their answers are short."""
    say(f"10 sends, {workload}, {way}, beside {BESIDE[beside]} ...")
    how = Ask(
        way=way,
        beside=beside,
        workload=workload,
        model="truth-ttft50-tps1000-n5",
        rounds=RUNS,
    )
    return spread(place, how, tries)


def is_wrong(found: Found) -> bool:
    """Tell whether a gate is missed."""
    cells = (*found.many, *found.alone)
    return (
        any(over(one.probe, one.limits) for one in cells)
        or any(one.is_wrong for one in found.spreads)
        or any(one.wrong for one in found.traps)
    )


def say(line: str) -> None:
    """Tell how far it is."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
