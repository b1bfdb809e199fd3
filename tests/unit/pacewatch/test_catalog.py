import re
import tomllib
from collections import defaultdict
from datetime import date
from pathlib import Path

import pytest
from support.catalog_page import endpoint_table, provider_table

import pacewatch
from pacewatch.catalog import PLACEHOLDER, parse_catalog, read_catalog
from pacewatch.words.endpoint import Auth, Endpoint, Protocol, parse_endpoint_id
from pacewatch.words.errors import CatalogError

CATALOG = read_catalog()
PACKAGE = Path(pacewatch.__file__).parent
ROOT = Path(__file__).parents[3]
ENDPOINTS = sorted(CATALOG.endpoints.values(), key=lambda endpoint: endpoint.id)
GOOD = """
name = "Acme"
protocol = "openai-chat"
base_url = "https://api.acme.example/v1"
auth = "bearer"
key_env = "ACME_API_KEY"

[[endpoint]]
model = "m1"
provider_model = "acme-m1"
"""


def published(model: str) -> dict[str, float]:
    return {
        endpoint.provider: endpoint.published_tokens_per_s
        for endpoint in ENDPOINTS
        if endpoint.model == model and endpoint.published_tokens_per_s is not None
    }


def test_no_provider_or_endpoint_that_ships_is_lost():
    assert len(CATALOG.providers) >= 20
    assert len(ENDPOINTS) >= 28


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=[endpoint.id for endpoint in ENDPOINTS])
def test_a_shipped_endpoint_is_whole(endpoint: Endpoint):
    parts = parse_endpoint_id(endpoint.id)

    assert (parts.provider, parts.model) == (endpoint.provider, endpoint.model)
    assert (parts.precision or "unknown") == endpoint.precision
    assert endpoint.limits.first_token_s == (300 if endpoint.reasons else 60)
    assert endpoint.reasoning_tokens > 0 if endpoint.reasons else endpoint.reasoning_tokens == 0
    assert endpoint.published_tokens_per_s is None or endpoint.published_source
    assert endpoint.price is None or re.search(r"20\d\d-\d\d", endpoint.price.source)
    assert endpoint.base_url.startswith("https://") or PLACEHOLDER.match(endpoint.base_url)
    assert not endpoint.own


@pytest.mark.parametrize("provider", CATALOG.providers.values(), ids=list(CATALOG.providers))
def test_our_own_key_variable_goes_before_the_providers(provider):
    if provider.auth is Auth.GOOGLE:
        assert provider.key_names == ("PACEWATCH_VERTEX_API_KEY",)
    else:
        assert len(provider.key_names) == 2
        assert provider.key_names[0] == f"PACEWATCH_{provider.id.upper()}_API_KEY"


def test_the_published_speeds_of_gpt_oss_spread_34_fold_at_least():
    speeds = published("gpt-oss-120b").values()

    assert len(speeds) >= 6
    assert round(max(speeds) / min(speeds), 1) >= 33.9


def test_the_published_speeds_of_one_snapshot_of_deepseek_r1_spread_2_47_fold():
    speeds = published("deepseek-r1-0528")

    assert round(speeds["vertex"] / speeds["deepinfra"], 2) == 2.47


def test_the_efficient_frontier_of_quality_and_speed_leaves_out_one_of_eight():
    quality = tomllib.loads((PACKAGE / "published/quality.toml").read_text())["model"]
    speed = {one.model: one.published_tokens_per_s for one in ENDPOINTS}
    points = {row["model"]: (row["index"], speed[row["model"]]) for row in quality}
    beaten = {
        model
        for model, (index, fast) in points.items()
        if any(i > index and f > fast for i, f in points.values())
    }

    assert len(points) == 8
    assert beaten == {"grok-4.3"}


def test_a_claim_says_who_claimed_it_and_whether_it_is_per_user():
    claims = tomllib.loads((PACKAGE / "published/claims.toml").read_text())["claim"]

    assert len(claims) == 9
    assert all(claim["claimed_by"] and claim["year"] >= 2024 for claim in claims)
    assert [c["peak_tokens_per_s"] for c in claims if c["per"] == "server"] == [72_000]
    assert {c["per"] for c in claims} == {"user", "server"}


def test_announced_ends_and_what_is_not_listed_are_known():
    ends = {e.id: e.ends_on for e in ENDPOINTS if e.ends_on is not None}

    assert ends == {
        "vertex/llama-3.3-70b": date(2026, 10, 21),
        "vertex/deepseek-r1-0528": date(2026, 10, 21),
        "azure/llama-4-maverick@fp8": date(2026, 11, 19),
        "azure/deepseek-r1-0528": date(2026, 8, 13),
    }
    assert [e.id for e in ENDPOINTS if not e.listed] == [
        "cerebras/llama-4-maverick",
        "groq/llama-4-maverick",
    ]


