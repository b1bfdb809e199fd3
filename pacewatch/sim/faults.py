"""Faults of the simulated providers: which are on, and what they do to a request."""

import difflib
import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from pacewatch.words.errors import WireError

ALL = "all"
"""The target that is every endpoint."""


class FaultKind(StrEnum):
    """What can be wrong."""

    SLOW = "slow"
    FAIL = "fail"
    RATE_LIMIT = "rate-limit"
    STALL = "stall"
    NOT_SERVED = "not-served"
    AUTH = "auth"
    DISCONNECT = "disconnect"
    PAYMENT = "payment"
    RETIRED = "retired"
    STREAM_ERROR = "stream-error"
    FILTER = "filter"
    EMPTY = "empty"
    BROKEN = "broken"
    CACHE = "cache"
    CHANGE = "change"


class Trouble(StrEnum):
    """What a provider says is wrong, inside an answer that has begun."""

    OVERLOADED = "overloaded"
    RATE_LIMIT = "rate-limit"
    SERVER = "server"


class How(StrEnum):
    """How a broken server breaks the rules of the wire."""

    RESET = "reset"
    CLEAN_CLOSE = "clean-close"
    SILENT = "silent"
    SLOW_HEAD = "slow-head"
    ENDLESS_HEAD = "endless-head"
    HTML = "html"
    HTTP2 = "http2"
    GARBAGE = "garbage"
    LONG_LINE = "long-line"
    ENDLESS = "endless"
    ENDLESS_NOTHING = "endless-nothing"
    KEEP_ALIVE = "keep-alive"
    BOMB = "bomb"
    TRICKLE = "trickle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault, at one target, from one region or all."""

    kind: FaultKind
    target: str
    """An endpoint id, a provider, or `all`."""
    region: str | None = None
    """None: all regions."""
    factor: float = 1.0
    """`slow`: tokens per second are multiplied by it."""
    ttft_add_s: float = 0.0
    """`slow`: seconds that the first token comes later."""
    status: int = 500
    """`fail`: the HTTP status of the answer."""
    retry_after_s: int = 20
    """`rate-limit`: the wait that the answer asks for."""
    why: Trouble = Trouble.OVERLOADED
    """`stream-error`: what is told."""
    how: How = How.RESET
    """`broken`: what the server does."""

    def hits(self, *, endpoint: str, provider: str, region: str) -> bool:
        """Tell whether a request of that endpoint from that region meets the fault."""
        return self.target in (ALL, provider, endpoint) and self.region in (None, region)

    @property
    def place(self) -> tuple[FaultKind, str, str | None]:
        """Return what a later fault replaces: same kind, target and region."""
        return (self.kind, self.target, self.region)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """All faults that one request meets, together."""

    factor: float = 1.0
    ttft_add_s: float = 0.0
    refused: Fault | None = None
    """The newest fault that answers with an error in place of a stream."""
    is_stalled: bool = False
    is_disconnected: bool = False
    trouble: Trouble | None = None
    """What is told inside an answer, in place of its rest."""
    is_filtered: bool = False
    is_empty: bool = False
    how: How | None = None
    """How the server is broken."""
    keeps_prompts: bool = False
    is_changed: bool = False
    """Another version of the model answers."""
    kinds: tuple[str, ...] = ()


NO_EFFECT = Effect()

_REFUSING = frozenset(
    {
        FaultKind.FAIL,
        FaultKind.RATE_LIMIT,
        FaultKind.NOT_SERVED,
        FaultKind.RETIRED,
        FaultKind.AUTH,
        FaultKind.PAYMENT,
    }
)
_OPTIONS: Mapping[FaultKind, frozenset[str]] = {
    FaultKind.SLOW: frozenset({"factor", "ttft_add_s"}),
    FaultKind.FAIL: frozenset({"status"}),
    FaultKind.RATE_LIMIT: frozenset({"retry_after_s"}),
    FaultKind.STREAM_ERROR: frozenset({"why"}),
    FaultKind.BROKEN: frozenset({"how"}),
}
_RANGES: Mapping[str, tuple[float, float]] = {
    "factor": (0.001, 100.0),
    "ttft_add_s": (0.0, 600.0),
    "status": (300, 599),
    "retry_after_s": (0, 3_600),
}
_WORDS: Mapping[str, type[Trouble] | type[How]] = {"why": Trouble, "how": How}


