import pytest

from pacewatch.tables import looks_secret, secrets_in, shown, suggestion


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-abcdef",
        "gsk_abcdefghijklmnop",
        "xai-abcdefghijklmnop",
        "nvapi-abcdefghijklmnop",
        "AIzaSyA1234567890abcdefghijk",
        "AKIA1234567890ABCD",
        "Bearer abc",
        "3f9a2b7c1d8e4f6a0b5c9d2e7f1a3b8c",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.x",
    ],
)
def test_what_has_the_form_of_a_key_is_not_shown(text):
    assert looks_secret(text)
    assert shown(text) == "(not shown)"


@pytest.mark.parametrize(
    "text",
    [
        "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
        "accounts/fireworks/models/gpt-oss-120b",
        "us.meta.llama4-maverick-17b-instruct-v1:0",
        "https://integrate.api.nvidia.com/v1",
        "PACEWATCH_SAMBANOVA_API_KEY",
        "task-queue-of-the-lab",
    ],
)
def test_names_and_addresses_are_no_keys(text):
    assert not looks_secret(text)


def test_a_secret_is_taken_out_and_its_fault_does_not_repeat_it():
    raw = {"endpoint": [{"model": "a", "token": "hunter2"}], "x": {"password": "hunter2"}}
    faults = secrets_in(raw, "p.toml")

    assert raw == {"endpoint": [{"model": "a"}], "x": {}}
    assert [fault.split(": ")[1] for fault in faults] == ["endpoint[0].token", "x.password"]
    assert "hunter2" not in "".join(faults)


def test_a_key_path_that_may_be_a_secret_is_not_shown():
    faults = secrets_in({"gsk_abcdefghijklmnop": {"key": "hunter2"}}, "p.toml")

    assert faults[0].startswith("p.toml: (not shown).key: ")


def test_a_model_may_look_random():
    """Some servers name a model by the hash of its weights."""
    assert secrets_in({"model": "3f9a2b7c1d8e4f6a0b5c9d2e7f1a3b8c"}, "p.toml") == []


def test_without_a_near_word_a_short_list_is_told_and_a_long_one_is_not():
    assert suggestion("x", ["page", "notify"]) == " (known: notify, page)"
    assert suggestion("x", [f"word{n}" for n in range(50)]) == ""
    assert suggestion("pages", ["page", "notify"]) == ' (did you mean "page"?)'


@pytest.mark.parametrize("key", ["X-Token", "apiKey", "Ocp-Apim-Subscription-Key", "db_password"])
def test_a_text_under_the_name_of_a_secret_is_taken_for_one(key):
    raw = {"headers": {key: "hunter2"}}

    assert len(secrets_in(raw, "p.toml")) == 1
    assert raw == {"headers": {}}


@pytest.mark.parametrize("key", ["key_env", "reasoning_tokens", "service_tier", "monkey"])
def test_other_names_are_not(key):
    assert secrets_in({key: "plain"}, "p.toml") == []
