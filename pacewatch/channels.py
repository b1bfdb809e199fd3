"""Whom the centre tells, and where people find it: `[notify.<name>]` and `[centre]` of the file."""

import re

from pacewatch.facts import why_no_base_url, why_no_proxy
from pacewatch.tables import Table
from pacewatch.words.channel import DEFAULT_REMIND_H, Centre, Channel
from pacewatch.words.endpoint import PART
from pacewatch.words.verdict import Blame

ONLY = ("page",)
"""Words of `only`."""

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
"""A name of an environment variable."""

_MOST_HOURS = 24 * 365


def read_centre(table: Table) -> Centre:
    """Return what the file says of the centre itself."""
    rows = table.table("centre")
    url = rows.text("url")
    if url is not None and (fault := why_no_base_url(url)):
        rows.fault("url", fault)
    alertmanager = rows.flag("alertmanager")
    rows.close()
    return Centre(url=None if url is None else url.rstrip("/"), alertmanager=alertmanager or False)


def read_channels(table: Table) -> tuple[Channel, ...]:
    """Return the channels of the file, in its order; none: nobody is told."""
    named = table.table("notify")
    found = []
    for name in named.raw:
        if not PART.fullmatch(name):
            named.fault(name, "is no name of a channel (form: a-z 0-9 . _ -)")
        if channel := _channel(named.table(name), name):
            found.append(channel)
    return tuple(found)


def _channel(rows: Table, name: str) -> Channel | None:
    url_env = rows.text("url_env", needed=True)
    only = rows.text("only", allowed=ONLY)
    classes = rows.texts("classes", allowed=tuple(Blame))
    remind_h = rows.number("remind_h", low=0, high=_MOST_HOURS)
    proxy = rows.text("proxy_url")
    if proxy is not None and (fault := why_no_proxy(proxy)):
        rows.fault("proxy_url", fault)
    rows.close()
    if url_env is None:
        return None
    if not VARIABLE.fullmatch(url_env):  # it may be the address itself, so it is not shown
        rows.fault(
            "url_env",
            "is no name of a variable (allowed: the name of the variable that holds the address, "
            "which must not stand in the file)",
        )
    return Channel(
        name=name,
        url_env=url_env,
        only_pages=only == "page",
        classes=frozenset(Blame if classes is None else map(Blame, classes)),
        remind_h=DEFAULT_REMIND_H if remind_h is None else remind_h,
        proxy_url=proxy,
    )
