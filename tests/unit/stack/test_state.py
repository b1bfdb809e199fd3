"""The state folder: where it is, its kind, its layout, its holder."""

import json
import stat
from pathlib import Path

import pytest

from pacewatch.stack.state import (
    hold,
    is_fit_for_socket,
    make_folder,
    running_board,
    state_folder,
    store_environment,
    write_private,
)
from pacewatch.words.errors import SettingsError, StackError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("environment", "simulated", "uid", "expected"),
    [
        ({"HOME": "/home/ann"}, False, 1000, "/home/ann/.local/state/pacewatch"),
        ({"HOME": "/home/ann"}, True, 1000, "/home/ann/.local/state/pacewatch-demo"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/x"}, True, 1000, "/x/pacewatch-demo"),
        ({"HOME": "/root", "XDG_STATE_HOME": "/x"}, False, 0, "/var/lib/pacewatch"),
        ({"HOME": "/root"}, True, 0, "/var/lib/pacewatch-demo"),
        ({"HOME": "/root", "PACEWATCH_STATE": "/srv/pw"}, True, 0, "/srv/pw"),
    ],
)
def test_the_folder_is_the_users_own_and_the_demo_has_another(
    environment, simulated, uid, expected
):
    assert Path(expected) == state_folder(environment, simulated=simulated, uid=uid)


def test_without_a_home_the_folder_must_be_named():
    with pytest.raises(SettingsError, match="PACEWATCH_STATE must name the state folder"):
        state_folder({}, simulated=False, uid=1000)


def test_the_first_use_stamps_the_folder(tmp_path):
    with hold(tmp_path / "state", simulated=True):
        pass

    stamp = json.loads((tmp_path / "state" / "state.json").read_text())

    assert stamp == {"kind": "simulated", "layout": 1}


@pytest.mark.parametrize("simulated", [True, False])
def test_a_folder_never_changes_its_kind(tmp_path, simulated):
    with hold(tmp_path, simulated=simulated):
        pass

    with (
        pytest.raises(SettingsError, match=r"never meet them .*PACEWATCH_STATE names it\)$"),
        hold(tmp_path, simulated=not simulated),
    ):
        pass


def test_another_layout_is_refused(tmp_path):
    (tmp_path / "state.json").write_text('{"kind": "real", "layout": 7}')

    with (
        pytest.raises(SettingsError, match=r"of layout 7, this version's is 1"),
        hold(tmp_path, simulated=False),
    ):
        pass


def test_a_folder_of_other_things_is_refused_and_left_as_it_is(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    tmp_path.chmod(0o750)

    with (
        pytest.raises(SettingsError, match=r"holds thesis\.tex and no stamp"),
        hold(tmp_path, simulated=False),
    ):
        pass

    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]
    assert mode(tmp_path) == 0o750


def test_a_second_holder_is_told_where_the_board_is(tmp_path):
    with hold(tmp_path, simulated=True) as state:
        state.announce("http://127.0.0.1:8420")

        with (
            pytest.raises(
                StackError,
                match=r"another pacewatch up \(process \d+\) runs on this state folder; "
                r"its board is at http://127\.0\.0\.1:8420$",
            ),
            hold(tmp_path, simulated=True),
        ):
            pass


def test_a_folder_is_free_again_when_its_holder_is_done(tmp_path):
    for _ in range(2):
        with hold(tmp_path, simulated=True):
            pass


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()

    with (
        pytest.raises(StackError, match="Not a directory"),
        hold(tmp_path / "file" / "state", simulated=True),
    ):
        pass


def test_an_accepted_ceiling_is_remembered(tmp_path):
    with hold(tmp_path, simulated=False) as state:
        before = state.accepted_usd_per_day()
        state.accept_usd_per_day(5.0)
        after = state.accepted_usd_per_day()

    assert (before, after) == (None, 5.0)


def test_only_its_owner_may_read_a_private_file(tmp_path):
    file = tmp_path / "password"
    file.touch(mode=0o644)

    write_private(file, "x")

    assert (mode(file), file.read_text()) == (0o600, "x")


def test_missing_parents_may_be_entered_by_all_whatever_the_umask(tmp_path, monkeypatch):
    made = tmp_path / "a" / "b" / "c"

    make_folder(made, 0o700)

    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b"), mode(made)) == (0o755, 0o755, 0o700)


@pytest.mark.parametrize(
    ("path", "fit"),
    [
        ("/var/lib/pacewatch/valkey/valkey.sock", True),
        ("/home/ann b/valkey.sock", False),
        ("/srv/a,b/valkey.sock", False),
        ("/srv/" + "x" * 100, False),
    ],
)
def test_a_socket_has_a_short_and_plain_path(path, fit):
    assert fit is is_fit_for_socket(Path(path))


@pytest.mark.parametrize("held", ["", "garbage", "[]", '{"layout":'])
def test_a_damaged_stamp_is_told_as_one(tmp_path, held):
    (tmp_path / "state.json").write_text(held)

    with (
        pytest.raises(SettingsError, match=r"state\.json: is damaged, so the folder's kind"),
        hold(tmp_path, simulated=True),
    ):
        pass


def test_the_board_of_a_running_up_is_found_and_none_of_one_that_is_gone(tmp_path):
    environment = {"HOME": str(tmp_path)}
    demo, real = (state_folder(environment, simulated=s, uid=1000) for s in (True, False))

    assert running_board({}, uid=1000) is None
    assert running_board(environment, uid=1000) is None
    with hold(demo, simulated=True) as state:
        assert running_board(environment, uid=1000) is None
        state.announce("http://127.0.0.1:8421")
        assert running_board(environment, uid=1000) == "http://127.0.0.1:8421"
        with hold(real, simulated=False) as other:
            other.announce("http://127.0.0.1:8422")
            assert running_board(environment, uid=1000) == "http://127.0.0.1:8422"
            (real / "lock").write_text('{"pid": 999999999, "board": "http://127.0.0.1:8422"}')
            assert running_board(environment, uid=1000) == "http://127.0.0.1:8421"
    assert running_board(environment, uid=1000) is None


def test_the_store_of_a_running_up_is_taken_where_no_other_is_named(tmp_path):
    home = {"HOME": str(tmp_path)}
    named = {**home, "PACEWATCH_DATABASE_URL": "postgresql://elsewhere"}
    demo = state_folder(home, simulated=True, uid=1000)

    assert store_environment(home, uid=1000) == home
    with hold(demo, simulated=True) as state:
        state.announce("http://127.0.0.1:8421")
        found = {**home, "PACEWATCH_DATABASE_URL_FILE": str(demo / "database-url")}
        assert store_environment(home, uid=1000) == found
        (demo / "demo.toml").touch()
        found["PACEWATCH_CONFIG"] = str(demo / "demo.toml")
        assert store_environment(home, uid=1000) == found
        assert store_environment(named, uid=1000) == named
