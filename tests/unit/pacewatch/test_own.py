import tomllib
from datetime import date
from pathlib import Path

import pytest

from pacewatch.catalog import read_catalog
from pacewatch.config import load_fleet
from pacewatch.own import read_own
from pacewatch.tables import Table
from pacewatch.words.endpoint import Auth, Endpoint, Importance, Limits, Precision, Protocol
from pacewatch.words.errors import SettingsError

HEAD = '[[endpoint]]\nbase_url = "http://127.0.0.1:9911/v1"\nmodel = "smollm2"\n'


@pytest.fixture
def own(tmp_path: Path):
    def read_text(text: str, environment: dict[str, str] | None = None) -> Endpoint:
        file = tmp_path / "pacewatch.toml"
        file.write_text(text)
        fleet = load_fleet(file, environment or {}, today=date(2026, 12, 1))
        (endpoint,) = [endpoint for endpoint in fleet.endpoints if endpoint.own]
        return endpoint

    return read_text


def test_three_lines_are_enough_for_a_server_of_ones_own(own):
    endpoint = own(HEAD)

    assert endpoint.id == "127.0.0.1-9911/smollm2"
    assert (endpoint.protocol, endpoint.auth) == (Protocol.OPENAI_CHAT, Auth.NONE)
    assert (endpoint.base_url, endpoint.provider_model) == ("http://127.0.0.1:9911/v1", "smollm2")
    assert (endpoint.provider_name, endpoint.key_names) == ("127.0.0.1:9911", ())


@pytest.mark.parametrize(
    ("base_url", "model", "expected"),
    [
        ("http://localhost:80/v1", "meta-llama/Llama-3-70B", "localhost-80/llama-3-70b"),
        ("https://llm.example.org/v1/", "Qwen 3 (FP8)", "llm.example.org/qwen-3-fp8"),
        ("http://[::1]:8080/v1", "a", "1-8080/a"),
        ("http://127.0.0.1:1/v1", "модель", "127.0.0.1-1/model"),
        ("http://127.0.0.1:1/v1", "/models/tiny.gguf", "127.0.0.1-1/tiny.gguf"),
    ],
)  # fmt: skip
def test_the_id_is_made_from_host_and_model(own, base_url, model, expected):
    assert own(f'[[endpoint]]\nbase_url = "{base_url}"\nmodel = "{model}"').id == expected


def test_facts_of_ones_own_are_taken(own):
    endpoint = own(
        HEAD
        + 'provider = "lab"\nprecision = "bf16"\nvariant = "a100"\nimportance = "page"\n'
        + 'location = "rack 3"\naccount = "team"\ntier = "batch"\nreasons = true\n'
        + 'reasoning_tokens = 512\nkey_env = "LAB_KEY"\n'
        + "price = { input_usd = 0.1, output_usd = 0.2 }\nlimits = { total_s = 900 }\n"
        + 'headers = { X-Team = "sre" }\nbody = { seed = 7 }\n'
    )

    assert endpoint.id == "lab/smollm2@bf16#a100"
    assert (endpoint.provider, endpoint.provider_name) == ("lab", "lab")
    assert endpoint.precision is Precision.BF16
    assert endpoint.importance is Importance.PAGE
    assert (endpoint.location, endpoint.account, endpoint.tier) == ("rack 3", "team", "batch")
    assert (endpoint.reasons, endpoint.reasoning_tokens) == (True, 512)
    assert (endpoint.auth, endpoint.key_names) == (Auth.BEARER, ("LAB_KEY",))
    assert endpoint.price is not None
    assert (endpoint.price.output_usd, endpoint.price.source) == (0.2, "pacewatch.toml")
    assert endpoint.limits == Limits(first_token_s=300.0, total_s=900.0)
    assert (endpoint.headers, endpoint.body) == ({"X-Team": "sre"}, {"seed": 7})


def test_an_id_may_be_chosen(own):
    endpoint = own(HEAD + 'id = "lab/tiny@fp8#a"')

    assert (endpoint.id, endpoint.provider, endpoint.model) == ("lab/tiny@fp8#a", "lab", "tiny")
    assert endpoint.precision is Precision.FP8
    assert endpoint.provider_model == "smollm2"


