"""How much of what is not known here yet is kept: so many records of a region, and no more."""

from collections import Counter
from collections.abc import Sequence

from aggregator.admission import Pushed, Way
from aggregator.db import Connection, queries

MOST_OF_A_REGION = 20_000
"""Records put aside; a fleet of a hundred endpoints makes that many in three weeks."""


def bound_aside(connection: Connection, admitted: Sequence[Pushed]) -> list[Pushed]:
    """Return the records with those refused that the region has no more room for.

    A refused record stays at its worker, with the reason; one that is aside already stays there.
    """
    aside = [pushed for pushed in admitted if pushed.way is Way.ASIDE]
    if not aside:
        return list(admitted)
    ids = [pushed.execution for pushed in aside]
    rows = connection.execute(queries("ingest")["find_kept_aside"], {"executions": ids})
    kept = {row["execution"] for row in rows}
    regions = sorted({pushed.region for pushed in aside})
    rows = connection.execute(queries("ingest")["count_aside"], {"regions": regions})
    held = Counter({row["region"]: row["records"] for row in rows})
    found = []
    for pushed in admitted:
        if pushed.way is Way.ASIDE and pushed.execution not in kept:
            held[pushed.region] += 1
            if held[pushed.region] > MOST_OF_A_REGION:
                why = f"{pushed.reason}, and {MOST_OF_A_REGION} such records are kept already"
                found.append(pushed.goes(Way.REFUSED, why))
                continue
        found.append(pushed)
    return found
