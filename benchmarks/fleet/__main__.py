"""What a fleet of the size that people run takes: `scripts/measure-fleet`. See
benchmarks/README.md.
"""

import argparse
import http.client
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from centre.store import Size
from processes import cpu_s, family, pss_mb

from fleet.stage import Stage, say, staged

BOUNDS = {"pss_mb": 2_000.0, "cores": 0.25}
"""What must hold of everything together: five workers, centre, database, broker, Prometheus."""

EVERY_S = 5
_COUNTED = ("tried", "succeeded")


def main() -> None:
    """Measure and print JSON; exit 1 where a bound is not kept."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--endpoints", type=int, default=60, help="endpoints (60)")
    options.add_argument("--regions", type=int, default=5, help="regions (5)")
    options.add_argument("--days", type=float, default=30, help="days of history (30)")
    options.add_argument("--settle", type=float, default=3, help="minutes before measuring (3)")
    options.add_argument("--minutes", type=float, default=15, help="minutes of measuring (15)")
    given = options.parse_args()
    size = Size(endpoints=given.endpoints, regions=given.regions, days=given.days)
    with tempfile.TemporaryDirectory(prefix="pw-fleet-", dir="/tmp") as made:
        Path(made).chmod(0o755)
        with staged(Path(made), size) as stage:
            say(f"settling for {given.settle:g} min")
            time.sleep(60 * given.settle)
            found = watch(stage, given.minutes)
    found |= {"endpoints": size.endpoints, "regions": size.regions, "days": size.days}
    found |= {"machine": {"processors": os.cpu_count(), "load": os.getloadavg()[0]}}
    rounded = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 3))
    sys.stdout.write(json.dumps(rounded, indent=2) + "\n")
    if over := [key for key, bound in BOUNDS.items() if found[key] > bound]:
        sys.exit(f"over its bound: {', '.join(over)}")


def watch(stage: Stage, minutes: float) -> dict[str, Any]:
    """Watch for so long; return the peak of memory and the mean of processors by process."""
    peak: dict[str, float] = {}
    started, before, told = time.monotonic(), _cpu_s(stage), _requests(stage)
    while time.monotonic() - started < 60 * minutes:
        time.sleep(EVERY_S)
        peak = max(peak, pss_mb(_fleet(stage)), key=lambda sums: sum(sums.values()))
    after, span_s = _cpu_s(stage), time.monotonic() - started
    cores = {who: (after[who] - before.get(who, 0.0)) / span_s for who in after}
    return {
        "minutes": span_s / 60,
        **{name: value - told[name] for name, value in _requests(stage).items()},
        "pss_mb": sum(peak.values()),
        "pss_mb_by_process": peak,
        "cores": sum(cores.values()),
        "cores_by_process": cores,
    }


def _fleet(stage: Stage) -> dict[int, str]:
    """Return the processes of the fleet: all that this one started but for the simulator."""
    ours = os.getpid()
    return {
        pid: "readers" if who == "up" else who
        for pid, who in family(ours, without=stage.outside).items()
        if pid != ours
    }


def _cpu_s(stage: Stage) -> dict[str, float]:
    return cpu_s(_fleet(stage))


def _requests(stage: Stage) -> dict[str, float]:
    """Return how many requests were ever tried and how many succeeded, as the fleet tells."""
    connection = http.client.HTTPConnection(urlsplit(stage.url).netloc, timeout=30)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return {name: _sum(text, f"pacewatch_requests_{name}_total{{") for name in _COUNTED}


def _sum(text: str, begin: str) -> float:
    lines = [line for line in text.splitlines() if line.startswith(begin)]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


if __name__ == "__main__":
    main()
