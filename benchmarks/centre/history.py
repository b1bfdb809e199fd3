"""What a push costs while history grows: a small fleet with four days of it, then with 400."""

from datetime import timedelta

from centre.ingest import measure
from centre.store import Size, add_history, filled_store, say, settle

DAYS, MORE_DAYS = 4, 400
FLEET = Size(endpoints=40, regions=5, days=DAYS)


def history_ratio() -> dict[str, float]:
    """Return how many times as long a commit of 20 runs takes with 400 days of history."""
    with filled_store(FLEET) as store:
        before = measure(store, runs=20, count=12, seed=41)["transaction"]
        say(f"{MORE_DAYS} days of history")
        since = store.now - timedelta(days=MORE_DAYS)
        add_history(store.pool, store.url, since=since, until=store.now - timedelta(days=DAYS))
        settle(store.url)
        after = measure(store, runs=20, count=12, seed=42)["transaction"]
    return {"ratio": after / before, "4_days_ms": 1_000 * before, "400_days_ms": 1_000 * after}
