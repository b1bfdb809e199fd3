from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from pacewatch.words.slot import (
    Load,
    Purpose,
    from_rfc3339,
    require_utc,
    run_id,
    slot_key,
    to_rfc3339,
)

NOON = datetime(2026, 3, 8, 12, 0, 5, tzinfo=UTC)


def _id(**changed):
    parts = {
        "purpose": Purpose.SCHEDULED,
        "endpoint": "groq/gpt-oss-120b",
        "region": "eu-west",
        "workload": "standard",
        "load": Load.SINGLE,
        "at": slot_key(NOON),
    }
    return run_id(**(parts | changed))


def test_the_run_id_is_derived_from_its_parts():
    """The expected id was computed apart, with uuidgen's SHA-1 form over the joined parts."""
    assert UUID("42dbfb65-2be2-5a25-8f07-c19bd1d3aef1") == _id()


@pytest.mark.parametrize(
    "changed",
    [
        {"purpose": Purpose.FIRST},
        {"endpoint": "groq/gpt-oss-20b"},
        {"region": "us-east"},
        {"workload": "short"},
        {"load": Load.PARALLEL},
        {"at": ""},
        {"ordinal": 1},
    ],
)
def test_every_part_changes_the_run_id(changed):
    assert _id() != _id(**changed)


def test_the_slot_key_is_the_moment_in_utc_to_the_second():
    moment = datetime(2026, 3, 8, 7, 0, 5, 250_000, tzinfo=timezone(timedelta(hours=-5)))

    assert slot_key(moment) == "2026-03-08T12:00:05Z"
    assert slot_key(NOON) == slot_key(moment)


def test_moments_are_written_with_z_and_read_back():
    moment = NOON + timedelta(microseconds=1200)

    assert to_rfc3339(moment) == "2026-03-08T12:00:05.001200Z"
    assert moment == from_rfc3339(to_rfc3339(moment))
    assert to_rfc3339(NOON) == "2026-03-08T12:00:05Z"


def test_a_moment_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="has no zone"):
        require_utc(NOON.replace(tzinfo=None))
    with pytest.raises(ValueError, match="has no zone"):
        from_rfc3339("2026-03-08T12:00:05")
