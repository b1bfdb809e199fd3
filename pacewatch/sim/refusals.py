"""Why a simulated provider refuses; how each one words and shapes it is in `error_forms`."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pacewatch.sim.faults import Fault, FaultKind, Trouble


class Why(StrEnum):
    """Why a simulated provider refuses."""

    NO_KEY = "no_key"
    BAD_KEY = "bad_key"
    UNKNOWN_MODEL = "unknown_model"
    RETIRED = "retired"
    UNKNOWN_PATH = "unknown_path"
    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    PAYMENT = "payment"
    OVERLOADED = "overloaded"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error in place of an answer, or in the middle of one."""

    why: Why
    status: int
    message: str
    retry_after_s: int | None = None
    param: str | None = None
    """The member of the body that is at fault."""
    code: str | None = None
    """A code that says more than `why` does."""


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


def refuse_body(message: str, param: str | None = None, code: str | None = None) -> Refusal:
    """Return the refusal of a body that cannot be understood."""
    return Refusal(why=Why.MALFORMED, status=400, message=message, param=param, code=code)


def refuse_by(fault: Fault, model: str) -> Refusal:
    """Return the refusal that a fault asks for."""
    match fault.kind:
        case FaultKind.NOT_SERVED:
            return refuse_model(model)
        case FaultKind.RETIRED:
            message = f"The model `{model[:200]}` has been decommissioned and is no longer served."
            return Refusal(why=Why.RETIRED, status=404, message=message)
        case FaultKind.AUTH:
            return refuse_key(is_missing=False)
        case FaultKind.PAYMENT:
            message = "Your account has no credit left: please check your plan and billing."
            return Refusal(why=Why.PAYMENT, status=402, message=message)
        case FaultKind.RATE_LIMIT:
            message = f"Rate limit reached. Try again in {fault.retry_after_s} s."
            return Refusal(
                why=Why.RATE_LIMITED,
                status=429,
                message=message,
                retry_after_s=fault.retry_after_s,
            )
    return Refusal(why=Why.BROKEN, status=fault.status, message="The service is in trouble.")


_TROUBLES: Mapping[Trouble, Refusal] = {
    Trouble.OVERLOADED: Refusal(
        why=Why.OVERLOADED, status=503, message="The model is overloaded. Try again later."
    ),
    Trouble.RATE_LIMIT: Refusal(
        why=Why.RATE_LIMITED, status=429, message="Too many tokens, please wait."
    ),
    Trouble.SERVER: Refusal(
        why=Why.BROKEN, status=500, message="The server had an error while answering."
    ),
}


def refuse_midway(trouble: Trouble) -> Refusal:
    """Return the error that a provider tells inside an answer that has begun."""
    return _TROUBLES[trouble]
