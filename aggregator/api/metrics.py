"""`GET /metrics`, as Prometheus text or OpenMetrics, whichever the scraper prefers."""

from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from prometheus_client.exposition import gzip_accepted

from aggregator.api.centre import AtCentre
from aggregator.exposition import content_type, packed, write_families
from aggregator.metrics import make_page, read_all
from aggregator.rows import one_moment

router = APIRouter(tags=["metrics"])

_TEXT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Every metric, a line each sample.",
        "content": {
            media: {"schema": {"type": "string"}}
            for media in ("text/plain", "application/openmetrics-text")
        },
    }
}


@router.get("/metrics", response_class=Response, responses=_TEXT)
def scrape(request: Request, centre: AtCentre) -> Response:
    """Return every metric at this moment; 503 where the store does not answer.

    All is read before the first byte goes out, so no slow scraper holds the store's moment.
    """
    fleet, now = centre.fleet, centre.clock()
    window = timedelta(seconds=fleet.schedule.window_s)
    with one_moment(centre.pool) as connection:
        channels = [channel.name for channel in fleet.channels]
        rows = read_all(connection, fleet.retention.size_gb, channels)
        page = make_page(rows, now=now, window=window, quantiles=fleet.quantiles)
    chosen = content_type(request.headers.get("accept", ""))
    pieces = write_families(page, openmetrics=chosen.startswith("application/openmetrics-text"))
    headers = {"Content-Type": chosen, "Vary": "Accept, Accept-Encoding"}
    if gzip_accepted(request.headers.get("accept-encoding", "")):
        pieces, headers["Content-Encoding"] = packed(pieces), "gzip"
    return StreamingResponse(pieces, headers=headers)
