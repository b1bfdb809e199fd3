"""Play the judging rule and simpler ones over synthetic histories, and print what they do.

One process. The thresholds are those of the code: they were fitted on the seeds below 1,000, so the
seeds of a report begin there.
"""

import argparse
import os
import time
from collections.abc import Iterable

from aggregator.backtest.fleet import calibrate_fleet
from aggregator.backtest.plain import Regions, Threshold
from aggregator.backtest.play import Rate
from aggregator.backtest.study import (
    Found,
    find_all,
    last,
    name_all,
    quiet,
    starts,
    summary,
    watch_for,
)
from aggregator.backtest.trouble import Injected
from pacewatch.words.figures import percentile

SCHEDULED = {f"{n} regions": Rate(regions=n) for n in (1, 3, 8, 20)}
SENTINELS = {"3 regions, sentinels each 5 min": Rate(regions=3, sentinel_s=300)}
PLAIN = {
    "the rule": watch_for,
    "72-h median 1.4 times the one before": lambda rate: Threshold(),
    "half of the regions over 3 times": lambda rate: Regions(regions=rate.regions),
}
SLOW = ("speed halved", "speed to a third", "TTFT five times", "TTFT twice", "speed x0.7")
REST = ("outage, refusing", "outage, hanging", "60 % rate-limited", "TTFT five times, one region")

TARGETS = (
    ("3 regions", "speed halved", 4.6, 9.0),
    ("8 regions", "speed halved", 2.5, 4.2),
    ("20 regions", "speed halved", 1.9, 3.1),
    ("3 regions", "TTFT five times", 3.9, 5.0),
    ("3 regions", "outage, refusing", 0.9, 2.0),
    ("3 regions, sentinels each 5 min", "outage, refusing", 5 / 60, None),
    ("3 regions, sentinels each 5 min", "outage, hanging", 9 / 60, None),
    ("3 regions, sentinels each 5 min", "TTFT five times", 45 / 60, None),
    ("3 regions, sentinels each 5 min", "speed to a third", 30 / 60, None),
    ("3 regions, sentinels each 5 min", "speed halved", 75 / 60, None),
)
"""Median and 90 %, hours."""


def row(*cells: object) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def hours(value: float | None) -> str:
    """Return a time as text."""
    if value is None:
        return ">48 h"
    return f"{value:.1f} h" if value >= 2 else f"{value * 60:.0f} min"


def cell(found: Iterable[Found]) -> str:
    """Return median / 90 % / longest / missed."""
    middle, late, longest, missed = summary(list(found))
    longest_text = hours(None if longest >= 48 else longest)
    return f"{hours(middle)} / {hours(late)} / {longest_text} / {missed:.0%}"


def tell_quiet(rates: dict[str, Rate], seeds: range, runs: float) -> None:
    """Print the false alarms: as many runs are played at every rate."""
    print("\n## Quiet time\n")
    row("rate", "endpoint years", "false-alarm days a year", "95 %", "pooled alone", "extra", "of")
    row(*["---"] * 7)
    for name, rate in rates.items():
        days = max(20, int(runs / rate.runs_a_day / len(seeds)))
        found = quiet(rate, seeds, days)
        low, high = poisson(found.days_alarmed)
        row(
            name,
            f"{found.years:.1f}",
            f"{found.days_alarmed / found.years:.2f}",
            f"{low / found.years:.2f} to {high / found.years:.2f}",
            f"{found.days_pooled / found.years:.2f}",
            f"{found.extra_share:.1%}",
            dict(found.charts),
        )


def poisson(count: int) -> tuple[float, float]:
    """Return about the 95 % interval of a count's mean."""
    low = 0.0 if count == 0 else count * (1 - 1 / (9 * count) - 1.96 / (3 * count**0.5)) ** 3
    over = count + 1
    return low, over * (1 - 1 / (9 * over) + 1.96 / (3 * over**0.5)) ** 3


def tell_delays(rates: dict[str, Rate], seeds: range, starts_each: int) -> None:
    """Print how soon troubles are found, and which targets are met."""
    print("\n## Found after: median / 90 % / longest / not within 24 h\n")
    row("trouble", *rates)
    row(*["---"] * (1 + len(rates)))
    found = {name: find_all(rate, SLOW + REST, seeds, starts_each) for name, rate in rates.items()}
    for trouble in SLOW + REST:
        row(trouble, *(cell(found[name][trouble]) for name in rates))
    print(f"\n{min(len(one['speed halved']) for one in found.values())} starts or more each.\n")
    row("target", "trouble", "asked", "found", "met")
    row(*["---"] * 5)
    for name, trouble, middle, late in TARGETS:
        if name not in found:
            continue
        has = summary(found[name][trouble])
        met = has[0] is not None and has[0] <= middle
        met = met and (late is None or (has[1] is not None and has[1] <= late))
        asked = hours(middle) + ("" if late is None else f" / {hours(late)}")
        row(name, trouble, asked, f"{hours(has[0])} / {hours(has[1])}", "yes" if met else "no")


