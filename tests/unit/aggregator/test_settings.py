import pytest

from aggregator.settings import read_broker_url, read_database_url, read_settings
from pacewatch.words.errors import SettingsError


@pytest.mark.parametrize("url", ["postgresql://u:hunter2@[/name", "garbage hunter2", "hunter2"])
def test_an_address_of_postgres_that_is_none_is_refused_without_its_password(url):
    with pytest.raises(SettingsError, match="is no address of Postgres") as refusal:
        read_database_url({"PACEWATCH_DATABASE_URL": url})

    assert "hunter2" not in str(refusal.value)


def test_all_faults_are_told_at_once():
    with pytest.raises(SettingsError) as refusal:
        read_settings({"PACEWATCH_LISTEN": "nowhere"})

    assert len(refusal.value.faults) == 3


@pytest.mark.parametrize("url", ["redis://[", "redis://127.0.0.1:99999/0", "redis://:hunter2@[/0"])
def test_an_address_of_the_broker_that_is_none_is_refused_without_its_password(url):
    with pytest.raises(SettingsError, match="PACEWATCH_BROKER_URL: not an address") as refusal:
        read_broker_url({"PACEWATCH_BROKER_URL": url})

    assert "hunter2" not in str(refusal.value)
