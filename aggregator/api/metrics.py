"""`GET /metrics`, as Prometheus text or OpenMetrics, whichever the scraper prefers."""

import gzip
from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request, Response
from prometheus_client.exposition import gzip_accepted

from aggregator.db import Pool
from aggregator.exposition import content_type, write_families
from aggregator.metrics import make_page, read_all
from aggregator.rows import one_moment
from pacewatch.words.fleet import Fleet


def router(pool: Pool, fleet: Fleet) -> APIRouter:
    """Return the route that a Prometheus scrapes."""
    made = APIRouter()
    window = timedelta(seconds=fleet.schedule.window_s)

    @made.get("/metrics", summary="All metrics, for Prometheus", response_class=Response)
    def scrape(request: Request) -> Response:
        now = datetime.now(UTC)
        with one_moment(pool) as connection:
            rows = read_all(connection)
        chosen = content_type(request.headers.get("accept", ""))
        body = write_families(
            make_page(rows, now=now, window=window),
            openmetrics=chosen.startswith("application/openmetrics-text"),
        )
        headers = {"Content-Type": chosen, "Vary": "Accept, Accept-Encoding"}
        if gzip_accepted(request.headers.get("accept-encoding", "")):
            body, headers["Content-Encoding"] = gzip.compress(body, 1), "gzip"
        return Response(body, headers=headers)

    return made
