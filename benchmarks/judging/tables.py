"""The tables: quiet time, delays, simpler rules, classes, long slowdowns, calibration."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aggregator.backtest.fleet import calibrate_fleet
from aggregator.backtest.play import Rate
from aggregator.backtest.study import (
    RULES,
    Found,
    find_all,
    last,
    name_all,
    quiet,
    starts,
    summary,
)
from aggregator.backtest.trouble import Injected
from benchmarks.judging.page import Section, poisson, seeds_text
from pacewatch.words.figures import percentile
from pacewatch.words.text import hours_text

SCHEDULED = {f"{n} region" + ("s" if n > 1 else ""): Rate(regions=n) for n in (1, 3, 8, 20)}
SENTINELS = {"3 regions, sentinels": Rate(regions=3, sentinel_s=300)}
RATES = SCHEDULED | SENTINELS

SLOW = ("speed halved", "speed to a third", "TTFT five times", "TTFT twice", "speed x0.7")
REST = ("outage, refusing", "outage, hanging", "60 % rate-limited", "TTFT five times, one region")

COMPARED = (
    *SLOW[:4],
    *("outage, refusing", "60 % rate-limited", "TTFT five times, one region"),
)
"""What simpler rules are tried on."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked of the rule, in hours; None: nothing."""

    rate: str
    trouble: str
    median: float
    late: float | None = None
    """90 % of them."""
    longest: float | None = None
    goal: float | None = None
    """A median that would be better still."""

    @property
    def asked(self) -> str:
        """Return it in words."""
        late = "" if self.late is None else f" / {hours_text(self.late)}"
        most = "" if self.longest is None else f", at most {hours_text(self.longest)}"
        return hours_text(self.median) + late + most

    def is_met(self, median: float | None, late: float | None, longest: float) -> bool:
        """Tell whether what was found is no later."""
        return (
            (median or longest) <= self.median
            and (self.late is None or (late is not None and late <= self.late))
            and (self.longest is None or round(longest * 60) <= round(self.longest * 60))
        )


BY_SENTINELS = "3 regions, sentinels"
TARGETS = (
    Target("3 regions", "speed halved", 4.6, 9.0),
    Target("8 regions", "speed halved", 2.5, 4.2),
    Target("20 regions", "speed halved", 1.9, 3.1),
    Target("3 regions", "TTFT five times", 3.9, 5.0),
    Target("3 regions", "outage, refusing", 0.9, 2.0),
    Target(BY_SENTINELS, "outage, refusing", 5 / 60, longest=7 / 60),
    Target(BY_SENTINELS, "outage, hanging", 9 / 60),
    Target(BY_SENTINELS, "TTFT five times", 45 / 60, goal=30 / 60),
    Target(BY_SENTINELS, "speed to a third", 30 / 60, goal=20 / 60),
    Target(BY_SENTINELS, "speed halved", 75 / 60, goal=45 / 60),
)

FLEETS = 20
"""Fleets of each size that are calibrated."""

Delays = Mapping[str, Mapping[str, list[Found]]]
"""By rate and trouble."""


def tell_quiet(seeds: range, years: float) -> list[Section]:
    """Return the false alarms of so many years of an endpoint at each rate."""
    section = Section("quiet time", seeds_text(seeds))
    section.head(
        *("endpoint", "endpoint years", "false-alarm days a year (95 %)"),
        *("of all regions, which may page (95 %)", "extra requests"),
    )
    for name, rate in RATES.items():
        found = quiet(rate, seeds, max(20, int(years * 365.25 / len(seeds))))
        cells = [
            f"{count / found.years:.2f} ({low / found.years:.2f} to {high / found.years:.2f})"
            for count in (found.days_alarmed, found.days_pooled)
            for low, high in [poisson(count)]
        ]
        section.row(name, f"{found.years:.1f}", *cells, f"{found.extra_share:.1%}")
    return [section]


def tell_delays(seeds: range, starts_each: int) -> list[Section]:
    """Return how soon troubles are found, and which targets are met."""
    section = Section(
        "delays",
        f"{seeds_text(seeds, starts_each)}: median / 90 % / longest / not within a day",
    )
    section.head("trouble", *RATES)
    found = {name: find_all(rate, SLOW + REST, seeds, starts_each) for name, rate in RATES.items()}
    for trouble in SLOW + REST:
        section.row(trouble, *(_cell(found[name][trouble]) for name in RATES))
    return [section, _targets(found, seeds, starts_each)]


