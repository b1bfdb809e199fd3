"""Fills the blanks in the addresses of the catalog, from the user's file or for the demo."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from pacewatch.catalog import PLACEHOLDER, Provider
from pacewatch.facts import why_no_base_url
from pacewatch.tables import Table, shown
from pacewatch.words.endpoint import Auth, Endpoint, Limits

_CLOUDS = {Auth.AWS: "aws", Auth.GOOGLE: "google"}
"""Whose credentials a way of signing takes."""

_ANYTHING = re.compile(r".*", re.DOTALL)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_PART_OF_PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")

DEMO_LIMITS = Limits(connect_s=10.0, first_token_s=10.0, stall_s=5.0, total_s=20.0)


def read_filling(table: Table, provider: Provider) -> dict[str, str]:
    """Return what a table of `[providers.<id>]` fills into the provider's address, by blank."""
    blanks = dict.fromkeys(PLACEHOLDER.findall(provider.base_url))
    found = {blank: text for blank in blanks if (text := table.text(blank))}
    for blank, text in found.items():
        if not _form_of(blank, provider.base_url).fullmatch(text):
            table.fault(blank, f"{shown(text)} is no part of an address (form: us-east-1)")
    url = _fill(provider.base_url, found)
    if len(found) == len(blanks) and (fault := why_no_base_url(url)):
        table.fault("", f"the address {fault}")
    return found


def _form_of(blank: str, url: str) -> re.Pattern[str]:
    """Return the form of what fills a blank: nothing that would lead to another host."""
    if url.startswith(f"{{{blank}}}"):
        return _ANYTHING
    return _LABEL if f"{{{blank}}}" in url.split("/")[2] else _PART_OF_PATH


def _fill(url: str, filling: Mapping[str, str]) -> str:
    url = PLACEHOLDER.sub(lambda m: filling.get(m[1], m[0]).rstrip("/"), url)
    return url.replace("//global-", "//")  # Google's host for no location in particular


def filled(endpoint: Endpoint, filling: Mapping[str, str]) -> Endpoint:
    """Return the endpoint with what was given for its provider's address."""
    if not filling:
        return endpoint
    location = endpoint.location or filling.get("location") or filling.get("aws_region")
    return replace(endpoint, base_url=_fill(endpoint.base_url, filling), location=location)


def allow(endpoint: Endpoint, clouds: Collection[str]) -> Endpoint:
    """Return the endpoint with what the file lets be used of the shell's own credentials.

    They count at the provider's own address alone, and never for an endpoint with a key of its own.
    """
    cloud = _CLOUDS.get(endpoint.auth)
    if endpoint.auth is Auth.API_KEY and endpoint.provider == "azure":
        cloud = "azure"
    return replace(endpoint, ambient=cloud) if cloud in clouds else endpoint


def simulate(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint as the demo asks it: no key, no price, limits of its own."""
    url = PLACEHOLDER.sub("demo", endpoint.base_url.replace("{endpoint}", "https://demo.invalid"))
    return replace(
        endpoint,
        base_url=url,
        auth=Auth.NONE,
        key_names=(),
        price=None,
        reasoning_tokens=0,
        limits=DEMO_LIMITS,
    )
