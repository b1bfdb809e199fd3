"""Decides which known endpoints are probed, how important they are, and what they cost."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from pacewatch.catalog import PLACEHOLDER, Catalog
from pacewatch.environment import ambient_found
from pacewatch.prices import look_up
from pacewatch.tables import Table, shown, suggestion
from pacewatch.words.endpoint import Endpoint, Importance, secret_names, why_not_probed
from pacewatch.words.fleet import Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be probed, as the file says it."""

    globs: tuple[str, ...] | None
    """Patterns of endpoint ids; None: every endpoint whose provider's key is there."""
    simulated: bool
    today: date


def has_key(endpoint: Endpoint, environment: Mapping[str, str]) -> bool:
    """Tell whether one of the endpoint's key variables, or its _FILE, is set, or the file lets
    credentials of the shell be used that are there.
    """
    names = secret_names(endpoint)
    if any(environment.get(name) or environment.get(f"{name}_FILE") for name in names):
        return True
    return endpoint.ambient is not None and bool(ambient_found(environment).get(endpoint.ambient))


def give_importance(table: Table, known: dict[str, Endpoint]) -> dict[str, Endpoint]:
    """Return the endpoints with the importance that `[importance]` gives; later lines win."""
    known = dict(known)
    rows = table.table("importance")
    for glob, matched in matches(rows, known):
        word = rows.text(glob, allowed=tuple(Importance))
        for key in matched:
            known[key] = replace(known[key], importance=Importance(word or known[key].importance))
    return known


def matches(rows: Table, known: Mapping[str, Endpoint]) -> Iterator[tuple[str, list[str]]]:
    """Yield the patterns that are a table's keys, each with the ids that it matches; a pattern
    without any is a fault.
    """
    for glob in rows.raw:
        matched = [key for key in known if fnmatchcase(key, glob)]
        if not matched:
            rows.fault(glob, f"matches no endpoint{_near(glob, known)}")
        yield glob, matched


def _near(glob: str, known: Mapping[str, Endpoint]) -> str:
    """Return the nearest endpoint or provider in words; else the providers there are."""
    globs = {f"{endpoint.provider}/*" for endpoint in known.values()}
    return suggestion(glob, {*known, *globs}) or suggestion(glob, globs)


def pick(
    table: Table, known: Mapping[str, Endpoint], wish: Wish, environment: Mapping[str, str]
) -> tuple[tuple[Endpoint, ...], tuple[Skipped, ...]]:
    """Return the endpoints that are probed, and those that were picked and are not, with why."""
    for n, glob in enumerate(wish.globs or ()):
        if not any(fnmatchcase(key, glob) for key in known):
            table.fault("endpoints", f"{shown(glob)} matches no endpoint{_near(glob, known)}", n)
    chosen: list[Endpoint] = []
    skipped: list[Skipped] = []
    for key, endpoint in sorted(known.items()):
        if not _is_picked(endpoint, wish, environment):
            continue
        reason = _why_skipped(endpoint, wish)
        if reason is None:
            chosen.append(endpoint)
        else:
            skipped.append(Skipped(endpoint=key, reason=reason))
    return tuple(chosen), tuple(skipped)


def _is_picked(endpoint: Endpoint, wish: Wish, environment: Mapping[str, str]) -> bool:
    if endpoint.own:
        return True
    if wish.globs is not None:
        return any(fnmatchcase(endpoint.id, glob) for glob in wish.globs)
    return wish.simulated or has_key(endpoint, environment)


def _why_skipped(endpoint: Endpoint, wish: Wish) -> str | None:
    if reason := why_not_probed(endpoint):
        return reason
    if blanks := PLACEHOLDER.findall(endpoint.base_url):
        return f"its address needs {blanks[0]} of [providers.{endpoint.provider}]"
    if wish.simulated or endpoint.id in (wish.globs or ()):
        return None
    return _why_passed_over(endpoint, wish.today)


def _why_passed_over(endpoint: Endpoint, today: date) -> str | None:
    """Return why an endpoint that was not named outright is left out; None where it is not."""
    if not endpoint.listed:
        return "its provider does not list it at present (name it in endpoints to probe it)"
    if endpoint.ends_on is not None and endpoint.ends_on < today:
        return f"its provider announced its end for {endpoint.ends_on} (name it to probe it)"
    return None


def priced(
    catalog: Catalog,
    known: Mapping[str, Endpoint],
    picked: Iterable[Endpoint],
    today: date,
    environment: Mapping[str, str],
) -> dict[str, Endpoint]:
    """Return the endpoints with the day's prices of genai-prices over the catalog's own.

    Asks only for those that are picked or have a key; the price of a user's own table stays.
    """
    picks = {endpoint.id for endpoint in picked}
    wanted = {
        key: ref
        for key, endpoint in known.items()
        if (key in picks or has_key(endpoint, environment))
        and (ref := _price_ref(catalog, endpoint)) is not None
    }
    prices = look_up(wanted, on=today, environment=environment)
    return {key: replace(one, price=prices.get(key, one.price)) for key, one in known.items()}


def _price_ref(catalog: Catalog, endpoint: Endpoint) -> tuple[str, str] | None:
    """Return where genai-prices knows the endpoint; a variant is looked for as what it varies."""
    provider = catalog.providers.get(endpoint.provider)
    if provider is None or provider.prices is None or (endpoint.own and endpoint.price is not None):
        return None
    if urlsplit(endpoint.base_url).hostname != urlsplit(provider.base_url).hostname:
        return None
    for known in catalog.endpoints.values():
        if (known.provider, known.provider_model) == (provider.id, endpoint.provider_model):
            return provider.prices, catalog.price_models[known.id]
    return provider.prices, endpoint.provider_model
