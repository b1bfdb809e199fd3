"""Whether the import names of this distribution are its own: two of them are common words."""

from importlib.util import find_spec
from pathlib import Path

import pacewatch

NAMES = ("aggregator", "dashboards", "probe")
"""Import packages beside `pacewatch`; what else bears such a name may stand before them."""


def foreign_names() -> dict[str, str]:
    """Return the names that lead to somebody else's package, each with where that is."""
    home = Path(pacewatch.__file__).parent.parent
    found = {}
    for name in NAMES:
        spec = find_spec(name)
        origin = "nowhere" if spec is None or spec.origin is None else spec.origin
        if Path(origin).parent.parent != home:
            found[name] = origin
    return found
