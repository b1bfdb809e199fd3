"""Tomorrow's centre: today's code in a process of its own that also knows version 2 of the record.

It reads `{"url", "records"}` on standard input, takes the records in, takes up what is aside, and
prints what became of both.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]


def tomorrow(url: str, *records: dict[str, Any]) -> dict[str, Any]:
    """Let tomorrow's centre take records in, and what is aside in the store; return what it says:
    `pushed`, the statuses of the records, and `taken_up`, how many were known.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "support.tomorrow"],
        cwd=TESTS,
        env={"PYTHONPATH": f"{TESTS}:{TESTS.parent}", "PATH": ""},
        input=json.dumps({"url": url, "records": records}),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _main() -> None:
    import pacewatch
    from pacewatch.words import wire

    pacewatch.__version__ = "99.0.0"
    wire.VERSION = 2  # before anything else is imported that knows it

    from aggregator import db
    from aggregator.upkeep import take_up_aside
    from support.centre import make_fleet
    from support.records import NOON, push

    told = json.loads(sys.stdin.read())
    pool = db.open_pool(told["url"], size=2)
    try:
        pushed = [str(push(pool, record)[0].status) for record in told["records"]]
        taken_up = take_up_aside(pool, make_fleet(), NOON)
    finally:
        pool.close()
    sys.stdout.write(json.dumps({"pushed": pushed, "taken_up": taken_up}))


if __name__ == "__main__":
    _main()
