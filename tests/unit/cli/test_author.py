import os
import pwd

import pytest

from pacewatch.cli.author import author


@pytest.fixture
def nobody(monkeypatch):
    """An environment that names nobody."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)


def test_who_says_it_is_who_is_named_else_the_login(nobody, monkeypatch):
    by_id = author("")
    monkeypatch.setenv("LOGNAME", "ada\n" + "b" * 200)

    assert by_id == {"by": pwd.getpwuid(os.getuid()).pw_name}
    assert author("") == {"by": ("ada" + "b" * 200)[:100]}
    assert author("grace") == {"by": "grace"}


def test_a_user_without_a_name_is_nobody(nobody, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)

    assert author("") == {}
