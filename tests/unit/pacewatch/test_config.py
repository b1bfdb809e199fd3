import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacewatch.catalog import read_catalog
from pacewatch.config import config_path, load_fleet, read_fleet
from pacewatch.words import judging
from pacewatch.words.endpoint import Auth, Importance, Limits, RateLimit
from pacewatch.words.errors import SettingsError
from pacewatch.words.fleet import DEMO_SCHEDULE, Fleet, Schedule, Spending, base_url_in
from pacewatch.words.retention import Retention
from pacewatch.words.slot import WORKLOADS, Workload
from pacewatch.words.spending import Caps

TODAY = date(2026, 12, 1)
KEYED = {"SAMBANOVA_API_KEY": "one", "DEEPINFRA_API_KEY": "two"}
"""Of providers whose prices stand in the catalog, so that nothing is looked up."""


@pytest.fixture
def read(tmp_path: Path):
    def read_text(text: str, environment: dict[str, str] | None = None) -> Fleet:
        file = tmp_path / "pacewatch.toml"
        file.write_text(text)
        return load_fleet(file, environment or {}, today=TODAY)

    return read_text


def ids(fleet: Fleet) -> list[str]:
    return [endpoint.id for endpoint in fleet.endpoints]


def test_without_a_file_the_endpoints_with_a_key_are_probed():
    fleet = load_fleet(None, KEYED, today=TODAY)

    assert ids(fleet) == [
        "deepinfra/deepseek-r1-0528",
        "deepinfra/gpt-oss-120b",
        "deepinfra/llama-3.3-70b@fp8",
        "sambanova/gpt-oss-120b",
        "sambanova/llama-3.3-70b@bf16",
    ]
    assert list(fleet.regions) == ["local"]
    assert (fleet.schedule, fleet.spending, fleet.simulated) == (Schedule(), Spending(), False)


def test_without_file_and_key_nothing_is_probed():
    fleet = load_fleet(None, {}, today=TODAY)

    assert fleet.endpoints == ()
    assert fleet.catalog.keys() == read_catalog().endpoints.keys()


def test_a_key_in_a_file_counts_as_a_key():
    fleet = load_fleet(None, {"PACEWATCH_SAMBANOVA_API_KEY_FILE": "/run/key"}, today=TODAY)

    assert len(fleet.endpoints) == 2


def test_what_is_picked_is_probed_whether_or_not_a_key_is_here(read):
    """The centre holds no keys."""
    assert ids(read('endpoints = ["sambanova/gpt-*"]', {})) == ["sambanova/gpt-oss-120b"]


def test_what_ended_or_is_not_listed_is_skipped_with_a_word(read):
    fleet = read(
        'endpoints = ["azure/*", "cerebras/llama*"]\n'
        '[providers.azure]\nendpoint = "https://me.services.ai.azure.com"'
    )

    assert ids(fleet) == ["azure/llama-3.3-70b@fp8"]
    assert {skipped.endpoint: skipped.reason for skipped in fleet.skipped} == {
        "azure/deepseek-r1-0528": "its provider announced its end for 2026-08-13 "
        "(name it to probe it)",
        "azure/llama-4-maverick@fp8": "its provider announced its end for 2026-11-19 "
        "(name it to probe it)",
        "cerebras/llama-4-maverick": "its provider does not list it at present "
        "(name it in endpoints to probe it)",
    }


def test_an_endpoint_is_probed_on_its_announced_last_day(tmp_path):
    file = tmp_path / "pacewatch.toml"
    file.write_text(
        'endpoints = ["azure/llama-4*"]\n[providers.azure]\nendpoint = "https://me.azure.example"'
    )

    assert len(load_fleet(file, {}, today=date(2026, 11, 19)).endpoints) == 1
    assert len(load_fleet(file, {}, today=date(2026, 11, 20)).endpoints) == 0


def test_what_is_named_outright_is_probed_though_it_ended(read):
    fleet = read(
        'endpoints = ["azure/deepseek-r1-0528"]\n'
        '[providers.azure]\nendpoint = "https://me.services.ai.azure.com"'
    )

    assert ids(fleet) == ["azure/deepseek-r1-0528"]


