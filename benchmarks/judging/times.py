"""How soon troubles are found at many rates: the table that `pacewatch plan` reads."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from aggregator.backtest.play import Rate
from aggregator.backtest.study import find_all, summary
from aggregator.backtest.times import FILE, TROUBLES
from benchmarks.judging.page import Section, seeds_text
from pacewatch.words.text import hours_text

REGIONS = (1, 2, 3, 5, 8, 20)
RATES = (
    *((8, 2, 300), (8, 2, 900), (8, 2, 0), (4, 1, 0), (2, 0, 0), (24, 2, 0)),
    *((8, 0, 0), (4, 0, 300)),
)
"""Single and parallel runs a day, and seconds between sentinels."""


def tell_times(seeds: range, starts_each: int, *, write: bool) -> list[Section]:
    """Return the table, and write the file where asked."""
    section = Section("times to find", seeds_text(seeds, starts_each) + ": median")
    section.head("regions", "single", "parallel", "sentinels each", *TROUBLES)
    rows = []
    for rate in _rates():
        found = find_all(rate, TROUBLES, seeds, starts_each)
        cells = {}
        for trouble in TROUBLES:
            median, _, _, missed = summary(found[trouble])
            cells[trouble] = {
                "median_h": None if median is None else round(median, 3),
                "missed": round(missed, 3),
            }
        rows.append(
            {
                "regions": rate.regions,
                "single_per_day": rate.single_a_day,
                "parallel_per_day": rate.parallel_a_day,
                "sentinel_s": rate.sentinel_s or 0,
                "found": cells,
            }
        )
        section.row(
            *(rate.regions, rate.single_a_day, rate.parallel_a_day),
            f"{rate.sentinel_s:.0f} s" if rate.sentinel_s else "none",
            *(
                f"{hours_text(c['median_h'])}, {c['missed']:.0%} not in a day"
                for c in cells.values()
            ),
        )
    if write:
        made = {
            "measured_on": f"{datetime.now(UTC):%Y-%m-%d}",
            "seeds": [seeds.start, seeds.stop - 1],
            "starts": starts_each,
            "rows": rows,
        }
        FILE.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    return []


def _rates() -> Iterator[Rate]:
    for regions in REGIONS:
        for single, parallel, sentinel_s in RATES:
            yield Rate(
                regions=regions,
                single_a_day=single,
                parallel_a_day=parallel,
                sentinel_s=sentinel_s or None,
            )
