"""Medians over regions as Postgres reckons them, against the plain way."""

from datetime import timedelta
from statistics import median
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.centre import migrated_pool
from support.pooled import pooled_median
from support.records import NOON
from support.servers import fresh_database

from aggregator.partitions import make_days
from aggregator.pooled import SYSTEM, read_pooled
from pacewatch.words.flag import Figure

WINDOW = timedelta(hours=72)
VALUES = st.lists(
    st.one_of(st.integers(1, 9).map(float), st.floats(0.01, 5000)), min_size=0, max_size=30
)
REGIONS = st.lists(VALUES, min_size=2, max_size=5)


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, migrated_pool(url) as pool:
        with pool.connection() as connection:
            connection.autocommit = True
            make_days(connection, [(NOON - timedelta(days=day)).date() for day in range(5)])
        yield pool


def medians(pool, *pools, **columns):
    """The medians of pools, each a list of the values of its regions' runs."""
    with pool.connection() as connection:
        connection.execute("truncate run")
        asked, series = [], 0
        for regions in pools:
            asked.append([])
            for values in regions:
                series += 1
                asked[-1].append(series)
                add_runs(connection, series, values, **columns)
        found = read_pooled(connection, asked, now=NOON, window=WINDOW)
        connection.rollback()
    return found


def add_runs(connection, series, values, age=timedelta(hours=1), rolls=True, system=None, many=1):
    rows = [
        (
            *(uuid4(), NOON - age - timedelta(seconds=n), uuid4(), series, rolls, NOON, NOON),
            *(value, system, many),
        )
        for n, value in enumerate(values)
    ]
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into run (run_id, slot_at, execution, series_id, rolls, started_at,"
            " received_at, output_tokens_per_s, system_tokens_per_s, requests, purpose,"
            " endpoint_hash, worker, worker_version, beside, flags, good, outcome, definition)"
            " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'scheduled', '', '', '', 0, '{}', 1,"
            " 'ok', 1)",
            rows,
        )


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(REGIONS, min_size=1, max_size=3))
def test_the_medians_of_any_samples_are_those_of_the_plain_way(pool, pools):
    found = medians(pool, *pools)

    for regions, one in zip(pools, found, strict=True):
        expected = pooled_median(dict(enumerate(regions)))
        if expected is None:
            assert one == {}
            continue
        speed = one[Figure.SPEED]
        assert speed.runs == expected.runs
        assert speed.value == pytest.approx(expected.value)
        assert (speed.low is None) == (expected.low is None)
        if expected.low is not None:
            assert (speed.low, speed.high) == pytest.approx((expected.low, expected.high))


def test_a_worked_example(pool):
    # in order: 50 weighs 1/2, then 100 and 101 1/4 each: there half of the whole 2 is reached
    (found,) = medians(pool, [[100.0, 101.0, 102.0, 103.0], [110.0, 50.0]])

    assert (found[Figure.SPEED].value, found[Figure.SPEED].runs) == (101.5, 6)
    assert set(found) == {Figure.SPEED}


def test_the_plain_pool_moves_when_near_regions_fall_away_and_this_one_does_not(pool):
    near, far = [100.0 + i for i in range(30)], [200.0 + i for i in range(30)]

    before, after = medians(pool, [near, near, far], [near[::3], near[::3], far])

    assert before[Figure.SPEED].value == pytest.approx(after[Figure.SPEED].value, rel=0.02)
    assert median(near + near + far) != pytest.approx(median(near[::3] + near[::3] + far), rel=0.02)


@pytest.mark.parametrize(
    ("columns", "counts"),
    [
        ({"age": WINDOW - timedelta(seconds=9)}, True),
        ({"age": WINDOW}, False),
        ({"rolls": False}, False),
    ],
)
def test_only_runs_of_the_window_that_roll_are_taken(pool, columns, counts):
    (found,) = medians(pool, [[1.0] * 6, [2.0] * 6], **columns)

    assert bool(found) == counts


def test_what_all_requests_get_is_pooled_of_runs_that_have_several_and_a_speed(pool):
    (found,) = medians(pool, [[1.0, 2.0, None], [3.0]], system=900.0, many=10)
    (alone,) = medians(pool, [[1.0, 2.0], [3.0]], system=900.0)

    assert (found[SYSTEM].value, found[SYSTEM].runs) == (900.0, 3)
    assert SYSTEM not in alone