def test_an_address_with_a_blank_is_skipped_until_the_file_fills_it(read):
    blank = read('endpoints = ["azure/llama-3.3-70b@fp8"]')
    filled = read(
        'endpoints = ["azure/llama-3.3-70b@fp8"]\n'
        '[providers.azure]\nendpoint = "https://me.services.ai.azure.com/"'
    )

    assert blank.skipped[0].reason == "its address needs endpoint of [providers.azure]"
    assert filled.endpoints[0].base_url == "https://me.services.ai.azure.com/openai/v1"


def test_a_filled_location_becomes_a_fact_of_the_endpoint(read):
    fleet = read('[providers.vertex]\nproject = "p1"\nlocation = "us-central1"')
    endpoint = fleet.catalog["vertex/llama-3.3-70b"]

    assert endpoint.location == "us-central1"
    assert endpoint.base_url == (
        "https://us-central1-aiplatform.googleapis.com/v1/projects/p1/locations/us-central1"
        "/endpoints/openapi"
    )


def test_a_location_that_is_nowhere_in_particular_has_a_host_of_its_own(read):
    fleet = read('[providers.vertex]\nproject = "p1"\nlocation = "global"')

    assert fleet.catalog["vertex/llama-3.3-70b"].base_url == (
        "https://aiplatform.googleapis.com/v1/projects/p1/locations/global/endpoints/openapi"
    )


@pytest.mark.parametrize(
    ("provider", "blank", "text"),
    [
        ("vertex", "location", "evil.example/"),
        ("vertex", "location", "evil.example/x?y=#"),
        ("vertex", "location", "us-central1.evil"),
        ("vertex", "location", "a@b"),
        ("vertex", "project", "p1/../.."),
        ("vertex", "project", "p 1"),
        ("bedrock", "aws_region", "evil.example/"),
        ("bedrock", "aws_region", "-"),
    ],
)
def test_what_fills_a_blank_leads_to_no_other_host(read, provider, blank, text):
    with pytest.raises(SettingsError, match=f"{provider}.{blank}: .* is no part of an address"):
        read(f'[providers.{provider}]\n{blank} = "{text}"')


SHELL = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "hunter2",
    "GOOGLE_APPLICATION_CREDENTIALS": "account.json",
}
BLANKS = (
    '[providers.bedrock]\naws_region = "us-east-1"\n'
    '[providers.vertex]\nproject = "p1"\nlocation = "us-central1"\n'
)


def test_the_shells_cloud_credentials_pick_nothing_unless_the_file_lets_them(read):
    silent = read(BLANKS, SHELL)
    aws = read(f'{BLANKS}[spending]\nambient_credentials = ["aws"]', SHELL)
    both = read(f'{BLANKS}[spending]\nambient_credentials = ["aws", "google"]', SHELL)

    assert ids(silent) == []
    assert ids(aws) == ["bedrock/llama-4-maverick"]
    assert {e.ambient for e in aws.endpoints} == {"aws"}
    assert {e.provider for e in both.endpoints} | {s.endpoint for s in both.skipped} == {
        "bedrock",
        "vertex/deepseek-r1-0528",
        "vertex/llama-3.3-70b",
    }


def test_an_access_key_of_our_own_picks_bedrock(read):
    names = ("PACEWATCH_BEDROCK_ACCESS_KEY_ID", "PACEWATCH_BEDROCK_SECRET_ACCESS_KEY")

    assert ids(read(BLANKS, dict.fromkeys(names, "x"))) == ["bedrock/llama-4-maverick"]


def test_a_server_of_ones_own_is_never_shown_the_shells_credentials(read):
    fleet = read(
        '[[endpoint]]\nprovider = "bedrock"\nmodel = "m"\nbase_url = "https://evil.example"\n'
        '[spending]\nambient_credentials = ["aws", "google", "azure"]',
        SHELL,
    )
    (own,) = [endpoint for endpoint in fleet.endpoints if endpoint.own]

    assert (own.auth, own.ambient, own.key_names) == (Auth.NONE, None, ())


def test_later_lines_of_importance_win(read):
    fleet = read('[importance]\n"sambanova/*" = "page"\n"*/gpt-oss-120b" = "watch"', KEYED)

    assert {e.id: e.importance for e in fleet.endpoints if e.provider == "sambanova"} == {
        "sambanova/gpt-oss-120b": Importance.WATCH,
        "sambanova/llama-3.3-70b@bf16": Importance.PAGE,
    }


