"""Where people are told of incidents, and which of them. Values only."""

from dataclasses import dataclass

from pacewatch.words.verdict import Blame

DEFAULT_REMIND_H = 4.0
"""An open incident is told again after so many hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """One table `[notify.<name>]`: an address that messages go to."""

    name: str
    url_env: str
    """The variable that holds the address, or whose _FILE names a file with it."""
    only_pages: bool = False
    """True: it gets no incident but those that may wake somebody."""
    classes: frozenset[Blame] = frozenset(Blame)
    """Classes of incidents that it gets."""
    remind_h: float = DEFAULT_REMIND_H
    """An open incident is told again after so many hours; 0: never."""
    proxy_url: str | None = None
    """Of the egress proxy that leads there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Centre:
    """What `[centre]` says of the centre itself."""

    url: str | None = None
    """Where people find the board."""
    alertmanager: bool = False
    """True: an Alertmanager tells people already."""


UNSAID = Centre()
"""Of a file that says nothing."""
