import json

import pytest
from typer.testing import CliRunner

from pacewatch.catalog import read_catalog
from pacewatch.cli.app import app
from pacewatch.words.errors import SettingsError

FILE = """
endpoints = ["sambanova/*", "azure/llama-3.3-70b@fp8", "deepinfra/deepseek-r1-0528"]

[importance]
"sambanova/*" = "page"

[[endpoint]]
base_url = "http://llm.example:9911/v1"
model = "smollm2"
key_env = "LAB_KEY"
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    (tmp_path / "pacewatch.toml").write_text(FILE)

    def run(*arguments: str, width: int = 140, **environment: str):
        names = {"COLUMNS": str(width), **environment}
        return CliRunner().invoke(app, list(arguments), env=names)

    return run


@pytest.mark.parametrize("width", [80, 140])
def test_the_check_reads_well(call, golden, width):
    result = call("check", width=width, SAMBANOVA_API_KEY="hunter2")

    assert result.exit_code == 0
    assert "hunter2" not in result.output
    golden(f"cli/check-{width}.txt", "\n".join(map(str.rstrip, result.output.splitlines())) + "\n")


def test_check_tells_a_machine_what_is_probed_and_what_is_skipped_and_why(call):
    said = json.loads(call("check", "--json", SAMBANOVA_API_KEY="hunter2").output)

    assert said["faults"] == []
    assert {e["endpoint"]: e["key"] for e in said["endpoints"]} == {
        "deepinfra/deepseek-r1-0528": "not here",
        "llm.example-9911/smollm2": "not here",
        "sambanova/gpt-oss-120b": "SAMBANOVA_API_KEY",
        "sambanova/llama-3.3-70b@bf16": "SAMBANOVA_API_KEY",
    }
    assert said["skipped"] == [
        {
            "endpoint": "azure/llama-3.3-70b@fp8",
            "reason": "its address needs endpoint of [providers.azure]",
        }
    ]


def test_check_tells_the_faults_of_file_and_environment_at_once(call, tmp_path):
    (tmp_path / "pacewatch.toml").write_text("shedule = {}\nreglons = 3\n")
    result = call("check", PACEWATCH_REGON="eu-west")

    assert isinstance(result.exception, SettingsError)
    assert result.exception.faults == (
        'pacewatch.toml: shedule: unknown key (did you mean "schedule"?)',
        'pacewatch.toml: reglons: unknown key (did you mean "regions"?)',
        'PACEWATCH_REGON: unknown variable (did you mean "PACEWATCH_REGION"?)',
    )


def test_faults_as_json_still_end_with_wrong_use(call, tmp_path):
    (tmp_path / "pacewatch.toml").write_text("shedule = {}\n")
    result = call("check", "--json")

    assert result.exit_code == 2
    assert len(json.loads(result.output)["faults"]) == 1


def test_another_file_may_be_named(call, tmp_path):
    (tmp_path / "other.toml").write_text('[simulator]\neu-west = "http://127.0.0.1:41001"')
    said = json.loads(call("check", "other.toml", "--json").output)

    assert said["simulated"]
    assert len(said["endpoints"]) == len(read_catalog().endpoints)


def test_plan_prints_what_it_would_ask(call):
    result = call("plan", "--json")

    assert result.exit_code == 0
    assert {p["provider"] for p in json.loads(result.output)["providers"]} == {
        "deepinfra",
        "llm.example-9911",
        "sambanova",
    }


def test_without_a_file_and_a_key_both_say_so(call, tmp_path):
    (tmp_path / "pacewatch.toml").unlink()

    assert "Nothing is probed" in call("check").output
    assert "Nothing is planned" in call("plan").output
