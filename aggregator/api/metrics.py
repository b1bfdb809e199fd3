"""`GET /metrics`, as Prometheus text or OpenMetrics, whichever the scraper prefers."""

import gzip
from datetime import timedelta

from fastapi import APIRouter, Request, Response
from prometheus_client.exposition import gzip_accepted

from aggregator.api.centre import AtCentre
from aggregator.exposition import content_type, write_families
from aggregator.metrics import make_page, read_all
from aggregator.rows import one_moment

router = APIRouter(tags=["metrics"])


@router.get("/metrics", response_class=Response)
def scrape(request: Request, centre: AtCentre) -> Response:
    """Return every metric at this moment; 503 where the store does not answer."""
    now, window = centre.clock(), timedelta(seconds=centre.fleet.schedule.window_s)
    with one_moment(centre.pool) as connection:
        rows = read_all(connection)
    chosen = content_type(request.headers.get("accept", ""))
    body = write_families(
        make_page(rows, now=now, window=window, quantiles=centre.fleet.quantiles),
        openmetrics=chosen.startswith("application/openmetrics-text"),
    )
    headers = {"Content-Type": chosen, "Vary": "Accept, Accept-Encoding"}
    if gzip_accepted(request.headers.get("accept-encoding", "")):
        body, headers["Content-Encoding"] = gzip.compress(body, 1), "gzip"
    return Response(body, headers=headers)
