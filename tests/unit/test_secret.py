import os

import pytest

from pacewatch.secret import read_secret
from pacewatch.words.errors import SettingsError


def test_a_secret_stands_in_its_variable_or_in_the_file_that_is_named(tmp_path):
    file = tmp_path / "token"
    file.write_text("from-file\n")

    assert read_secret("X", {}) is None
    assert read_secret("X", {"X": " direct "}) == "direct"
    assert read_secret("X", {"X_FILE": str(file)}) == "from-file"


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_file_that_holds_no_secret_is_told_of(tmp_path, content):
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(SettingsError, match=r"X_FILE: .*token (cannot be read|is empty)"):
        read_secret("X", {"X_FILE": str(file)})


def test_a_secret_told_twice_is_refused_without_repeating_it():
    with pytest.raises(SettingsError) as refused:
        read_secret("X", {"X": "hunter2", "X_FILE": "/x"})

    assert str(refused.value) == "X and X_FILE are both set; one of them is enough"


def test_a_pipe_a_device_and_an_endless_file_are_refused_at_once(tmp_path):
    pipe, long = tmp_path / "pipe", tmp_path / "long"
    os.mkfifo(pipe)
    long.write_text("k" * 70_000)

    for path, why in (
        (pipe, "it is no plain file"),
        ("/dev/zero", "it is no plain file"),
        (tmp_path, "Is a directory"),
        (long, "too long (allowed: 65536 bytes)"),
    ):
        with pytest.raises(SettingsError) as refused:
            read_secret("X", {"X_FILE": str(path)})
        assert str(refused.value) == f"X_FILE: {path} cannot be read: {why}"
