"""Orders on the command line that say nothing, or cannot be, are refused before they are sent."""

import pytest

from pacewatch.cli.evidence import _asked
from pacewatch.words.errors import SettingsError


def test_evidence_that_would_begin_after_its_end_is_refused() -> None:
    with pytest.raises(SettingsError, match="--since: 1h is not before --until 2h"):
        _asked("groq/gpt-oss-120b", None, "1h", "2h")
    with pytest.raises(SettingsError, match="--since: 2100-01-01 is not before now"):
        _asked("groq/gpt-oss-120b", None, "2100-01-01", None)


def test_evidence_of_a_span_is_asked_for() -> None:
    path, told = _asked("groq/gpt-oss-120b", None, "2h", "1h")
    assert path == "/api/evidence"
    assert set(told) == {"since", "until", "endpoint"}
