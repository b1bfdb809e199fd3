import pytest

from pacewatch.words.error_code import outcome_of_code
from pacewatch.words.outcome import Outcome


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("insufficient_quota", Outcome.PAYMENT),
        ("rate_limit_exceeded", Outcome.RATE_LIMITED),
        ("RESOURCE_EXHAUSTED", Outcome.RATE_LIMITED),
        ("ThrottlingException", Outcome.RATE_LIMITED),
        ("overloaded_error", Outcome.OVERLOADED),
        ("SERVICE_UNAVAILABLE", Outcome.OVERLOADED),
        ("invalid_api_key", Outcome.AUTH),
        ("content_filter", Outcome.FILTERED),
        ("DeploymentNotFound", Outcome.NOT_SERVED),
        ("model_decommissioned", Outcome.NOT_SERVED),
        ("context_length_exceeded", Outcome.REJECTED),
    ],
)
def test_a_known_code_says_the_outcome_however_it_is_spelt(code, outcome):
    assert outcome_of_code(code) is outcome


@pytest.mark.parametrize("code", ["", "quota", "invalid_request_error", "503", "api_error", "x"])
def test_a_general_or_unknown_code_says_nothing(code):
    assert outcome_of_code(code) is None