def _cell(found: Iterable[Found]) -> str:
    middle, late, longest, missed = summary(list(found))
    told = [hours_text(middle), hours_text(late), hours_text(None if longest >= 48 else longest)]
    return " / ".join([*told, f"{missed:.0%}"])


def _targets(found: Delays, seeds: range, starts_each: int) -> Section:
    section = Section("targets", seeds_text(seeds, starts_each))
    section.head("rate", "trouble", "asked: median / 90 %", "found", "met", "goal beyond: median")
    for one in TARGETS:
        median, late, longest, _ = summary(found[one.rate][one.trouble])
        told = f"{hours_text(median)} / {hours_text(late)}"
        if one.longest is not None:
            told += f", at most {hours_text(longest)}"
        met = "yes" if one.is_met(median, late, longest) else "no"
        section.row(one.rate, one.trouble, one.asked, told, met, _goal(one, median))
    return section


def _goal(target: Target, median: float | None) -> str:
    if target.goal is None:
        return ""
    is_met = median is not None and median <= target.goal
    return f"{hours_text(target.goal)}: {'met' if is_met else 'not met'}"


def tell_plain(seeds: range, starts_each: int) -> list[Section]:
    """Return what simpler rules do with three regions."""
    rate = Rate(regions=3)
    section = Section(
        "beside simpler rules",
        f"3 regions, {seeds_text(seeds, starts_each)}: median / 90 % / longest / not within a day",
    )
    section.head("", *RULES)
    calms = [quiet(rate, seeds, 120, make) for make in RULES.values()]
    alarms = (f"{calm.days_alarmed / calm.years:.1f}" for calm in calms)
    section.row("false-alarm days a year", *alarms)
    found = [find_all(rate, COMPARED, seeds, starts_each, make) for make in RULES.values()]
    for trouble in COMPARED:
        section.row(trouble, *(_cell(of_rule[trouble]) for of_rule in found))
    return [section]


def tell_classes(seeds: range, starts_each: int) -> list[Section]:
    """Return how often the class is right."""
    rates = {name: SCHEDULED[name] for name in ("3 regions", "8 regions", "20 regions")}
    section = Section("class named right", f"20 other endpoints, {seeds_text(seeds, starts_each)}")
    section.head("trouble", *rates)
    named = {name: name_all(rate, seeds, starts_each) for name, rate in rates.items()}
    for trouble in named["3 regions"]:
        section.row(trouble, *("{} of {}".format(*named[name][trouble]) for name in rates))
    return [section]


def tell_lasting(seeds: range) -> list[Section]:
    """Return whether a long slowdown is called ok, and how soon its end is."""
    section = Section("slowdowns of six days", seeds_text(seeds, 1))
    section.head("rate", "trouble", "found", "called ok", "end told after, median")
    for name in RATES:
        for trouble in (Injected(name="speed halved", speed=0.5), Injected(name="TTFT x5", ttft=5)):
            ends = [
                end
                for seed in seeds
                for play, hour in starts(RATES[name], seed, 1)
                if (end := last(play, hour, trouble, 6)) is not None
            ]
            recovery = percentile((e.recovery_h or 96 for e in ends), 0.5)
            called_ok = sum(e.called_ok for e in ends)
            section.row(name, trouble.name, len(ends), called_ok, hours_text(recovery))
    return [section]


def tell_calibration(first: int) -> list[Section]:
    """Return what calibration on eight quiet weeks makes of the eight weeks after them."""
    section = Section("calibration", f"3 regions, one false page a month, seeds from {first} on")
    section.head(
        *("fleets of", "fleets", "thresholds times", "allowed in eight weeks"),
        *("pages of the next eight, mean", "most", "over twice the allowed"),
    )
    for endpoints in (5, 10, 20):
        starts = range(first, first + FLEETS * endpoints, endpoints)
        first = starts.stop
        done = [calibrate_fleet(Rate(regions=3), range(at, at + endpoints), 8) for at in starts]
        pages, times = [one.pages for one in done], [one.multiplier for one in done]
        section.row(
            *(f"{endpoints} endpoints", FLEETS, f"{min(times):.2f} to {max(times):.2f}"),
            *(f"{done[0].allowed:.1f}", f"{sum(pages) / FLEETS:.1f}", max(pages)),
            sum(one.pages > 2 * one.allowed for one in done),
        )
    return [section]