@dataclass(slots=True, kw_only=True)
class Faults:
    """The faults that are on, oldest first; `version` grows with each change."""

    on: list[Fault] = field(default_factory=list)
    version: int = 0

    def switch_on(self, fault: Fault) -> None:
        """Add a fault; it replaces one of the same kind, target and region."""
        self.on = [other for other in self.on if other.place != fault.place] + [fault]
        self.version += 1

    def clear(self, target: str | None, region: str | None) -> int:
        """Take faults away and return how many; None: whatever their target, or region."""
        kept = [
            fault
            for fault in self.on
            if (target is not None and fault.target != target)
            or (region is not None and fault.region != region)
        ]
        cleared = len(self.on) - len(kept)
        self.on = kept
        self.version += 1
        return cleared

    def effect(self, *, endpoint: str, provider: str, region: str) -> Effect:
        """Return what a request of that endpoint from that region meets now."""
        if not self.on:
            return NO_EFFECT
        met = [f for f in self.on if f.hits(endpoint=endpoint, provider=provider, region=region)]
        kinds = {fault.kind for fault in met}
        refusing = [fault for fault in met if fault.kind in _REFUSING]
        newest = {fault.kind: fault for fault in met}
        told, broken = newest.get(FaultKind.STREAM_ERROR), newest.get(FaultKind.BROKEN)
        return Effect(
            factor=math.prod(f.factor for f in met),
            ttft_add_s=sum(f.ttft_add_s for f in met),
            refused=refusing[-1] if refusing else None,
            is_stalled=FaultKind.STALL in kinds,
            is_disconnected=FaultKind.DISCONNECT in kinds,
            trouble=told.why if told else None,
            is_filtered=FaultKind.FILTER in kinds,
            is_empty=FaultKind.EMPTY in kinds,
            how=broken.how if broken else None,
            keeps_prompts=FaultKind.CACHE in kinds,
            is_changed=FaultKind.CHANGE in kinds,
            kinds=tuple(sorted(kinds)),
        )


def parse_fault(raw: object, *, endpoints: Collection[str], regions: Collection[str]) -> Fault:
    """Return the fault that a JSON object asks for; raises WireError with the reason."""
    if not isinstance(raw, dict):
        raise WireError("fault: a JSON object is needed")
    kind = _kind(raw.get("kind"))
    allowed = {"kind", "target", "region"} | _OPTIONS.get(kind, frozenset())
    if unknown := sorted(str(name)[:40] for name in raw.keys() - allowed):
        raise WireError(
            f'fault {kind}: unknown field "{unknown[0]}" (known: {", ".join(sorted(allowed))})'
        )
    options = {name: _number(kind, name, raw[name]) for name in raw.keys() & _RANGES.keys()}
    options |= {name: _word(kind, name, raw[name]) for name in raw.keys() & _WORDS.keys()}
    if kind is FaultKind.SLOW and not options:
        raise WireError("fault slow: factor or ttft_add_s is needed (--factor 0.5, --ttft-add 2)")
    return Fault(
        kind=kind,
        target=check_target(raw.get("target"), endpoints),
        region=check_region(raw.get("region"), regions),
        **options,
    )


def check_target(raw: object, endpoints: Collection[str]) -> str:
    """Return the target; raises WireError with a suggestion where nothing is called that."""
    providers = sorted({endpoint.partition("/")[0] for endpoint in endpoints})
    known = [ALL, *providers, *sorted(endpoints)]
    if not isinstance(raw, str):
        raise WireError("fault: a target is needed (an endpoint, a provider, or all)")
    if raw in known:
        return raw
    near = difflib.get_close_matches(raw[:200], known, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"providers: {', '.join(providers)}"
    raise WireError(f'"{raw[:200]}" is no endpoint or provider of this demo ({hint})')


def check_region(raw: object, regions: Collection[str]) -> str | None:
    """Return the region, None for all; raises WireError where there is none of that name."""
    if raw is None or (isinstance(raw, str) and raw in regions):
        return raw
    raise WireError(
        f'"{str(raw)[:100]}" is no region of this demo (known: {", ".join(sorted(regions))})'
    )


def _kind(raw: object) -> FaultKind:
    try:
        return FaultKind(str(raw))
    except ValueError:
        known = ", ".join(FaultKind)
        raise WireError(f'fault: unknown kind "{str(raw)[:40]}" (known: {known})') from None


def _number(kind: FaultKind, name: str, raw: object) -> Any:
    low, high = _RANGES[name]
    whole = isinstance(low, int)
    fits = isinstance(raw, int) or (isinstance(raw, float) and not whole)
    if isinstance(raw, bool) or not fits or not low <= raw <= high:  # type: ignore[operator]
        form = "a whole number" if whole else "a number"
        raise WireError(f"fault {kind}: {name} must be {form} from {low:g} to {high:g}")
    return raw


def _word(kind: FaultKind, name: str, raw: object) -> Trouble | How:
    try:
        return _WORDS[name](str(raw))
    except ValueError:
        known = ", ".join(_WORDS[name])
        raise WireError(
            f'fault {kind}: {name} "{str(raw)[:40]}" is unknown (known: {known})'
        ) from None


def fault_json(fault: Fault) -> dict[str, Any]:
    """Return the fault as JSON, with the fields that its kind has."""
    fields = {"kind", "target", "region"} | _OPTIONS.get(fault.kind, frozenset())
    return {name: value for name, value in asdict(fault).items() if name in fields}
