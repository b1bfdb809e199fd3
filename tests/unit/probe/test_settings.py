from pathlib import Path

import pytest

from pacewatch.words.errors import SettingsError
from probe.settings import read_settings

GOOD = {
    "PACEWATCH_REGION": "eu-west",
    "PACEWATCH_BROKER_URL": "redis+socket:///run/valkey.sock",
    "PACEWATCH_AGGREGATOR_URL": "https://pacewatch.example/",
    "PACEWATCH_REGION_TOKEN": "secret-of-the-region",
}
STATE = Path("/state")


def test_a_worker_has_a_folder_of_its_own_in_the_state_folder():
    settings = read_settings(GOOD, state=STATE)

    assert Path("/state/worker-eu-west") == settings.folder
    assert settings.aggregator_url == "https://pacewatch.example"


def test_a_region_given_goes_before_the_environments():
    assert read_settings(GOOD, state=STATE, region="us-east").region == "us-east"


def test_the_token_may_come_from_a_file(tmp_path):
    (tmp_path / "token").write_text("from-a-file\n")
    environment = {k: v for k, v in GOOD.items() if k != "PACEWATCH_REGION_TOKEN"}
    environment["PACEWATCH_REGION_TOKEN_FILE"] = str(tmp_path / "token")

    assert read_settings(environment, state=STATE).token == "from-a-file"


def test_the_brokers_address_may_come_from_a_file_since_it_may_hold_a_password(tmp_path):
    (tmp_path / "broker").write_text("rediss://:pw@broker.example:6379/0\n")
    environment = {k: v for k, v in GOOD.items() if k != "PACEWATCH_BROKER_URL"}
    environment["PACEWATCH_BROKER_URL_FILE"] = str(tmp_path / "broker")

    settings = read_settings(environment, state=STATE)

    assert settings.broker_url == "rediss://:pw@broker.example:6379/0"


def test_settings_show_no_secret():
    shown = repr(read_settings(GOOD | {"PACEWATCH_BROKER_URL": "rediss://:pw@b"}, state=STATE))

    assert "secret" not in shown
    assert "pw" not in shown


def test_all_faults_are_told_at_once():
    with pytest.raises(SettingsError) as refused:
        read_settings({"PACEWATCH_AGGREGATOR_URL": "pacewatch.example"}, state=STATE)

    assert refused.value.faults == (
        "PACEWATCH_REGION is not set; it names the region the worker stands in",
        "PACEWATCH_BROKER_URL is not set; it names the Redis or Valkey of the fleet",
        "PACEWATCH_AGGREGATOR_URL: not an address (form: scheme://host:port)",
        "PACEWATCH_REGION_TOKEN is not set; `pacewatch token issue REGION` makes one at the centre",
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"PACEWATCH_REGION": "../etc"}, 'PACEWATCH_REGION: "../etc" is no region'),
        ({"PACEWATCH_BROKER_URL": "redis://broker:6379"}, "neither TLS nor loopback"),
        ({"PACEWATCH_BROKER_URL": "amqp://localhost"}, 'unknown scheme "amqp"'),
        ({"PACEWATCH_AGGREGATOR_URL": "http://10.0.0.1:8420"}, "neither TLS nor loopback"),
        ({"PACEWATCH_REGION_TOKEN": "two words"}, "not a token"),
        ({"PACEWATCH_REGION_TOKEN_FILE": "/nowhere"}, "both set"),
    ],
)
def test_what_cannot_be_is_refused_in_words(changed, said):
    with pytest.raises(SettingsError, match=r"PACEWATCH_") as refused:
        read_settings(GOOD | changed, state=STATE)

    assert said in str(refused.value)
    assert len(refused.value.faults) == 1
