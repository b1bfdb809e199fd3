from typing import Any

import pytest

from pacewatch.cli.probe import probe
from pacewatch.sim.address import Address, write_address
from pacewatch.words.errors import SettingsError

NOTHING: dict[str, Any] = {
    "endpoint": None,
    "base_url": None,
    "protocol": "openai-chat",
    "model": None,
    "key_env": None,
    "first_token": None,
    "stall": None,
    "total": None,
    "workload": None,
    "region": None,
    "from_region": None,
    "parallel": 1,
    "repeat": None,
    "watch": False,
    "as_json": False,
}
OWN = {"base_url": "http://127.0.0.1:1/v1", "model": "x"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({}, "names no endpoint"),
        ({"endpoint": "groq/lama-3.3-70b"}, 'did you mean "groq/llama-3.3-70b"?'),
        ({"endpoint": "groq/nope"}, "(known: groq/gpt-oss-120b, groq/llama-3.3-70b, "),
        ({"endpoint": "groq/llama-3.3-70b"}, "no key is set"),
        ({"model": "x"}, "need --base-url"),
        ({"endpoint": "a/b", **OWN}, "takes no endpoint"),
        ({"region": "eu", **OWN}, "takes no endpoint and no --region"),
        ({"workload": "shrt", **OWN}, 'did you mean "short"?'),
        ({"key_env": "NO_KEY", **OWN}, "NO_KEY is not set"),
        ({"from_region": "eu"}, "needs the id of an endpoint"),
        ({"endpoint": "a/b", "from_region": "eu", "stall": 1.0}, "--stall cannot be set"),
        ({"endpoint": "a/b", "from_region": "eu", "region": "us"}, "--region cannot be set"),
        ({"from_region": "eu", **OWN}, "needs the id of an endpoint"),
        ({"protocol": "gemeni", **OWN}, 'did you mean "gemini"?'),
    ],
)
def test_wrong_use_says_what_is_wrong_and_what_is_allowed(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SettingsError) as refused:
        probe(**{**NOTHING, **words})

    assert sentence in str(refused.value)


def test_a_region_that_the_file_does_not_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pacewatch.toml").write_text('[[endpoint]]\nbase_url = "http://a"\nmodel = "x"\n')

    with pytest.raises(SettingsError, match="--region"):
        probe(**{**NOTHING, "endpoint": "a/x", "region": "moon"})


def test_while_a_demo_runs_an_endpoint_without_a_key_is_to_be_had_from_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PACEWATCH_STATE", str(tmp_path))
    regions = {"us-east": "http://127.0.0.1:2", "eu-west": "http://127.0.0.1:1"}
    write_address(tmp_path, Address(url="http://127.0.0.1:3", token="t", regions=regions, pid=1))

    with pytest.raises(SettingsError, match=r"no key is set.*--from eu-west"):
        probe(**{**NOTHING, "endpoint": "groq/llama-3.3-70b"})
