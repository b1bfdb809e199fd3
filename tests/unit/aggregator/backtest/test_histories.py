"""Histories whose verdicts are known: which, and within how many hours of the trouble's start."""

import json
from pathlib import Path

import pytest
from support.judged import played

from aggregator.backtest.trouble import Injected
from aggregator.detect.turn import Turn
from aggregator.detect.verdict import judge
from pacewatch.words.verdict import Trouble, Verdict

FILES = sorted((Path(__file__).parents[3] / "golden/histories").glob("*.json"))
DAYS = 5


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_history_ends_in_the_verdict_that_is_written_beside_it(file):
    history = json.loads(file.read_text(encoding="utf-8"))
    play = played(history["seed"], days=DAYS)
    assert judge(play.rule).verdict is Verdict.OK

    changes = play.run(DAYS * 24, DAYS * 24 + 24, Injected(**history["trouble"]))

    expected = history["expected"]
    alarms = [c for c in changes if c.turn is Turn.ALARM]
    assert judge(play.rule).verdict is Verdict(expected["verdict"])
    assert judge(play.rule).regions["r00"] is Verdict(expected["first_region"])
    if expected["trouble"] is None:
        assert alarms == []
    else:
        assert alarms[0].trouble is Trouble(expected["trouble"])
        assert alarms[0].at / 3600 - DAYS * 24 <= expected["within_h"]


def test_there_are_histories():
    assert len(FILES) >= 7