def test_a_server_of_ones_own_gets_no_providers_key(own):
    """A gateway under a provider's name is another host: the key is bound to the provider's."""
    endpoint = own(
        HEAD + 'provider = "nvidia"\n', {"NVIDIA_API_KEY": "x", "PACEWATCH_NVIDIA_API_KEY": "y"}
    )

    assert (endpoint.auth, endpoint.key_names) == (Auth.NONE, ())


def test_a_variant_takes_the_catalogs_facts_and_its_own_key(own):
    endpoint = own(
        '[[endpoint]]\nprovider = "sambanova"\nmodel = "gpt-oss-120b"\nvariant = "team-b"\n'
        'account = "team-b"\nkey_env = "SAMBANOVA_TEAM_B_KEY"'
    )

    assert endpoint.id == "sambanova/gpt-oss-120b#team-b"
    assert endpoint.base_url == "https://api.sambanova.ai/v1"
    assert (endpoint.published_tokens_per_s, endpoint.reasons) == (692.7, True)
    assert (endpoint.auth, endpoint.key_names) == (Auth.BEARER, ("SAMBANOVA_TEAM_B_KEY",))


def test_a_model_of_a_catalogs_provider_that_does_not_ship_needs_no_address(own):
    endpoint = own('[[endpoint]]\nprovider = "nvidia"\nmodel = "meta/llama-9"')

    assert endpoint.id == "nvidia/llama-9"
    assert endpoint.provider_model == "meta/llama-9"
    assert endpoint.base_url == "https://integrate.api.nvidia.com/v1"
    assert endpoint.key_names == ("PACEWATCH_NVIDIA_API_KEY", "NVIDIA_API_KEY")


def test_a_server_that_speaks_anthropics_protocol_is_asked_in_its_way(own):
    endpoint = own(HEAD + 'protocol = "anthropic-messages"\nkey_env = "GATEWAY_KEY"')

    assert endpoint.auth is Auth.X_API_KEY
    assert endpoint.headers == {"anthropic-version": "2023-06-01"}


def test_an_endpoint_of_ones_own_is_probed_beside_what_is_picked(tmp_path):
    file = tmp_path / "pacewatch.toml"
    file.write_text('endpoints = ["sambanova/gpt-oss-120b"]\n' + HEAD)
    fleet = load_fleet(file, {}, today=date(2026, 12, 1))

    assert [e.id for e in fleet.endpoints] == ["127.0.0.1-9911/smollm2", "sambanova/gpt-oss-120b"]


def test_a_chosen_id_without_a_precision_keeps_the_fact(own):
    endpoint = own(HEAD + 'id = "lab/tiny"\nprecision = "bf16"')

    assert (endpoint.id, endpoint.precision) == ("lab/tiny", Precision.BF16)


def test_a_provider_that_is_named_in_the_id_is_shown_by_its_name(own):
    assert own(HEAD + 'id = "groq/tiny"').provider_name == "Groq"
    assert own(HEAD + 'id = "lab/tiny"').provider_name == "lab"


def test_azures_deployments_are_asked_with_a_version(own):
    endpoint = own(
        '[[endpoint]]\nprovider = "azure"\nmodel = "gpt-5.5"\nvariant = "weu"\n'
        'key_env = "WEU_KEY"\n'
        'base_url = "https://me.openai.azure.com/openai/deployments/mine/?api-version=2024-10-21"'
    )

    assert endpoint.id == "azure/gpt-5.5#weu"
    assert (endpoint.auth, endpoint.key_names) == (Auth.API_KEY, ("WEU_KEY",))
    assert endpoint.base_url == (
        "https://me.openai.azure.com/openai/deployments/mine?api-version=2024-10-21"
    )


@pytest.mark.parametrize(
    "base_url",
    [
        "https://host/v1?key=hunter2",
        "https://host/v1?api-version=1&key=hunter2",
        "https://host/v1?api-version=a b",
        "https://host/v1?api-version=1#x",
    ],
)
def test_no_other_query_is_taken(own, base_url):
    with pytest.raises(SettingsError, match="must have no query"):
        own(f'[[endpoint]]\nmodel = "m"\nbase_url = "{base_url}"')


