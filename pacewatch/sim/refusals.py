"""Errors as the providers word and shape them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pacewatch.sim.faults import Fault, FaultKind


class Why(StrEnum):
    """Why a simulated provider refuses."""

    NO_KEY = "no_key"
    BAD_KEY = "bad_key"
    UNKNOWN_MODEL = "unknown_model"
    UNKNOWN_PATH = "unknown_path"
    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error in place of an answer."""

    why: Why
    status: int
    message: str
    retry_after_s: int | None = None


def refuse_key(*, is_missing: bool) -> Refusal:
    """Return the refusal of a request without a key, or with one that is not accepted."""
    if is_missing:
        return Refusal(why=Why.NO_KEY, status=401, message="No API key was provided.")
    return Refusal(why=Why.BAD_KEY, status=401, message="Invalid API key.")


def refuse_model(model: str) -> Refusal:
    """Return the refusal of a model that the provider does not serve."""
    message = f"The model `{model[:200]}` does not exist or you do not have access to it."
    return Refusal(why=Why.UNKNOWN_MODEL, status=404, message=message)


def refuse_path(method: str, path: str) -> Refusal:
    """Return the refusal of an address that nothing answers at."""
    message = f"Unknown request URL: {method[:20]} {path[:200]}."
    return Refusal(why=Why.UNKNOWN_PATH, status=404, message=message)


def refuse_body(message: str) -> Refusal:
    """Return the refusal of a body that cannot be understood."""
    return Refusal(why=Why.MALFORMED, status=400, message=message)


def refuse_by(fault: Fault, model: str) -> Refusal:
    """Return the refusal that a fault asks for."""
    if fault.kind is FaultKind.NOT_SERVED:
        return refuse_model(model)
    if fault.kind is FaultKind.AUTH:
        return refuse_key(is_missing=False)
    if fault.kind is FaultKind.RATE_LIMIT:
        return Refusal(
            why=Why.RATE_LIMITED,
            status=429,
            message=f"Rate limit reached. Try again in {fault.retry_after_s} s.",
            retry_after_s=fault.retry_after_s,
        )
    return Refusal(why=Why.BROKEN, status=fault.status, message="The service is in trouble.")


_TYPES: Mapping[Why, tuple[str, str | None]] = {
    Why.NO_KEY: ("invalid_request_error", "missing_api_key"),
    Why.BAD_KEY: ("invalid_request_error", "invalid_api_key"),
    Why.UNKNOWN_MODEL: ("invalid_request_error", "model_not_found"),
    Why.UNKNOWN_PATH: ("invalid_request_error", "unknown_url"),
    Why.MALFORMED: ("invalid_request_error", None),
    Why.TOO_LARGE: ("invalid_request_error", "request_too_large"),
    Why.RATE_LIMITED: ("requests", "rate_limit_exceeded"),
    Why.BROKEN: ("server_error", None),
}
"""Type and code of the providers that follow OpenAI."""

_ANTHROPIC_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _as_openai(refusal: Refusal, request_id: str) -> dict[str, Any]:
    kind, code = _TYPES[refusal.why]
    return {"error": {"message": refusal.message, "type": kind, "param": None, "code": code}}


def _as_cerebras(refusal: Refusal, request_id: str) -> dict[str, Any]:
    kind, code = _TYPES[refusal.why]
    return {"message": refusal.message, "type": kind, "param": None, "code": code}


def _as_anthropic(refusal: Refusal, request_id: str) -> dict[str, Any]:
    kind = _ANTHROPIC_TYPES.get(refusal.status, "api_error")
    error = {"type": kind, "message": refusal.message}
    return {"type": "error", "error": error, "request_id": request_id}


def _as_google(refusal: Refusal, request_id: str) -> dict[str, Any]:
    words = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND"}
    word = words.get(refusal.status)
    word = word or ("RESOURCE_EXHAUSTED" if refusal.status == 429 else "UNAVAILABLE")
    return {"error": {"code": refusal.status, "message": refusal.message, "status": word}}


def _as_azure(refusal: Refusal, request_id: str) -> dict[str, Any]:
    if refusal.why is Why.UNKNOWN_MODEL:
        message = "The API deployment for this resource does not exist."
        return {"error": {"code": "DeploymentNotFound", "message": message}}
    return {"error": {"code": str(refusal.status), "message": refusal.message}}


def _as_problem(refusal: Refusal, request_id: str) -> dict[str, Any]:
    return {"status": refusal.status, "title": refusal.why.value, "detail": refusal.message}


_FORMS: Mapping[str, Callable[[Refusal, str], dict[str, Any]]] = {
    "anthropic": _as_anthropic,
    "azure": _as_azure,
    "cerebras": _as_cerebras,
    "nvidia": _as_problem,
    "vertex": _as_google,
    "google": _as_google,
}


def refusal_json(provider: str, refusal: Refusal, request_id: str) -> dict[str, Any]:
    """Return the error's body in the provider's own form."""
    return _FORMS.get(provider, _as_openai)(refusal, request_id)