def test_a_region_has_its_proxy_and_its_authorities(read, tmp_path):
    fleet = read(
        '[regions.eu-west]\nproxy_url = "http://proxy.example:3128"\nca_file = "ca.pem"\n'
        "[regions.us-east]\npaused = true"
    )

    assert list(fleet.regions) == ["eu-west", "us-east"]
    assert fleet.regions["eu-west"].proxy_url == "http://proxy.example:3128"
    assert fleet.regions["eu-west"].ca_file == str(tmp_path / "ca.pem")
    assert fleet.regions["us-east"].proxy_url is None
    assert [region.paused for region in fleet.regions.values()] == [False, True]


def test_schedule_and_spending_are_read(read):
    fleet = read(
        'workloads = ["short", "long"]\n[schedule]\nday_s = 3600\nsingle_per_day = 4\n'
        "tick_s = 0.5\n[spending]\nusd_per_day = 2\nregion_usd_per_day = 1.5\n"
        'accept_spending = true\nambient_credentials = ["aws"]'
    )

    assert fleet.schedule == Schedule(
        day_s=3600, single_per_day=4, tick_s=0.5, workloads=("short", "long")
    )
    assert fleet.spending == Spending(
        usd_per_day=2.0,
        region_usd_per_day=1.5,
        accept_spending=True,
        ambient_credentials=frozenset({"aws"}),
    )


def test_a_simulator_makes_the_whole_fleet_simulated(read):
    fleet = read(
        '[simulator]\neu-west = "http://127.0.0.1:41001"\nus-east = "http://127.0.0.1:41002/"',
        KEYED,
    )

    assert fleet.simulated
    assert fleet.schedule == DEMO_SCHEDULE
    assert {r.name: r.simulator_url for r in fleet.regions.values()} == {
        "eu-west": "http://127.0.0.1:41001",
        "us-east": "http://127.0.0.1:41002",
    }
    assert len(fleet.endpoints) == len(read_catalog().endpoints)
    assert fleet.skipped == ()


def test_a_simulated_endpoint_has_no_key_no_price_and_the_demos_limits(read):
    fleet = read('[simulator]\neu-west = "http://127.0.0.1:41001"', KEYED)

    assert {(e.auth, e.key_names, e.price, e.reasoning_tokens) for e in fleet.endpoints} == {
        (Auth.NONE, (), None, 0)
    }
    assert {e.limits for e in fleet.endpoints} == {
        Limits(connect_s=10, first_token_s=10, stall_s=5, total_s=20)
    }


def test_every_simulated_address_is_the_simulators(read):
    fleet = read('[simulator]\neu-west = "http://127.0.0.1:41001"')
    region = fleet.regions["eu-west"]
    urls = {e.id: base_url_in(e, region) for e in fleet.endpoints}

    assert urls["groq/gpt-oss-120b"] == "http://127.0.0.1:41001/groq/openai/v1"
    assert urls["azure/deepseek-r1-0528"] == "http://127.0.0.1:41001/azure/openai/v1"
    assert all("{" not in url for url in urls.values())


def test_a_simulated_fleet_may_be_a_small_one_on_a_schedule_of_its_own(read):
    fleet = read(
        'endpoints = ["groq/*"]\nworkloads = ["standard"]\n[schedule]\nday_s = 60\n'
        '[simulator]\neu-west = "http://127.0.0.1:41001"'
    )

    assert ids(fleet) == ["groq/gpt-oss-120b", "groq/llama-3.3-70b", "groq/llama-4-maverick"]
    assert (fleet.schedule.day_s, fleet.schedule.workloads) == (60, ("standard",))
    assert fleet.schedule.validity_s == DEMO_SCHEDULE.validity_s


def test_the_file_is_the_named_one_else_the_one_here_else_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    none = config_path({})
    (tmp_path / "pacewatch.toml").touch()

    assert none is None
    assert config_path({}) == Path("pacewatch.toml")
    assert config_path({"PACEWATCH_CONFIG": "/etc/pw.toml"}) == Path("/etc/pw.toml")


