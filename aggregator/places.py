"""Where each thing has its page: the addresses that pages and bundles link to. Pure."""

from urllib.parse import quote, urlencode
from uuid import UUID


def endpoint_address(endpoint: str, **chosen: str | None) -> str:
    """Return an endpoint's page, with what is chosen there; what is None is left out."""
    return f"/endpoints/{quote(endpoint, safe='/')}{_query(chosen)}"


def model_address(model: str, **chosen: str | None) -> str:
    """Return a model's page, with what is chosen there."""
    return f"/models/{quote(model, safe='/')}{_query(chosen)}"


def run_address(run: UUID | str) -> str:
    """Return the page of one run."""
    return f"/runs/{run}"


def incident_address(incident: int) -> str:
    """Return the page of one incident."""
    return f"/incidents/{incident}"


def runbook_address(alert: str) -> str:
    """Return the page of what to do about an alert."""
    return f"/runbooks/{alert}.md"


def _query(chosen: dict[str, str | None]) -> str:
    told = {name: value for name, value in chosen.items() if value}
    return f"?{urlencode(told)}" if told else ""
