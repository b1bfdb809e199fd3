import pytest
from support.judged import good

from aggregator.detect.evidence import Ended, votes_of
from pacewatch.words.outcome import Outcome

OK = Ended(outcome=Outcome.OK)
LIMITED = Ended(outcome=Outcome.RATE_LIMITED)
FAILED = Ended(outcome=Outcome.SERVER_ERROR)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([OK], (False, False, False)),
        ([FAILED], (True, None, False)),
        ([LIMITED], (None, True, False)),
        ([Ended(outcome=Outcome.PAYMENT)], (None, True, False)),
        ([Ended(outcome=Outcome.AUTH)], (None, None, False)),
        ([Ended(outcome=Outcome.INTERNAL)], (None, None, False)),
        ([Ended(outcome=Outcome.NOT_SERVED)], (None, None, True)),
        ([Ended(outcome=Outcome.EMPTY)], (True, None, False)),
        ([Ended(outcome=Outcome.EMPTY, had_room=False)], (None, None, False)),
        ([Ended(outcome=Outcome.STREAM_ERROR, error_type="rate_limit_error")], (None, True, False)),
        ([Ended(outcome=Outcome.STREAM_ERROR, error_type="429")], (None, True, False)),
        ([Ended(outcome=Outcome.STREAM_ERROR, error_type="502")], (True, None, False)),
        ([Ended(outcome=Outcome.STREAM_ERROR, error_type="oops")], (True, None, False)),
        ([Ended(outcome=Outcome.STREAM_ERROR)], (True, None, False)),
        ([OK] * 6 + [FAILED] * 4, (False, False, False)),
        ([OK] * 5 + [FAILED] * 5, (True, False, False)),
        ([OK] * 9 + [LIMITED], (False, True, False)),
        ([], (None, None, False)),
    ],
)
def test_a_run_casts_one_vote_on_each_question(requests, expected):
    assert votes_of(requests) == expected


def test_evidence_of_a_good_run_holds_its_figures():
    assert (good(1).ttft_s, good(1).speed) == (0.5, 100.0)
