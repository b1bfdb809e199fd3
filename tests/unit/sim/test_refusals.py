import pytest

from pacewatch.sim.faults import Fault, FaultKind
from pacewatch.sim.refusals import refusal_json, refuse_by, refuse_key, refuse_model

LIMITED = refuse_by(Fault(kind=FaultKind.RATE_LIMIT, target="all", retry_after_s=7), "m")
OVERLOADED = refuse_by(Fault(kind=FaultKind.FAIL, target="all", status=529), "m")
GONE = refuse_model("m")
NO_SUCH_MODEL = "The model `m` does not exist or you do not have access to it."


@pytest.mark.parametrize(
    ("provider", "refusal", "expected"),
    [
        (
            "groq",
            GONE,
            {
                "error": {
                    "message": NO_SUCH_MODEL,
                    "type": "invalid_request_error",
                    "param": None,
                    "code": "model_not_found",
                }
            },
        ),
        (
            "cerebras",
            GONE,
            {
                "message": NO_SUCH_MODEL,
                "type": "invalid_request_error",
                "param": None,
                "code": "model_not_found",
            },
        ),
        (
            "anthropic",
            OVERLOADED,
            {
                "type": "error",
                "error": {"type": "overloaded_error", "message": "The service is in trouble."},
                "request_id": "r1",
            },
        ),
        (
            "vertex",
            LIMITED,
            {
                "error": {
                    "code": 429,
                    "message": "Rate limit reached. Try again in 7 s.",
                    "status": "RESOURCE_EXHAUSTED",
                }
            },
        ),
        (
            "azure",
            GONE,
            {
                "error": {
                    "code": "DeploymentNotFound",
                    "message": "The API deployment for this resource does not exist.",
                }
            },
        ),
        (
            "nvidia",
            refuse_key(is_missing=False),
            {"status": 401, "title": "bad_key", "detail": "Invalid API key."},
        ),
    ],
)
def test_errors_have_the_providers_own_form(provider, refusal, expected):
    assert refusal_json(provider, refusal, "r1") == expected


def test_a_rate_limit_says_how_long_to_wait():
    assert (LIMITED.status, LIMITED.retry_after_s) == (429, 7)
