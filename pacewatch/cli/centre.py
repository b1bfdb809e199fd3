"""Asks the aggregator over HTTP, for every command that shows what it knows."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import httpx2

from pacewatch.secret import read_secret
from pacewatch.stack.state import ADMIN_TOKEN, running_board, state_folder
from pacewatch.words.address import WEB_SCHEMES, is_loopback, refuse_address
from pacewatch.words.errors import PacewatchError, SettingsError

DEFAULT_AGGREGATOR_URL = "http://127.0.0.1:8420"
TOKEN = "PACEWATCH_ADMIN_TOKEN"  # noqa: S105 - the variable's name
TIMEOUT_S = 15.0
STREAM_TIMEOUT_S = 120.0
"""How long the next piece of a long answer may take."""
_WRONG_USE = frozenset({404, 422})
"""What is answered to a name that is not known, and to what no question can be."""
_MEMBER = re.compile(r"[a-z_]+\b")
"""The member of a body that a refusal begins with."""
_NOT_OURS = "its answer is none that one gives"


def aggregator_url() -> str:
    """Return where the aggregator is: where the environment says, else where an `up` of this user
    has it. Raises SettingsError for an address that cannot be used.
    """
    url = (
        os.environ.get("PACEWATCH_AGGREGATOR_URL")
        or running_board(os.environ, uid=os.getuid())
        or DEFAULT_AGGREGATOR_URL
    )
    if fault := refuse_address("PACEWATCH_AGGREGATOR_URL", url, WEB_SCHEMES, os.environ):
        raise SettingsError(fault)
    return url.rstrip("/")


def get(
    path: str, asked: Mapping[str, Sequence[str]] | None = None, *, unknown: str | None = None
) -> Any:
    """Return the aggregator's document; `unknown` is the sentence where it knows no such thing.

    Raises SettingsError for an address that cannot be used and a question that cannot be answered,
    PacewatchError where the aggregator does not answer, or what answers is none.
    """
    document = _ask("GET", path, unknown=unknown, params=dict(asked or {}))
    if "simulated" not in document:  # each of its documents tells whether it is
        raise _no_aggregator(aggregator_url(), _NOT_OURS)
    return document


def token(scope: str, *, simulated: bool) -> str:
    """Return the token that the environment holds, else that of the `up` of this machine.

    Raises SettingsError where there is none; it names the scope that one must have.
    """
    if (held := read_secret(TOKEN, os.environ)) is not None:
        return held
    if is_loopback(urlsplit(aggregator_url()).hostname or ""):
        folder = state_folder(os.environ, simulated=simulated, uid=os.getuid())
        try:
            return (folder / ADMIN_TOKEN).read_text().strip()
        except OSError:
            pass
    raise SettingsError(
        f"{TOKEN} is not set; `pacewatch token issue --scope {scope}` makes one at the centre"
    )


def whole_board(asked: Mapping[str, Sequence[str]]) -> Any:
    """Return the aggregator's board with all its parts. Raises as `get` does."""
    return _whole("/api/board", asked, "models", on="after")


def whole_silences(asked: Mapping[str, Sequence[str]]) -> Any:
    """Return the aggregator's silences with all their pages. Raises as `get` does."""
    return _whole("/api/silences", asked, "silences", on="before")


def _whole(path: str, asked: Mapping[str, Sequence[str]], member: str, *, on: str) -> Any:
    """Return a document with what all its pages list; `on` asks for the page after a `next`."""
    document = page = get(path, asked)
    while page["next"] is not None:
        page = get(path, {**asked, on: [str(page["next"])]})
        document[member] += page[member]
    return {**document, "next": None}


def post(
    path: str, body: Mapping[str, Any], token: str, *, options: Mapping[str, str] | None = None
) -> Any:
    """Have the aggregator do something; return its document. Raises as `get` does.

    `options` are what the members of the body are called on the command line.
    """
    headers = {"authorization": f"Bearer {token}"}
    return _ask("POST", path, options=options, json=dict(body), headers=headers)


def delete(path: str, token: str, *, unknown: str) -> Any:
    """Have the aggregator end something; return its document. Raises as `get` does."""
    headers = {"authorization": f"Bearer {token}"}
    return _ask("DELETE", path, unknown=unknown, headers=headers)


def _ask(
    method: str,
    path: str,
    *,
    unknown: str | None = None,
    options: Mapping[str, str] | None = None,
    **told: Any,
) -> Any:
    url = aggregator_url()
    with _translated(url), httpx2.Client(trust_env=False, timeout=TIMEOUT_S) as client:
        answer = client.request(method, url + path, **told)
        return _document(url, answer, unknown, options or {})


@contextmanager
def streamed(
    path: str, asked: Mapping[str, Sequence[str]], *, named: str
) -> Iterator[Iterator[bytes]]:
    """Give the pieces of a long answer while they come: a file of that name, as the aggregator
    tells it. Raises as `get` does, also in between.
    """
    url = aggregator_url()
    with (
        _translated(url),
        httpx2.Client(trust_env=False, timeout=STREAM_TIMEOUT_S) as client,
        client.stream("GET", url + path, params=dict(asked)) as answer,
    ):
        if answer.is_error:
            answer.read()
            _document(url, answer)
        if f'filename="{named}"' not in answer.headers.get("content-disposition", ""):
            raise _no_aggregator(url, _NOT_OURS)
        yield answer.iter_bytes()


@contextmanager
def _translated(url: str) -> Iterator[None]:
    try:
        yield
    except httpx2.InvalidURL as error:
        raise SettingsError(f"PACEWATCH_AGGREGATOR_URL: {url}: not an address") from error
    except httpx2.HTTPError as error:
        raise PacewatchError(
            f"{url}: the aggregator does not answer: {_reason(error)} "
            "(PACEWATCH_AGGREGATOR_URL names it, pacewatch up starts one)"
        ) from error


def _no_aggregator(url: str, why: str) -> PacewatchError:
    return PacewatchError(f"{url}: this is no aggregator: {why}")


def _document(
    url: str,
    answer: httpx2.Response,
    unknown: str | None = None,
    options: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the object that is answered; raises PacewatchError for all else, and for a problem, by
    the name under which a person has given what is refused.
    """
    try:
        document = answer.json()
    except (ValueError, RecursionError) as error:
        raise _no_aggregator(url, "its answer is not JSON") from error
    if not isinstance(document, dict):
        raise _no_aggregator(url, _NOT_OURS)
    if answer.is_error:
        if unknown and answer.status_code == HTTPStatus.NOT_FOUND and _is_problem(answer):
            raise SettingsError(unknown)
        detail = str(document.get("detail", answer.reason_phrase))
        member = _MEMBER.match(detail)
        if member and (option := options.get(member[0])):
            raise SettingsError(option + detail.removeprefix(member[0]))
        kind = SettingsError if answer.status_code in _WRONG_USE else PacewatchError
        raise kind(f"{url}: {detail}")
    return document


def _is_problem(answer: httpx2.Response) -> bool:
    return answer.headers.get("content-type", "").startswith("application/problem+json")


def _reason(error: Exception) -> str:
    """Return what the error says, without its number."""
    said = re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
    return said[:1].lower() + said[1:]
