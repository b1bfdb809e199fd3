import json

import pytest
from support.simulator import make_anthropic_endpoint, make_endpoint

from pacewatch.sim.faults import Fault, FaultKind
from pacewatch.sim.http import Request
from pacewatch.sim.refusals import Why
from pacewatch.sim.route import Asked, Refused, Routes, serve_endpoints
from pacewatch.words.endpoint import Auth, Protocol

GROQ = make_endpoint(auth=Auth.BEARER)
ANTHROPIC = make_anthropic_endpoint(auth=Auth.X_API_KEY)
OPEN = make_endpoint("zai/glm", base_url="https://api.z.ai/api/paas/v4")
ROUTES = Routes(serve_endpoints([GROQ, ANTHROPIC, OPEN]))
CHAT = "/groq/openai/v1/chat/completions"
MESSAGES = [{"role": "user", "content": "Say something."}]
KEY = {"authorization": "Bearer sk-any"}


def make_body(model: str = "llama-3.3-70b", **more) -> dict:
    return {"model": model, "stream": True, "max_tokens": 5, "messages": MESSAGES, **more}


def understand(path=CHAT, body=None, headers=KEY, method="POST", fault=None, routes=ROUTES):
    body = make_body() if body is None else body
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(method=method, path=path, headers=headers, body=raw, received_s=0.0)
    return routes.understand(request, lambda endpoint: fault)


def refusal(**request) -> tuple[Why, int, str | None]:
    meant = understand(**request)
    assert isinstance(meant, Refused)
    return meant.refusal.why, meant.refusal.status, meant.endpoint


def test_a_good_request_finds_its_endpoint():
    meant = understand()

    assert isinstance(meant, Asked)
    assert meant.served.endpoint is GROQ
    assert meant.ask.max_tokens == 5


def test_anthropic_takes_its_own_header():
    body = make_body("claude-opus-4-8")

    meant = understand("/anthropic/v1/messages", body, {"x-api-key": "sk-any"})

    assert isinstance(meant, Asked)
    assert meant.served.endpoint is ANTHROPIC


@pytest.mark.parametrize("base", ["https://api.anthropic.com", "https://api.anthropic.com/v1"])
def test_the_messages_path_does_not_hang_on_how_the_base_ends(base):
    served = serve_endpoints([make_anthropic_endpoint(base_url=base)])

    assert [one.path for one in served] == ["/anthropic/v1/messages"]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"path": "/groq/v1/chat/completions"}, (Why.UNKNOWN_PATH, 404, None)),
        ({"path": "/nobody/v1/chat/completions"}, (Why.UNKNOWN_PATH, 404, None)),
        ({"method": "GET"}, (Why.UNKNOWN_PATH, 404, None)),
        ({"headers": {}}, (Why.NO_KEY, 401, GROQ.id)),
        ({"headers": {"authorization": "Basic sk"}}, (Why.NO_KEY, 401, GROQ.id)),
        ({"headers": {"authorization": "Bearer refused"}}, (Why.BAD_KEY, 401, GROQ.id)),
        ({"body": make_body("nope")}, (Why.UNKNOWN_MODEL, 404, None)),
        ({"body": {**make_body(), "model": 7}}, (Why.MALFORMED, 400, None)),
        ({"body": b"{"}, (Why.MALFORMED, 400, None)),
        ({"body": b"[" * 100_000}, (Why.MALFORMED, 400, None)),
        ({"body": b"[]"}, (Why.MALFORMED, 400, None)),
        ({"body": make_body(max_tokens=0)}, (Why.MALFORMED, 400, GROQ.id)),
        ({"body": make_body(max_tokens="5")}, (Why.MALFORMED, 400, GROQ.id)),
        ({"body": make_body(messages=[])}, (Why.MALFORMED, 400, GROQ.id)),
        ({"body": make_body(stream=False)}, (Why.MALFORMED, 400, GROQ.id)),
    ],
)
def test_what_is_refused(request_, expected):
    assert refusal(**request_) == expected


def test_where_no_key_is_bound_none_is_needed():
    body = make_body("glm")

    assert isinstance(understand("/zai/api/paas/v4/chat/completions", body, {}), Asked)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (FaultKind.FAIL, (Why.BROKEN, 500, GROQ.id)),
        (FaultKind.RATE_LIMIT, (Why.RATE_LIMITED, 429, GROQ.id)),
        (FaultKind.NOT_SERVED, (Why.UNKNOWN_MODEL, 404, GROQ.id)),
        (FaultKind.AUTH, (Why.BAD_KEY, 401, GROQ.id)),
    ],
)
def test_a_fault_refuses(kind, expected):
    assert refusal(fault=Fault(kind=kind, target="all")) == expected


def test_blanks_in_a_path_are_met_encoded_or_not():
    url = "https://x/v1/projects/{project}/endpoints/openapi"
    served = serve_endpoints([make_endpoint("vertex/m", base_url=url)])

    assert served[0].path == "/vertex/v1/projects/{project}/endpoints/openapi/chat/completions"


def test_protocols_without_a_voice_are_not_served():
    assert serve_endpoints([make_endpoint(protocol=Protocol.GEMINI)]) == ()


def test_of_endpoints_that_look_alike_the_first_answers():
    twin = make_endpoint("groq/llama-3.3-70b#eu", provider_model="llama-3.3-70b", auth=Auth.BEARER)
    routes = Routes(serve_endpoints([GROQ, twin]))

    meant = understand(routes=routes)

    assert isinstance(meant, Asked)
    assert meant.served.endpoint is GROQ