values = st.recursive(
    st.none().map(lambda _: True)
    | st.integers()
    | st.floats()
    | st.text("ab/*@#{}", max_size=12)
    | st.dates()
    | st.sampled_from(["groq/*", "http://127.0.0.1:1/v1", "page", "standard", "groq", "a/b@fp8"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["base_url", "model", "provider", "id", "variant", "price", "limits", "headers",
             "body", "input_usd", "total_s", "groq/*", "eu", "proxy_url", "key_env", "vertex",
             "project", "location", "day_s", "precision", "protocol", "zz", ""]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip
files = st.dictionaries(
    st.sampled_from(
        ["endpoints", "endpoint", "workloads", "schedule", "spending", "regions", "importance",
         "simulator", "providers", "zz"]
    ),
    values,
)  # fmt: skip


@given(raw=files)
def test_whatever_stands_in_a_file_it_is_read_or_refused_in_words(raw):
    try:
        fleet = read_fleet(raw, place="p.toml", folder=Path(), environment={}, today=TODAY)
    except SettingsError as error:
        assert all(fault.startswith("p.toml: ") for fault in error.faults)
    else:
        assert isinstance(fleet, Fleet)


def test_a_workload_of_ones_own_is_known_beside_those_that_ship(read):
    fleet = read(
        'workloads = ["chat", "standard"]\n[workload.chat]\ninput_tokens = 2000\n'
        "output_tokens = 400"
    )

    assert fleet.schedule.workloads == ("chat", "standard")
    assert fleet.workloads["chat"] == Workload(name="chat", input_tokens=2_000, output_tokens=400)
    assert set(WORKLOADS) < set(fleet.workloads)


def test_caps_and_rate_limits_of_a_provider_are_read(read):
    fleet = read(
        "[spending]\nrequests_per_day = 500\ntokens_per_day = 900000\n"
        "[providers.groq]\nrequests_per_day = 100\nusd_per_day = 0.5\n"
        'rate_limit = { requests_per_minute = 30, source = "our account" }\n'
        "[providers.box]\ntokens_per_day = 7\n"
        '[[endpoint]]\nprovider = "box"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        "rate_limit = { tokens_per_minute = 60000 }"
    )
    [own] = [endpoint for endpoint in fleet.endpoints if endpoint.own]

    assert fleet.spending.caps == Caps(
        requests_per_day=500, tokens_per_day=900_000, usd_per_day=5.0
    )
    assert fleet.spending.providers == {
        "groq": Caps(requests_per_day=100, usd_per_day=0.5),
        "box": Caps(tokens_per_day=7),
    }
    assert fleet.rate_limits == {"groq": RateLimit(requests_per_minute=30, source="our account")}
    assert own.rate_limit == RateLimit(tokens_per_minute=60_000, source="pacewatch.toml")


def test_the_store_is_kept_for_as_long_as_the_file_says(read):
    told = read("[store]\ntimelines_days = 7\ntimings_days = 90\nrollups_days = 800\nsize_gb = 50")

    assert told.retention == Retention(
        timelines_days=7, timings_days=90, rollups_days=800, size_gb=50
    )
    assert read("").retention == Retention(
        timelines_days=14, timings_days=400, rollups_days=None, size_gb=None
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("timings_days = 4", "timings_days: 4 is too short for the window (allowed: 5 or more)"),
        ("timelines_days = 401", "timelines_days: is longer than timings_days"),
        ("size_gb = 0", "size_gb: 0 is out of bounds"),
    ],
)
def test_times_that_cannot_be_kept_are_refused(read, text, fault):
    with pytest.raises(SettingsError, match=re.escape(f"store.{fault}")):
        read(f"[store]\n{text}")


def test_limits_are_of_the_endpoints_that_match_and_later_tables_win_key_by_key(read):
    fleet = read(
        '[limits."groq/*"]\nslow_ttft_s = 2\nslow_tokens_per_s = 30\n'
        '[limits."*/gpt-oss-120b"]\nslow_ttft_s = 1.5\nfloor_ttft_s = 0.3\n'
        "[judging]\nfalse_pages_a_month = 0.5\n[sentinels]\nevery_s = 900\n",
        KEYED,
    )

    assert fleet.limits["groq/gpt-oss-120b"] == judging.Limits(
        slow_ttft_s=1.5, slow_tokens_per_s=30.0, floor_ttft_s=0.3
    )
    assert fleet.limits["groq/llama-3.3-70b"] == judging.Limits(
        slow_ttft_s=2.0, slow_tokens_per_s=30.0
    )
    assert "cerebras/zai-glm-4.7" not in fleet.limits
    assert (fleet.false_pages_a_month, fleet.schedule.sentinel_s) == (0.5, 900)


def test_only_endpoints_of_importance_page_have_sentinels(read):
    fleet = read('[importance]\n"sambanova/gpt-oss-120b" = "page"', KEYED)

    assert {e.id for e in fleet.endpoints if fleet.sentinel_s(e)} == {"sambanova/gpt-oss-120b"}
