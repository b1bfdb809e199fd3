"""Why a message was not taken: words of ours, found in the log of another."""

import pytest

from aggregator.notify.deliver import reason_of
from aggregator.notify.send import FIRST_PAUSE, LONGEST_PAUSE, pause_after

LOGS = {
    "Failed to send JSON POST notification: Internal Server Error, error=500.": "it answered 500",
    "Socket Exception: HTTPSConnectionPool(host='h'): Max retries exceeded with url: /hunter2 "
    "(Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] x')))": (
        "its certificate is not trusted"
    ),
    'Max retries exceeded with url: /hunter2 (Caused by NameResolutionError("x"))': (
        "its host name is not known"
    ),
    "(Caused by NewConnectionError('[Errno 111] Connection refused'))": (
        "the connection was refused"
    ),
    "HTTPConnectionPool(host='h', port=1): Read timed out. (read timeout=4.0)": (
        "no answer in time"
    ),
    "('Connection aborted.', RemoteDisconnected('Remote end closed'))": "it broke off",
    "something with hunter2 in it": "the service did not take it",
}


@pytest.mark.parametrize("line", LOGS)
def test_a_reason_is_one_of_our_own_sentences(line):
    assert reason_of(["Loaded it", line]) == LOGS[line]


def test_pauses_grow_to_a_quarter_of_an_hour():
    pauses = [pause_after(tries) for tries in (1, 2, 3, 9, 400)]

    assert pauses == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