@pytest.mark.parametrize(
    "tail",
    [
        "/chat/completions?api-version=2024-10-21",
        "/models/m:streamGenerateContent",
        "/model/m/converse-stream",
    ],
)
def test_what_the_protocol_adds_is_left_out_of_an_address(own, tail):
    with pytest.raises(SettingsError, match="which Pacewatch adds itself"):
        own(f'[[endpoint]]\nmodel = "m"\nbase_url = "https://host/v1{tail}"')


def test_a_provider_may_speak_another_protocol_elsewhere(own):
    endpoint = own(
        '[providers.vertex]\nproject = "p1"\nlocation = "us-central1"\n'
        '[[endpoint]]\nprovider = "vertex"\nmodel = "gemini-3.5-flash"\nprotocol = "gemini"'
    )

    assert (endpoint.protocol, endpoint.auth) == (Protocol.GEMINI, Auth.GOOGLE)
    assert endpoint.base_url == (
        "https://us-central1-aiplatform.googleapis.com/v1/projects/p1/locations/us-central1"
        "/publishers/google"
    )


def told(text: str) -> Endpoint:
    """The endpoint of the file's only table, read alone: no blank is filled, no price looked up."""
    table = Table(tomllib.loads(text), place="pacewatch.toml", path="", faults=[])
    [one] = table.tables("endpoint")
    endpoint = read_own(one, read_catalog())
    assert endpoint is not None, table.faults
    return endpoint


def test_a_provider_without_a_second_address_is_asked_at_its_first():
    endpoint = told(
        '[[endpoint]]\nprovider = "openai"\nmodel = "gpt-5.5"\nvariant = "chat"\n'
        'protocol = "openai-chat"'
    )

    assert endpoint.base_url == "https://api.openai.com/v1"


def test_body_settings_of_one_protocol_are_none_of_another():
    head = '[[endpoint]]\nprovider = "google"\nmodel = "gemini-3.5-flash"\nvariant = "x"\n'

    assert told(head).body == {
        "generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"}}
    }
    assert told(head + 'protocol = "openai-chat"').body == {}
    assert told(head + 'protocol = "openai-chat"').effort is None
    assert told(head + 'protocol = "openai-chat"\nbody = { seed = 1 }').body == {"seed": 1}


KNOWN = '[[endpoint]]\nprovider = "groq"\nmodel = "gpt-oss-120b"\nvariant = "x"\n'
OWN = '[[endpoint]]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'


@pytest.mark.parametrize(
    ("text", "effort", "body"),
    [
        (KNOWN, "low", {"reasoning_effort": "low"}),
        (KNOWN + 'effort = "high"', "high", {"reasoning_effort": "high"}),
        (KNOWN + "body = { seed = 1 }", None, {"seed": 1}),
        (KNOWN + 'effort = "high"\nbody = { seed = 1 }', "high",
         {"reasoning_effort": "high", "seed": 1}),
        (OWN, None, {}),
        (OWN + 'effort = "low"', "low", {"reasoning_effort": "low"}),
        (OWN + 'effort = "low"\nprotocol = "gemini"', "low",
         {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}}),
        (KNOWN + 'effort = "low"\nprotocol = "openai-responses"', "low",
         {"reasoning": {"effort": "low"}}),
    ],
)  # fmt: skip
def test_the_effort_of_the_table_goes_before_the_catalogs_and_a_body_before_both(
    text, effort, body
):
    endpoint = told(text)

    assert (endpoint.effort, endpoint.body) == (effort, body)


def test_an_endpoint_of_ones_own_that_reasons_has_room_for_it():
    assert told(OWN + "reasons = true").reasoning_tokens == 2_048
    assert told(OWN + "reasons = true\nreasoning_tokens = 0").reasoning_tokens == 0
    assert told(OWN).reasoning_tokens == 0
    assert told(KNOWN).reasoning_tokens == 1_024
