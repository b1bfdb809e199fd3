"""The tables of docs/reference/catalog.md, from the catalog itself."""

from pacewatch.catalog import Catalog
from pacewatch.words.endpoint import Endpoint


def provider_table(catalog: Catalog) -> str:
    """Return the table of providers."""
    lines = [
        "| provider | name | protocol | address | key variables | prices |",
        "|---|---|---|---|---|---|",
    ]
    for provider in catalog.providers.values():
        keys = ", ".join(f"`{name}`" for name in provider.key_names) or "none"
        prices = f"genai-prices `{provider.prices}`" if provider.prices else "catalog"
        lines.append(
            f"| `{provider.id}` | {provider.name} | {provider.protocol} | `{provider.base_url}` "
            f"| {keys} | {prices} |"
        )
    return "\n".join(lines)


def endpoint_table(catalog: Catalog) -> str:
    """Return the table of endpoints."""
    lines = [
        "| endpoint | the provider's name of it | reasons | published tokens/s | remark |",
        "|---|---|---|---|---|",
    ]
    for endpoint in sorted(catalog.endpoints.values(), key=lambda e: e.id):
        speed = endpoint.published_tokens_per_s
        told = "" if speed is None else f"{speed:,.1f}"
        reasons = f"yes, effort {endpoint.effort}" if endpoint.effort else ""
        reasons = reasons or ("yes" if endpoint.reasons else "")
        lines.append(
            f"| `{endpoint.id}` | `{endpoint.provider_model}` "
            f"| {reasons} | {told} | {_remark(endpoint)} |"
        )
    return "\n".join(lines)


def _remark(endpoint: Endpoint) -> str:
    if not endpoint.listed:
        return "not listed at present"
    return f"announced end {endpoint.ends_on}" if endpoint.ends_on else ""
