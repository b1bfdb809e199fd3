"""Commands of the centre find the store, and the demo's file, of an `up` that runs."""

import json

import pytest
from support.centre import migrated_pool
from support.receiving import receiving
from typer.testing import CliRunner

from pacewatch.cli.app import app
from pacewatch.stack.demo import write_demo
from pacewatch.stack.state import DATABASE_URL, hold


@pytest.fixture
def call(tmp_path, monkeypatch, database_url):
    """Run a command beside a demo that runs, with nothing said of its store."""
    monkeypatch.chdir(tmp_path)
    environment = {"PACEWATCH_STATE": str(tmp_path / "state"), "COLUMNS": "120"}
    with migrated_pool(database_url), hold(tmp_path / "state", simulated=True) as state:
        (state.folder / DATABASE_URL).write_text(database_url)
        write_demo(state.folder, {"eu-west": 9}, "DEMO_URL")
        state.announce("http://127.0.0.1:9")
        yield lambda *words, **more: CliRunner().invoke(
            app, list(words), env={**environment, **more}
        )


def test_a_token_is_issued_in_the_store_of_the_demo_that_runs(call, database_url):
    issued = call("token", "issue", "eu-west")
    listed = call("token", "list", "--json", PACEWATCH_DATABASE_URL=database_url)

    assert issued.exit_code == 0, issued.output
    assert [token["region"] for token in json.loads(listed.output)] == ["eu-west"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("backtest", "--since", "1d"), 0),
        (("calibrate", "--judging"), 1),  # nothing has been stored yet
        (("doctor",), 1),  # no central worker has run
        (("migrate",), 0),
        (("remeasure",), 0),
    ],
)
def test_commands_read_the_store_of_the_demo_that_runs(call, words, code):
    done = call(*words, "--json")

    assert done.exit_code == code, done.output
    assert isinstance(json.loads(done.output), dict)


def test_the_channel_of_the_demo_that_runs_can_be_tested(call, tmp_path):
    with receiving() as well:
        url = f"json://127.0.0.1:{well.port}"
        tested = call("notify", "test", DEMO_URL=url)
        (tmp_path / "pacewatch.toml").write_text('[notify.ops]\nurl_env = "OPS_URL"\n')
        own = call("notify", "test", OPS_URL=url)

    assert tested.output == "demo (JSON): taken\n"
    assert own.output == "ops (JSON): taken\n"
    assert well.titles == [
        "SIMULATED Pacewatch: a test of channel demo",
        "Pacewatch: a test of channel ops",
    ]


def test_tokens_are_listed_in_a_table(call):
    for region, scope in (("eu-west", "region"), ("", "admin")):
        call("token", "issue", region, "--scope", scope)
    call("token", "revoke", "eu-west")

    heading, _, *rows = call("token", "list").output.splitlines()

    assert heading.split() == ["ID", "Region", "Scope", "Issued", "State"]
    assert [row.split()[1:3] for row in rows] == [["eu-west", "region"], ["none", "admin"]]
    assert [row.split()[5] for row in rows] == ["revoked", "valid"]
