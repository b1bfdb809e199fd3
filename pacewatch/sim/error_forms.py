"""Errors as the providers word and shape them: status, headers and body."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pacewatch.sim.refusals import Refusal, Why
from pacewatch.words.endpoint import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """An error as it goes out."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


_OPENAI: Mapping[Why, tuple[str, str | None]] = {
    Why.NO_KEY: ("invalid_request_error", "missing_api_key"),
    Why.BAD_KEY: ("invalid_request_error", "invalid_api_key"),
    Why.UNKNOWN_MODEL: ("invalid_request_error", "model_not_found"),
    Why.RETIRED: ("invalid_request_error", "model_not_found"),
    Why.UNKNOWN_PATH: ("invalid_request_error", "unknown_url"),
    Why.MALFORMED: ("invalid_request_error", None),
    Why.TOO_LARGE: ("invalid_request_error", "request_too_large"),
    Why.RATE_LIMITED: ("requests", "rate_limit_exceeded"),
    Why.PAYMENT: ("insufficient_quota", "insufficient_quota"),
    Why.OVERLOADED: ("server_error", "overloaded"),
    Why.BROKEN: ("server_error", None),
}
"""Type and code of the providers that follow OpenAI."""

_ANTHROPIC: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}

_GOOGLE: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}

_AWS: Mapping[Why, tuple[int, str]] = {
    Why.NO_KEY: (403, "MissingAuthenticationTokenException"),
    Why.BAD_KEY: (403, "UnrecognizedClientException"),
    Why.UNKNOWN_PATH: (404, "UnknownOperationException"),
}
"""Status and exception, where the refusal's own status does not decide."""

_AWS_STATUS: Mapping[int, str] = {
    402: "PaymentRequiredException",
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    413: "RequestEntityTooLargeException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
    529: "ServiceUnavailableException",
}
"""Exception by status; of others 4xx and 5xx decide."""

_DECOMMISSIONS = frozenset({"groq"})
"""Providers that say of a retired model that it was there: 400, model_decommissioned."""

_SPENT: Mapping[str, tuple[int, str]] = {
    "openai": (429, "insufficient_quota"),
    "alibaba": (400, "Arrearage"),
}
"""Status and code of an account without credit, where 402 is not what is told."""


def error_answer(
    provider: str, protocol: Protocol | None, refusal: Refusal, request_id: str
) -> ErrorAnswer:
    """Return the error in the provider's own form, or else in that of its protocol."""
    form = _OF_PROVIDERS.get(provider) or _OF_PROTOCOLS.get(protocol, _as_openai)
    return form(provider, refusal, request_id)


def openai_error(provider: str, refusal: Refusal) -> dict[str, Any]:
    """Return the error object of the providers that follow OpenAI."""
    kind, code = _OPENAI[refusal.why]
    if refusal.why is Why.RETIRED and provider in _DECOMMISSIONS:
        code = "model_decommissioned"
    if refusal.why is Why.PAYMENT and provider in _SPENT:
        kind = code = _SPENT[provider][1]
    return {
        "message": refusal.message,
        "type": kind,
        "param": refusal.param,
        "code": refusal.code or code,
    }


def _as_openai(provider: str, refusal: Refusal, request_id: str) -> ErrorAnswer:
    status = refusal.status
    if refusal.why is Why.PAYMENT and provider in _SPENT:
        status = _SPENT[provider][0]
    if refusal.why is Why.RETIRED and provider in _DECOMMISSIONS:
        status = 400
    return ErrorAnswer(
        status=status,
        body={"error": openai_error(provider, refusal)},
        headers={"x-request-id": request_id},
    )


def _as_cerebras(provider: str, refusal: Refusal, request_id: str) -> ErrorAnswer:
    return ErrorAnswer(
        status=refusal.status,
        body=openai_error(provider, refusal),
        headers={"x-request-id": request_id},
    )


