"""The reference pages say what the code says."""

import re
import subprocess
import sys
from pathlib import Path

from pacewatch.words.metrics import METRICS

ROOT = Path(__file__).parents[2]


def test_the_tables_of_the_reference_are_those_of_the_code():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/docs", "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_metric_has_its_row_and_no_page_names_another():
    for page in (ROOT / "docs").rglob("*.md"):
        named = set(re.findall(r"`(pacewatch_[a-z_]+)[`{]", page.read_text(encoding="utf-8")))
        assert named <= set(METRICS), page
        if page.name == "metrics.md":
            assert named == set(METRICS)
