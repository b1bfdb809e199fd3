"""The documentation beside the board, first of all what to do about an alert: pages to who asks
for one, as a browser does, and to all else the text as it is written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from aggregator.api.html import HEADERS, asks_for_a_page, rendered
from aggregator.api.problems import Problem

router = APIRouter(include_in_schema=False)

INDEX = "index.md"
PARTS = ("decisions", "explanation", "how-to", "reference", "runbooks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A page of the documentation."""

    title: str
    body: Markup


@cache
def manual() -> dict[str, str]:
    """Return the texts by path, as `runbooks/RegionSilent.md`: an installed package's own, else
    those of the source.
    """
    installed = files("aggregator").joinpath("manual")
    source = Path(__file__).parents[2] / "docs"
    return dict(_texts(installed if installed.is_dir() else source))


def _texts(folder: Traversable, under: str = "") -> Iterator[tuple[str, str]]:
    for found in folder.iterdir():
        if found.is_dir():
            yield from _texts(found, f"{under}{found.name}/")
        elif found.name.endswith(".md"):
            yield under + found.name, found.read_text("utf-8")


@router.get("/manual")
def index(request: Request) -> Response:
    """Return the table of contents."""
    return _told(request, INDEX)


def _add(part: str) -> None:
    @router.get(f"/{part}/{{name}}")
    def page(name: str, request: Request) -> Response:
        path = f"{part}/{name}"
        if path not in manual():
            known = ", ".join(sorted(_names(part)))
            raise Problem(404, f"no such page of {part} (known: {known})")
        return _told(request, path)


for _part in PARTS:
    _add(_part)


def _names(part: str) -> Iterator[str]:
    return (
        name for folder, _, name in (path.partition("/") for path in manual()) if folder == part
    )


def _told(request: Request, path: str) -> Response:
    headers = {**HEADERS, "Vary": "Accept"}
    if not asks_for_a_page(request):
        return PlainTextResponse(manual()[path], headers=headers)
    # what the documentation tells was measured, also where this centre is simulated
    text = rendered("manual.html", simulated=False, page=chapter(path), index=path == INDEX)
    return HTMLResponse(text, headers=headers)


@cache
def chapter(path: str) -> Chapter:
    """Return a text of the manual as a page; what it links to that is not in it is no link."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(re.sub(r"^<!-- .* -->\n", "", manual()[path], flags=re.MULTILINE))
    title, rest = tokens[1].content, tokens[3:]
    for opening, inline in pairwise(rest):
        if opening.type == "heading_open":
            opening.attrSet("id", anchor(inline.content))
    for token in rest:
        _unlink(token.children or (), path)
    body = markdown.renderer.render(rest, markdown.options, {})
    return Chapter(title=title, body=Markup(body))  # noqa: S704 - our own text, its HTML escaped


def anchor(heading: str) -> str:
    """Return the fragment by which other pages link to a heading, as forges make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _unlink(tokens: Sequence[Token], path: str) -> None:
    """Hide the links of a line that lead out of the manual; those of a web address stay."""
    is_hidden = False
    for token in tokens:
        if token.type == "link_open":
            is_hidden = not _leads_somewhere(str(token.attrs["href"]), path)
        if token.type in ("link_open", "link_close"):
            token.hidden = is_hidden


def _leads_somewhere(href: str, path: str) -> bool:
    where = urlsplit(href)
    if where.scheme or not where.path:
        return True
    folder = path.rpartition("/")[0]
    parts = [folder] if folder else []
    for step in where.path.split("/"):
        if step == "..":
            if not parts:
                return False
            parts.pop()
        else:
            parts.append(step)
    return "/".join(parts) in manual()
