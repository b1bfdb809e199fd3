import threading
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from support.believed import believe
from support.boards import board_fleet, filled_pool
from support.centre import make_fleet, migrated_pool
from support.records import NOON, make_slot, plan, push, record_of
from support.servers import fresh_database

from aggregator.api.app import create_app
from aggregator.metrics import make_page, read_all
from aggregator.rows import one_moment
from pacewatch.words.channel import Channel
from pacewatch.words.fleet import Schedule
from pacewatch.words.metrics import METRICS
from pacewatch.words.retention import Retention

DAYS_3 = timedelta(days=3)


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        with pool.connection() as connection:
            believe(connection, NOON)
        yield pool


def scrape(pool, moment=NOON, fleet=None, **headers):
    app = create_app(pool, fleet or board_fleet(), clock=lambda: moment)
    answer = TestClient(app).get("/metrics", headers=headers)
    assert answer.status_code == 200
    return answer


def samples(pool, moment=NOON, fleet=None):
    """Return {(name, labels): value} of a scrape."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(scrape(pool, moment, fleet).text)
        for sample in family.samples
    }


def test_every_metric_of_the_table_comes_out_of_a_real_store_with_exactly_its_labels(pool):
    with pool.connection() as connection:
        connection.execute("update endpoint set price_input_usd = 0.15, price_output_usd = 0.6")
    channels = (Channel(name="ops", url_env="OPS_URL"),)
    fleet = replace(board_fleet(), retention=Retention(size_gb=0.5), channels=channels)
    found = samples(pool, fleet=fleet)

    assert set(METRICS) == {name for name, _ in found}
    for name, labels in found:
        assert set(METRICS[name].labels) == {label for label, _ in labels}


def test_what_was_pushed_is_what_is_scraped(pool):
    found = samples(pool)
    series = {
        "endpoint": "cerebras/gpt-oss-120b",
        "provider": "cerebras",
        "model": "gpt-oss-120b",
        "region": "eu-west",
        "workload": "short",
        "load": "single",
        "simulated": "true",
    }

    def value(name, **labels):
        return found[name, tuple(sorted((series | labels).items()))]

    assert value("pacewatch_window_samples") == 20
    assert value("pacewatch_requests_tried_total") == 20
    assert (
        pytest.approx(value("pacewatch_output_tokens_per_second", quantile="0.5"), rel=0.05) == 1753
    )
    at = NOON - timedelta(seconds=30)
    assert at.timestamp() == value("pacewatch_latest_run_timestamp_seconds")


def judged_at(pool, endpoint="groq/gpt-oss-120b", moment=NOON):
    found = samples(pool, moment)
    return next(
        value
        for (name, labels), value in found.items()
        if name == "pacewatch_judged_timestamp_seconds" and ("endpoint", endpoint) in labels
    )


def test_what_is_believed_stays_while_nobody_judges_and_its_age_is_told(pool):
    def believed(moment):
        return {k: v for k, v in samples(pool, moment).items() if k[0].endswith("_verdict")}

    with pool.connection() as connection:
        connection.execute("delete from unjudged")
    later = NOON + timedelta(hours=1)

    assert believed(NOON)
    assert believed(NOON) == believed(later)
    assert (NOON - timedelta(seconds=2)).timestamp() == judged_at(pool, moment=later)


def test_a_run_that_waits_for_the_judge_ages_its_endpoint_alone(pool):
    since = NOON - timedelta(minutes=9)
    with pool.connection() as connection:
        connection.execute("delete from unjudged")
        for number, waited in ((1, since), (2, NOON)):
            row = ("groq/gpt-oss-120b", UUID(int=number), waited, waited)
            connection.execute("insert into unjudged values (%s, %s, %s, %s)", row)

    assert since.timestamp() == judged_at(pool)
    assert (NOON - timedelta(seconds=2)).timestamp() == judged_at(pool, "cerebras/gpt-oss-120b")
    with pool.connection() as connection:
        connection.execute("delete from unjudged")


def test_only_a_confirmed_incident_that_has_not_closed_is_told(pool):
    told = [dict(key[1]) for key in samples(pool) if key[0] == "pacewatch_incident_open"]

    assert [
        (one["provider"], one["class"], one["importance"], one["simulated"]) for one in told
    ] == [("groq", "provider", "notify", "true")]


def test_the_format_and_the_compression_are_the_scraper_s_choice(pool):
    plain = scrape(pool, **{"accept-encoding": "identity"})
    strict = scrape(pool, accept="application/openmetrics-text;version=1.0.0")

    assert plain.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "content-encoding" not in plain.headers
    assert strict.headers["content-type"].startswith("application/openmetrics-text")
    assert strict.headers["content-encoding"] == "gzip"
    assert strict.text.endswith("# EOF\n")


def page_of(connection):
    return list(make_page(read_all(connection), now=NOON, window=DAYS_3))


def test_all_tables_are_read_at_one_moment(pool):
    with one_moment(pool) as connection:
        before = page_of(connection)
        with pool.connection() as other:
            other.execute("update place_counter set recovered = recovered + 7")
            other.execute("insert into missed_counter values ('a/b', 'eu-west', true, 'lost', 1)")
        after = page_of(connection)

    assert before == after


def test_a_scrape_writes_nothing(pool):
    with (
        pytest.raises(Exception, match="read-only transaction"),
        one_moment(pool) as connection,
    ):
        connection.execute("delete from place_counter")


HOURS_72 = make_fleet(schedule=Schedule())


def run_slot(number):
    return make_slot(NOON + timedelta(hours=2.4 * number))


def counters(found):
    return {key: value for key, value in found.items() if METRICS[key[0]].kind == "counter"}


def test_no_counter_falls_from_one_aggregator_to_the_next_while_runs_are_pushed(database_url):
    """Two behind one address, each with a pool of its own; then one that was started anew."""
    slots = [run_slot(number) for number in range(12)]
    at = slots[-1].slot_at
    with migrated_pool(database_url) as first, migrated_pool(database_url) as second:
        with first.connection() as connection:
            plan(connection, *slots)
        pushes = [
            threading.Thread(
                target=lambda mine=slots[share::2], pool=pool: [
                    push(pool, record_of(slot, name=name, cost_usd=0.001), now=at)
                    for slot in mine
                    for name in ("first", "second")
                ]
            )
            for share, pool in enumerate((first, second))
        ]
        scraped = [samples(first, at, HOURS_72)]
        for thread in pushes:
            thread.start()
        while any(thread.is_alive() for thread in pushes):
            scraped += [samples(pool, at, HOURS_72) for pool in (first, second)]
        for thread in pushes:
            thread.join()
    with migrated_pool(database_url) as replaced:
        scraped.append(samples(replaced, at, HOURS_72))

    for earlier, later in pairwise(scraped):
        for key, value in counters(earlier).items():
            assert later[key] >= value
    last = {name: value for (name, _), value in scraped[-1].items()}
    assert last["pacewatch_requests_tried_total"] == len(slots)
    assert last["pacewatch_runs_duplicate_total"] == len(slots)
    assert last["pacewatch_probe_cost_usd_total"] == pytest.approx(0.002 * len(slots))
