"""About one small bad file a rule, with the exact message."""

from pathlib import Path

import pytest
from support.golden import FOLDER

from pacewatch.config import load_fleet
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