def anthropic_error(refusal: Refusal, request_id: str) -> dict[str, Any]:
    """Return an error as Anthropic tells it, in a body or in an event."""
    kind = _ANTHROPIC.get(refusal.status, "api_error")
    error = {"type": kind, "message": refusal.message}
    return {"type": "error", "error": error, "request_id": request_id}


def _as_anthropic(provider: str, refusal: Refusal, request_id: str) -> ErrorAnswer:
    return ErrorAnswer(
        status=refusal.status,
        body=anthropic_error(refusal, request_id),
        headers={"request-id": request_id},
    )


def google_error(refusal: Refusal, status: int | None = None) -> dict[str, Any]:
    """Return the error as Google tells it, in a body or in an event."""
    code = refusal.status if status is None else status
    word = _GOOGLE.get(code, "UNKNOWN")
    return {"error": {"code": code, "message": refusal.message, "status": word}}


def _as_google(provider: str, refusal: Refusal, request_id: str) -> ErrorAnswer:
    """A key that is not valid is a 400 of the Gemini API, which only its details tell apart."""
    if provider == "google" and refusal.why is Why.BAD_KEY:
        body = google_error(refusal, 400)
        body["error"]["details"] = [_google_detail("API_KEY_INVALID")]
        return ErrorAnswer(status=400, body=body)
    if provider == "google" and refusal.why is Why.NO_KEY:
        return ErrorAnswer(status=403, body=google_error(refusal, 403))
    if refusal.why is Why.PAYMENT:
        body = google_error(refusal, 403)
        body["error"]["details"] = [_google_detail("BILLING_DISABLED")]
        return ErrorAnswer(status=403, body=body)
    return ErrorAnswer(status=refusal.status, body=google_error(refusal))


def _google_detail(reason: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    }


def aws_exception(refusal: Refusal) -> tuple[int, str]:
    """Return the status and the name of the exception of Amazon's services."""
    if refusal.why in _AWS:
        return _AWS[refusal.why]
    other = "InternalServerException" if refusal.status >= 500 else "ValidationException"
    return refusal.status, _AWS_STATUS.get(refusal.status, other)


def _as_aws(provider: str, refusal: Refusal, request_id: str) -> ErrorAnswer:
    status, name = aws_exception(refusal)
    return ErrorAnswer(
        status=status,
        body={"message": refusal.message},
        headers={"x-amzn-requestid": request_id, "x-amzn-errortype": f"{name}:http://internal/"},
    )


def _as_azure(provider: str, refusal: Refusal, request_id: str) -> ErrorAnswer:
    codes = {
        Why.UNKNOWN_MODEL: ("DeploymentNotFound", "The API deployment does not exist."),
        Why.RETIRED: ("DeploymentNotFound", "The API deployment does not exist."),
        Why.PAYMENT: ("insufficient_quota", refusal.message),
    }
    code, message = codes.get(refusal.why, (str(refusal.status), refusal.message))
    return ErrorAnswer(
        status=refusal.status,
        body={"error": {"code": code, "message": message}},
        headers={"apim-request-id": request_id, "x-request-id": request_id},
    )


def _as_problem(provider: str, refusal: Refusal, request_id: str) -> ErrorAnswer:
    return ErrorAnswer(
        status=refusal.status,
        body={"status": refusal.status, "title": refusal.why.value, "detail": refusal.message},
        headers={"x-request-id": request_id},
    )


_Form = Callable[[str, Refusal, str], ErrorAnswer]

_OF_PROVIDERS: Mapping[str, _Form] = {
    "anthropic": _as_anthropic,
    "azure": _as_azure,
    "bedrock": _as_aws,
    "cerebras": _as_cerebras,
    "google": _as_google,
    "nvidia": _as_problem,
    "vertex": _as_google,
}
_OF_PROTOCOLS: Mapping[Protocol | None, _Form] = {
    Protocol.ANTHROPIC: _as_anthropic,
    Protocol.BEDROCK: _as_aws,
    Protocol.GEMINI: _as_google,
}
