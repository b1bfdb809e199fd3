import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from pacewatch.catalog import read_catalog
from pacewatch.words.endpoint import Endpoint
from probe.keys import Key, key_of, why_no_key

GROQ: Endpoint = read_catalog().endpoints["groq/gpt-oss-120b"]


def revealed(endpoint: Endpoint, environment: dict[str, str]) -> str | None:
    key = key_of(endpoint, environment)
    return None if key is None else key.reveal()


def test_our_own_variable_goes_before_the_providers() -> None:
    environment = {"GROQ_API_KEY": "theirs", "PACEWATCH_GROQ_API_KEY": "ours"}

    assert revealed(GROQ, environment) == "ours"


def test_the_providers_usual_variable_is_taken() -> None:
    assert revealed(GROQ, {"GROQ_API_KEY": "theirs"}) == "theirs"


def test_a_key_file_is_read_without_its_line_end(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("from-file\n")

    assert revealed(GROQ, {"PACEWATCH_GROQ_API_KEY_FILE": str(file)}) == "from-file"


def test_a_changed_key_file_is_taken_up(tmp_path: Path) -> None:
    file = tmp_path / "key"
    environment = {"GROQ_API_KEY_FILE": str(file)}
    file.write_text("old")
    before = revealed(GROQ, environment)
    file.write_text("new")

    assert (before, revealed(GROQ, environment)) == ("old", "new")


def test_an_empty_variable_is_no_key() -> None:
    assert None is key_of(GROQ, {"GROQ_API_KEY": ""})


def test_another_providers_key_is_never_taken() -> None:
    assert None is key_of(GROQ, {"OPENAI_API_KEY": "other", "PACEWATCH_OPENAI_API_KEY": "other"})


def test_a_key_does_not_show_itself() -> None:
    key = Key("very-secret")

    assert "very-secret" not in f"{key} {key!r} {[key]}"


def test_a_key_cannot_be_pickled() -> None:
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(Key("very-secret"))


def test_an_endpoint_without_a_key_needs_none() -> None:
    assert None is why_no_key(replace(GROQ, key_names=()), {})


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        (
            {},
            "no key is set (looked for: PACEWATCH_GROQ_API_KEY, GROQ_API_KEY, or with _FILE)",
        ),
        (
            {"GROQ_API_KEY_FILE": "/nowhere/key"},
            "GROQ_API_KEY_FILE: /nowhere/key cannot be read: No such file or directory",
        ),
        (
            {"GROQ_API_KEY": "two words"},
            "GROQ_API_KEY: holds a character that no key has (allowed: one word of ASCII)",
        ),
        (
            {"GROQ_API_KEY": "one", "GROQ_API_KEY_FILE": "/nowhere/key"},
            "GROQ_API_KEY and GROQ_API_KEY_FILE are both set; one of them is enough",
        ),
    ],
)
def test_a_missing_key_is_told_in_words(environment: dict[str, str], reason: str) -> None:
    assert (None, reason) == (key_of(GROQ, environment), why_no_key(GROQ, environment))
