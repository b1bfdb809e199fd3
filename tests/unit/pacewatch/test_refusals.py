"""About one small bad file a rule, with the exact message."""

import re
from pathlib import Path

import pytest
from support.golden import FOLDER

from pacewatch.config import MOST_BYTES, load_fleet
from pacewatch.words.errors import SettingsError

FILES = sorted((FOLDER / "refusals").glob("*.toml"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_bad_file_is_refused_in_words(file, golden):
    with pytest.raises(SettingsError) as refusal:
        load_fleet(file, {})

    said = str(refusal.value)
    golden(f"refusals/{file.stem}.txt", said.replace(f"{FOLDER}/refusals/", "") + "\n")
    assert "hunter2" not in said


def test_every_message_has_its_file():
    messages = {file.stem for file in (FOLDER / "refusals").glob("*.txt")}

    assert messages == {file.stem for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_fault_is_one_sentence_that_names_its_place(file):
    with pytest.raises(SettingsError) as refusal:
        load_fleet(file, {})

    for fault in refusal.value.faults:
        assert fault.startswith(f"{file.name}: ")
        assert "\n" not in fault
        assert len(fault) < 400


def test_a_missing_file_is_refused(tmp_path: Path):
    with pytest.raises(SettingsError, match=r"none\.toml: cannot be read: No such file"):
        load_fleet(tmp_path / "none.toml", {})


def test_a_file_that_is_no_text_is_refused(tmp_path: Path):
    file = tmp_path / "pacewatch.toml"
    file.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match=r"pacewatch\.toml: is no text in UTF-8"):
        load_fleet(file, {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 20_000, "nested too deeply"),
        (".".join(["a"] * 5_000) + " = 1", "nested too deeply"),
        ("[schedule]\nday_s = 1" + "0" * 5_000, "4300 digits"),
        ("#" * (MOST_BYTES + 1), f"is too long (allowed: {MOST_BYTES} bytes)"),
    ],
    ids=["brackets", "keys", "digits", "bytes"],
)
def test_a_file_that_would_break_the_parser_is_refused_in_words(tmp_path: Path, text, said):
    file = tmp_path / "pacewatch.toml"
    file.write_text(text)

    with pytest.raises(SettingsError, match=re.escape(said)) as refusal:
        load_fleet(file, {})

    assert len(str(refusal.value)) < 400


def test_a_file_that_begins_with_a_mark_of_its_encoding_is_read(tmp_path: Path):
    file = tmp_path / "pacewatch.toml"
    file.write_bytes(b"\xef\xbb\xbfworkloads = ['short']\r\n")

    assert load_fleet(file, {}).schedule.workloads == ("short",)


@pytest.mark.parametrize("sign", ["\\u001b[2J", "\\u0000", "\\u202e", "\\n"])
def test_a_name_that_would_move_a_cursor_is_refused_and_not_repeated(tmp_path: Path, sign):
    file = tmp_path / "pacewatch.toml"
    file.write_text(f'[[endpoint]]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m{sign}"\n')

    with pytest.raises(SettingsError, match=r"endpoint\[0\]\.model: holds U\+[0-9A-F]{4} "):
        load_fleet(file, {})