def tell_plain(seeds: range, starts_each: int) -> None:
    """Print what simpler rules do with three regions."""
    print("\n## Beside simpler rules, 3 regions\n")
    rate = Rate(regions=3)
    row("rule", "false-alarm days a year", *SLOW[:4])
    row(*["---"] * 6)
    for name, make in PLAIN.items():
        calm = quiet(rate, seeds[:6], 60, make)
        found = find_all(rate, SLOW[:4], seeds, starts_each, make)
        row(name, f"{calm.days_alarmed / calm.years:.1f}", *(cell(found[t]) for t in SLOW[:4]))


def tell_classes(seeds: range, starts_each: int) -> None:
    """Print how often the class is right."""
    print("\n## Class named right, of those found; 20 other endpoints\n")
    rates = {name: SCHEDULED[name] for name in ("3 regions", "8 regions", "20 regions")}
    named = {name: name_all(rate, seeds, starts_each) for name, rate in rates.items()}
    row("trouble", *rates)
    row(*["---"] * (1 + len(rates)))
    for trouble in named["3 regions"]:
        row(trouble, *("{} of {}".format(*named[name][trouble]) for name in rates))


def tell_lasting(seeds: range) -> None:
    """Print whether a long slowdown is called ok, and how soon its end is."""
    print("\n## Slowdowns of six days: called ok while they last, and recovery\n")
    row("rate", "trouble", "found", "called ok", "recovery, median")
    row(*["---"] * 5)
    for name in ("3 regions", "8 regions"):
        for trouble in (Injected(name="speed halved", speed=0.5), Injected(name="TTFT x5", ttft=5)):
            ends = [
                end
                for seed in seeds
                for play, hour in starts(SCHEDULED[name], seed, 1)
                if (end := last(play, hour, trouble, 6)) is not None
            ]
            recovery = percentile((e.recovery_h or 96 for e in ends), 0.5)
            row(name, trouble.name, len(ends), sum(e.called_ok for e in ends), hours(recovery))


def tell_calibration(first: int) -> None:
    """Print what calibration on eight quiet weeks makes of the eight weeks after them."""
    print("\n## Calibrated on eight quiet weeks, 3 regions, one false page a month\n")
    row("endpoints", "thresholds times", "allowed in eight weeks", "pages of the next eight")
    row(*["---"] * 4)
    for endpoints in (5, 10, 20):
        seeds = range(first, first + endpoints)
        first += endpoints
        done = calibrate_fleet(Rate(regions=3), seeds, 8)
        row(endpoints, f"{done.multiplier:.2f}", f"{done.allowed:.1f}", done.pages)


def main() -> None:
    """Play all of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judging", description=__doc__)
    parser.add_argument("--seed", type=int, default=1000, help="the first of the seeds")
    parser.add_argument("--endpoints", type=int, default=12, help="seeds of each table")
    parser.add_argument("--starts", type=int, default=4, help="starts of each seed")
    parser.add_argument("--runs", type=float, default=120_000, help="runs of each quiet rate")
    parser.add_argument(
        "--only", help="scheduled, sentinels, plain, classes, calibration or lasting"
    )
    asked = parser.parse_args()
    os.nice(15)
    began = time.monotonic()
    seeds = range(asked.seed, asked.seed + asked.endpoints)
    print(f"seeds {seeds.start} to {seeds.stop - 1}, {asked.starts} starts each")
    for name, rates in (("scheduled", SCHEDULED), ("sentinels", SENTINELS)):
        if asked.only in (None, name):
            tell_quiet(rates, seeds, asked.runs)
            tell_delays(rates, seeds, asked.starts)
    if asked.only in (None, "plain"):
        tell_plain(seeds, asked.starts)
    if asked.only in (None, "classes"):
        tell_classes(seeds, asked.starts)
    if asked.only in (None, "calibration"):
        tell_calibration(asked.seed)
    if asked.only in (None, "lasting"):
        tell_lasting(seeds)
    print(f"\n{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
