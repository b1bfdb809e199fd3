from pathlib import Path

import pytest

from pacewatch.catalog import read_catalog
from pacewatch.environment import (
    ambient_found,
    ambient_variables,
    environment_faults,
    key_names_found,
)

ENDPOINTS = tuple(read_catalog().endpoints.values())


@pytest.mark.parametrize(
    ("environment", "faults"),
    [
        ({"PACEWATCH_REGION": "eu-west", "GROQ_API_KEY": "x", "LANG": "C"}, []),
        ({"PACEWATCH_REGION_TOKEN_FILE": "/run/token"}, []),
        (
            {"PACEWATCH_DATABASE_URL_FILE": "/run/db", "PACEWATCH_BROKER_URL_FILE": "/run/broker"},
            [],
        ),
        ({"PACEWATCH_GROQ_API_KEY": "x", "PACEWATCH_OPENAI_API_KEY_FILE": "/run/key"}, []),
        (
            {"PACEWATCH_REGON": "eu-west"},
            ['PACEWATCH_REGON: unknown variable (did you mean "PACEWATCH_REGION"?)'],
        ),
        (
            {"PACEWATCH_GROK_API_KEY": "x"},
            [
                "PACEWATCH_GROK_API_KEY: no provider has that name "
                '(did you mean "PACEWATCH_GROQ_API_KEY"?)'
            ],
        ),
        (
            {"PACEWATCH_BROKER_URL": "redis://broker.example:6379/0"},
            [
                "PACEWATCH_BROKER_URL: redis to broker.example is neither TLS nor loopback "
                "(allowed: https or rediss, a loopback address, or PACEWATCH_ALLOW_UNENCRYPTED=yes)"
            ],
        ),
        (
            {"GROQ_API_KEY": "x", "GROQ_API_KEY_FILE": "/run/key"},
            ["GROQ_API_KEY and GROQ_API_KEY_FILE are both set; one of them is enough"],
        ),
    ],
)
def test_variables_of_ours_are_checked_and_others_are_left_alone(environment, faults):
    assert environment_faults(environment, ENDPOINTS) == faults


def test_keys_are_found_by_name():
    environment = {"GROQ_API_KEY": "hunter2", "XAI_API_KEY_FILE": "/k", "OTHER_API_KEY": "x"}

    assert key_names_found(environment, ENDPOINTS) == ("GROQ_API_KEY", "XAI_API_KEY_FILE")


def test_a_clouds_credentials_are_found_by_name_in_shell_and_home(tmp_path):
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text("hunter2")
    environment = {"HOME": str(tmp_path), "AWS_PROFILE": "hunter2", "AZURE_CLIENT_ID": "hunter2"}

    assert ambient_found(environment) == {
        "aws": ("AWS_PROFILE", "~/.aws/credentials"),
        "azure": ("AZURE_CLIENT_ID",),
    }


def test_a_shell_without_credentials_has_none(tmp_path):
    assert ambient_found({"HOME": str(tmp_path)}) == {}


def test_what_a_clouds_tools_look_at_is_handed_on_for_that_cloud_alone():
    shell = {
        "AWS_PROFILE": "p",
        "AWS_CONFIG_FILE": "/c",
        "GOOGLE_APPLICATION_CREDENTIALS": "account.json",
        "GROQ_API_KEY": "hunter2",
    }

    assert ambient_variables({None}, shell) == {}
    assert ambient_variables({"aws", None}, shell) == {"AWS_PROFILE": "p", "AWS_CONFIG_FILE": "/c"}
    assert ambient_variables({"google", "azure"}, shell) == {
        "GOOGLE_APPLICATION_CREDENTIALS": str(Path("account.json").absolute())
    }
    assert ambient_variables({"google"}, {}) == {}


def test_an_access_key_of_our_own_is_known():
    environment = {"PACEWATCH_BEDROCK_SECRET_ACCESS_KEY_FILE": "/k"}

    assert environment_faults(environment, ENDPOINTS) == []
    assert key_names_found(environment, ENDPOINTS) == ("PACEWATCH_BEDROCK_SECRET_ACCESS_KEY_FILE",)