def test_anthropic_is_asked_in_its_own_way():
    opus = CATALOG.endpoints["anthropic/claude-opus-4.8"]

    assert (opus.protocol, opus.auth) == (Protocol.ANTHROPIC, Auth.X_API_KEY)
    assert opus.headers == {"anthropic-version": "2023-06-01"}


def test_only_xai_may_take_900_seconds():
    assert {e.id for e in ENDPOINTS if e.limits.total_s == 900} == {"xai/grok-4.3"}


def test_fireworks_is_asked_for_its_own_timings():
    asked = CATALOG.endpoints["fireworks/gpt-oss-120b"].body

    assert asked["perf_metrics_in_response"] is True


NO_SUCH_SETTING = {"deepseek-r1-0528", "qwen3.7-max", "step-3.7-flash"}


@pytest.mark.parametrize(
    "endpoint", [e for e in ENDPOINTS if e.reasons], ids=[e.id for e in ENDPOINTS if e.reasons]
)
def test_an_endpoint_that_reasons_is_asked_for_little_and_has_room_for_it(endpoint: Endpoint):
    assert endpoint.effort == (None if endpoint.model in NO_SUCH_SETTING else "low")
    assert endpoint.reasoning_tokens >= 1_024


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("groq/gpt-oss-120b", {"reasoning_effort": "low"}),
        ("openai/gpt-5.5", {"reasoning": {"effort": "low"}}),
        (
            "anthropic/claude-opus-4.8",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
        ),
        (
            "google/gemini-3.5-flash",
            {"generationConfig": {"thinkingConfig": {"includeThoughts": True,
                                                     "thinkingLevel": "low"}}},
        ),
    ],
)  # fmt: skip
def test_an_effort_stands_where_its_protocol_has_it(name, member):
    assert CATALOG.endpoints[name].body == member


def test_no_two_providers_share_a_key_variable():
    owners = defaultdict(set)
    for provider in CATALOG.providers.values():
        for name in provider.key_names:
            owners[name].add(provider.id)

    assert all(len(who) == 1 for who in owners.values())


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        (
            "acme",
            GOOD.replace("openai-chat", "openai_chatt"),
            'providers/acme.toml: protocol: unknown word "openai_chatt" '
            '(did you mean "openai-chat"?)',
        ),
        (
            "acme",
            GOOD + "preciscion = 'fp8'",
            'providers/acme.toml: endpoint[0].preciscion: unknown key (did you mean "precision"?)',
        ),
        (
            "acme",
            GOOD + "\n[[endpoint]]\nmodel = 'm1'\nprovider_model = 'x'",
            "providers/acme.toml: endpoint[1]: acme/m1 is there twice (give one a variant)",
        ),
        (
            "acme",
            GOOD.replace("https://api.acme.example/v1", "api.acme.example"),
            "providers/acme.toml: base_url: is no http or https address "
            "(form: http://host:port/path or https://host/path)",
        ),
        (
            "acme",
            GOOD.replace('"m1"', '"M 1"'),
            'providers/acme.toml: endpoint[0].model: "M 1" is no slug (form: a-z 0-9 . _ -)',
        ),
        (
            "Acme Inc",
            GOOD,
            "providers/Acme Inc.toml: the file's name is the provider's id (form: a-z 0-9 . _ -)",
        ),
        ("acme", "name =", "providers/acme.toml: no TOML: Invalid value (at end of document)"),
    ],
)
def test_a_bad_provider_file_is_refused_in_words(name, text, fault):
    with pytest.raises(CatalogError) as refusal:
        parse_catalog({name: text})

    assert refusal.value.faults == (fault,)


def test_the_faults_of_all_provider_files_are_told_at_once():
    with pytest.raises(CatalogError) as refusal:
        parse_catalog({"a": "x = 1\n" + GOOD, "b": "y = 2\n" + GOOD})

    assert [fault.split(":")[0] for fault in refusal.value.faults] == [
        "providers/a.toml",
        "providers/b.toml",
    ]


def test_the_page_of_the_catalog_has_its_tables():
    page = (ROOT / "docs/reference/catalog.md").read_text(encoding="utf-8")

    assert provider_table(CATALOG) in page
    assert endpoint_table(CATALOG) in page
