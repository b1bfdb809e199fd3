"""What `up` runs with keys of the catalog's providers, whose prices are looked up."""

import pytest
from support.files import with_file

from pacewatch.stack.choice import choose


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """An environment in which the day's prices are looked up once for all tests."""
    return {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder without a pacewatch.toml, where `up` is called."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_key_in_the_environment_is_a_real_fleet_of_its_provider(home, priced):
    choice = choose({"GROQ_API_KEY": "k", **priced}, demo=False, region=None)

    assert choice.fleet is not None and not choice.fleet.simulated
    assert {endpoint.provider for endpoint in choice.fleet.endpoints} == {"groq"}
    assert choice.regions == ("local",)


def test_a_file_whose_picks_have_no_key_is_the_demo_and_names_the_variables(home, priced):
    environment = {**priced, **with_file(home, 'endpoints = ["groq/*"]')}

    choice = choose(environment, demo=False, region=None)

    assert choice.fleet is None
    assert "no key of theirs is set (looked for: GROQ_API_KEY" in choice.notes[0]


def test_only_keys_of_probed_endpoints_are_taken_and_key_files_by_their_whole_path(home, priced):
    environment = {
        **priced,
        "GROQ_API_KEY_FILE": "groq.key",
        "CEREBRAS_API_KEY": "c",
        **with_file(home, 'endpoints = ["groq/*"]'),
    }

    choice = choose(environment, demo=False, region=None)

    assert choice.keys == {"GROQ_API_KEY_FILE": str(home / "groq.key")}


def test_a_key_is_not_in_what_a_choice_shows_of_itself(home, priced):
    choice = choose({"GROQ_API_KEY": "gsk-secret", **priced}, demo=False, region=None)

    assert "gsk-secret" not in repr(choice)
