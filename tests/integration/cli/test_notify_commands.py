"""`pacewatch notify` and what `check` says of channels, over real sockets."""

import json

import pytest
from support.receiving import receiving
from typer.testing import CliRunner

from pacewatch.cli.app import app
from pacewatch.words.errors import SettingsError

FILE = """
[notify.ops]
url_env = "OPS_URL"

[notify.desk]
url_env = "DESK_URL"
only = "page"
remind_h = 0
"""
SECRET = "hunter2hunter2"
UUID = "7a5e1c1c-2a1f-4e0b-9a3a-0a1b2c3d4e5f"


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(*words, file=FILE, **environment):
        (tmp_path / "pacewatch.toml").write_text(file)
        return CliRunner().invoke(app, list(words), env={"COLUMNS": "120", **environment})

    return run


def test_a_test_says_what_came_back_and_closes_what_it_opened(call):
    with receiving() as ill, receiving() as well:
        ill.status = 403
        urls = {
            "OPS_URL": f"json://me:{SECRET}@127.0.0.1:{ill.port}/{SECRET}",
            "DESK_URL": f"goalert://127.0.0.1:{well.port}/{UUID}",
        }
        done = call("notify", "test", **urls)

    assert done.output.splitlines() == [
        "ops (JSON): not taken: it answered 403",
        "desk (GoAlert): taken, and closed again",
    ]
    assert done.exit_code == 1
    assert ill.titles == ["Pacewatch: a test of channel ops"]
    opened, closed = well.got
    assert opened["dedup"] == closed["dedup"]
    assert ("action" in opened, closed["action"]) == (False, "close")
    assert SECRET not in done.output
    assert UUID not in done.output


def test_the_channels_are_listed_and_checked_without_their_addresses(call, golden):
    urls = {"OPS_URL": f"json://me:{SECRET}@hooks.example/{SECRET}?verify=no"}
    listed = call("notify", "list", **urls)
    both = FILE + "[centre]\nalertmanager = true\n"
    notes = json.loads(call("check", "--json", file=both, **urls).output)["notes"]

    golden("cli/notify-list.txt", listed.output)
    assert [note for note in notes if "channel" in note or "notify" in note] == [
        "channel ops: its address says not to check the service's certificate",
        "channel desk: DESK_URL is not set here; a central worker needs it",
        "[notify] and centre.alertmanager: Alertmanager and the central worker both tell of each "
        "incident (one of them is enough)",
    ]
    assert SECRET not in listed.output + str(notes)


def test_an_address_that_leads_nowhere_is_a_fault_that_does_not_show_it(call):
    file = FILE + '[notify.pair]\nurl_env = "PAIR_URL"\n'
    result = call(
        "check",
        file=file,
        OPS_URL=f"slack://{SECRET}",
        DESK_URL=f"nothing-known://{SECRET}",
        PAIR_URL=f"json://a/{SECRET} json://b",
    )

    assert isinstance(result.exception, SettingsError)
    assert result.exception.faults == (
        "OPS_URL: the address of channel ops: Slack does not know it: a part is missing or wrong",
        "DESK_URL: the address of channel desk: no service has an address of that form",
        "PAIR_URL: the address of channel pair: "
        "it holds several addresses (allowed: one; each is a channel of its own)",
    )
    assert SECRET not in result.output


def test_a_file_without_channels_and_a_channel_that_is_not_there_are_refused(call):
    assert "the file names no channel" in str(call("notify", "test", file="").exception)
    result = call("notify", "test", "--channel", "osp")
    assert str(result.exception) == '--channel: "osp" is not in the file (did you mean "ops"?)'
