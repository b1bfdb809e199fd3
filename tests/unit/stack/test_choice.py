"""What `up` runs: the real endpoints that it has the means for, or the demo."""

import pytest
from support.files import with_file

from pacewatch.stack.choice import choose
from pacewatch.words.errors import SettingsError

OWN = """
[[endpoint]]
base_url = "http://127.0.0.1:9911/v1"
model = "smollm2"
"""

TOLD = OWN + '[notify.ops]\nurl_env = "PACEWATCH_OPS_URL"\n'


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder without a pacewatch.toml, where `up` is called."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_given_is_the_demo_and_it_says_why(home):
    choice = choose({}, demo=False, region=None)

    assert choice.fleet is None
    assert choice.regions == ("eu-west", "us-east")
    assert "no provider key in the environment" in choice.notes[0]


def test_the_demo_takes_no_key_and_no_file(home):
    environment = {"GROQ_API_KEY": "k", **with_file(home, "this is no TOML")}

    choice = choose(environment, demo=True, region=None)

    assert (choice.fleet, choice.keys, choice.config) == (None, {}, None)


def test_the_demo_tells_at_the_address_of_a_variable_and_of_no_file(home):
    environment = {"DEMO_URL": "json://127.0.0.1:1", **with_file(home, TOLD)}

    choice = choose(environment, demo=True, region=None, notify="DEMO_URL")

    assert (choice.notify, choice.addresses) == ("DEMO_URL", {"DEMO_URL": "json://127.0.0.1:1"})
    assert choose(environment, demo=True, region=None).addresses == {}


@pytest.mark.parametrize(
    ("notify", "demo", "said"),
    [
        ("DEMO_URL", True, "--notify: DEMO_URL is not set"),
        ("json://hunter2", True, "--notify: is no name of a variable"),
        ("DEMO_URL", False, "--notify: is of the demo alone"),
    ],
)
def test_a_channel_of_the_demo_that_cannot_be_is_refused(home, notify, demo, said):
    with pytest.raises(SettingsError, match=said) as refusal:
        choose(with_file(home, OWN), demo=demo, region=None, notify=notify)

    assert "hunter2" not in str(refusal.value)


def test_the_addresses_of_the_files_channels_are_carried_and_no_other_variable(home):
    environment = {"PACEWATCH_OPS_URL_FILE": "ops-url", **with_file(home, TOLD), "OTHER": "x"}

    choice = choose(environment, demo=False, region=None)

    assert choice.addresses == {"PACEWATCH_OPS_URL_FILE": str(home / "ops-url")}


def test_an_endpoint_of_ones_own_is_a_real_fleet(home):
    choice = choose(with_file(home, OWN), demo=False, region=None)

    assert choice.fleet is not None
    assert [endpoint.own for endpoint in choice.fleet.endpoints] == [True]
    assert choice.config == home / "pacewatch.toml"


def test_of_several_regions_the_first_is_here_and_the_others_are_named(home):
    text = OWN + "[regions.fra]\n[regions.iad]\n"

    choice = choose(with_file(home, text), demo=False, region=None)

    assert choice.regions == ("fra",)
    assert choice.notes[0].startswith("This machine stands in fra; nobody probes from iad here")


def test_a_region_can_be_chosen_by_name(home):
    text = OWN + "[regions.fra]\n[regions.iad]\n"

    assert choose(with_file(home, text), demo=False, region="iad").regions == ("iad",)


def test_a_region_that_the_file_does_not_name_is_refused(home):
    with pytest.raises(SettingsError, match=r'^region "fra": the file names none such .*local\)$'):
        choose(with_file(home, OWN), demo=False, region="fra")


def test_a_file_with_a_simulator_is_refused(home):
    text = '[simulator]\neu-west = "http://127.0.0.1:41001"\n'

    with pytest.raises(SettingsError, match=r"\[simulator\] is what the demo writes for itself"):
        choose(with_file(home, text), demo=False, region=None)
