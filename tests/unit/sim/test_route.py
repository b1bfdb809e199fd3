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


def understand(
    path=CHAT, body=None, headers=KEY, method="POST", query=None, fault=None, routes=ROUTES
):
    body = make_body() if body is None else body
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(
        method=method, path=path, query=query or {}, headers=headers, body=raw, received_s=0.0
    )
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


GEMINI = make_endpoint(
    "google/flash",
    protocol=Protocol.GEMINI,
    base_url="https://generativelanguage.googleapis.com/v1beta",
    auth=Auth.X_GOOG_API_KEY,
)
PUBLISHED = make_endpoint(
    "vertex/flash",
    protocol=Protocol.GEMINI,
    base_url="https://x/v1/projects/p/locations/l/publishers/google",
    auth=Auth.GOOGLE,
)
BEDROCK = make_endpoint(
    "bedrock/llama",
    protocol=Protocol.BEDROCK,
    base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
    auth=Auth.AWS,
    provider_model="us.meta.llama4-v1:0",
)
AZURE = make_endpoint("azure/r1", base_url="https://x/openai/v1", auth=Auth.API_KEY)
CLOUDS = Routes(serve_endpoints([GEMINI, PUBLISHED, BEDROCK, AZURE]))
CONTENTS = {"contents": [{"parts": [{"text": "x"}]}]}
CONVERSE = {"messages": [{"role": "user", "content": [{"text": "x"}]}]}
SIGNED = "AWS4-HMAC-SHA256 Credential={}/20261201/us-east-1/bedrock/aws4_request, Signature=0"


@pytest.mark.parametrize(
    ("endpoint", "path", "body", "headers"),
    [
        (
            GEMINI,
            "/google/v1beta/models/flash:streamGenerateContent",
            CONTENTS,
            {"x-goog-api-key": "k"},
        ),
        (
            PUBLISHED,
            "/vertex/v1/projects/p/locations/l/publishers/google/models/flash"
            ":streamGenerateContent",
            CONTENTS,
            KEY,
        ),
        (BEDROCK, "/bedrock/model/us.meta.llama4-v1:0/converse-stream", CONVERSE, KEY),
        (
            BEDROCK,
            "/bedrock/model/us.meta.llama4-v1:0/converse-stream",
            CONVERSE,
            {"authorization": SIGNED.format("AKIA")},
        ),
        (AZURE, "/azure/openai/v1/chat/completions", make_body("r1"), {"api-key": "k"}),
        (
            AZURE,
            "/azure/openai/deployments/r1/chat/completions",
            {**make_body(), "model": "whatever"},
            {"api-key": "k"},
        ),
    ],
)
def test_a_model_is_found_by_its_path_too(endpoint, path, body, headers):
    meant = understand(path, body, headers, query={"api-version": "1"}, routes=CLOUDS)

    assert isinstance(meant, Asked)
    assert meant.served.endpoint is endpoint


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            {"path": "/google/v1beta/models/nope:streamGenerateContent", "body": CONTENTS}
            | {"headers": {"x-goog-api-key": "k"}},
            (Why.UNKNOWN_MODEL, 404, None),
        ),
        (
            {"path": "/google/v1beta/models/flash:generateContent", "body": CONTENTS},
            (Why.UNKNOWN_PATH, 404, None),
        ),
        (
            {"path": "/azure/openai/deployments/r1/chat/completions"},
            (Why.UNKNOWN_PATH, 404, None),
        ),
        (
            {"path": "/bedrock/model/us.meta.llama4-v1:0/converse-stream", "body": CONVERSE}
            | {"headers": {"authorization": SIGNED.format("refused")}},
            (Why.BAD_KEY, 401, BEDROCK.id),
        ),
        (
            {"path": "/bedrock/model/us.meta.llama4-v1:0/converse-stream", "body": CONVERSE}
            | {"headers": {"authorization": "Basic x"}},
            (Why.NO_KEY, 401, BEDROCK.id),
        ),
        (
            {"path": "/google/v1beta/models/flash:streamGenerateContent", "body": b"[]"}
            | {"headers": {"x-goog-api-key": "k"}},
            (Why.MALFORMED, 400, GEMINI.id),
        ),
    ],
)
def test_what_is_refused_where_the_path_names_the_model(request_, expected):
    assert refusal(routes=CLOUDS, **request_) == expected


def test_every_protocol_is_served():
    everything = [make_endpoint(f"x/{name}", protocol=name) for name in Protocol]

    assert len(serve_endpoints(everything)) == len(Protocol)


def test_of_endpoints_that_look_alike_the_first_answers():
    twin = make_endpoint("groq/llama-3.3-70b#eu", provider_model="llama-3.3-70b", auth=Auth.BEARER)
    routes = Routes(serve_endpoints([GROQ, twin]))

    meant = understand(routes=routes)

    assert isinstance(meant, Asked)
    assert meant.served.endpoint is GROQ
