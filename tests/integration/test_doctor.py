import json
import sys
from datetime import UTC, datetime, timedelta

import pytest
from support.centre import make_fleet, migrated_pool
from support.records import make_slot, plan, push, record_of
from typer.testing import CliRunner

from aggregator.upkeep import keep_up
from pacewatch.cli.app import app
from pacewatch.cli.doctor_screen import size_text
from pacewatch.words.fleet import Schedule

FLEET = make_fleet(simulated=False, schedule=Schedule())


@pytest.fixture
def pool(database_url):
    with migrated_pool(database_url, simulated=False) as pool:
        yield pool


@pytest.fixture
def kept(pool):
    """A store with seven runs, kept up a moment ago."""
    now = datetime.now(UTC).replace(microsecond=0)
    slots = [make_slot(now - timedelta(hours=n)) for n in range(7)]
    with pool.connection() as connection:
        plan(connection, *slots)
    push(pool, *(record_of(slot, simulated=False) for slot in slots), now=now)
    keep_up(pool, FLEET, now)
    return pool


def run(url, *words, config=None):
    named = {} if config is None else {"PACEWATCH_CONFIG": str(config)}
    return CliRunner().invoke(app, ("doctor", *words), env={"PACEWATCH_DATABASE_URL": url, **named})


def test_a_store_that_is_well_is_told_with_its_sizes(kept, database_url):
    screen, told = run(database_url), run(database_url, "--json")

    assert (screen.exit_code, told.exit_code) == (0, 0)
    assert "All is well." in screen.output
    document = json.loads(told.output)
    tables = {table["name"]: table for table in document["tables"]}
    assert {"run", "timing", "timeline", "slot", "day_stat", "series_stat"} <= set(tables)
    assert sum(table["bytes"] for table in tables.values()) <= document["bytes"]
    assert (document["problems"], document["recounted"], document["series"]) == ([], None, 1)


def test_a_year_of_the_files_plan_and_settings_is_told_beside_the_sizes_of_now(
    kept, database_url, tmp_path
):
    file, years = tmp_path / "pacewatch.toml", []
    for days in (14, 7):
        file.write_text(
            '[[endpoint]]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
            f"[store]\ntimelines_days = {days}\n"
        )
        told = json.loads(run(database_url, "--json", config=file).output)
        years.append({table["name"]: table["in_a_year_bytes"] for table in told["tables"]})
    screen = run(database_url, config=file).output

    longer, shorter = years
    assert longer["timeline"] == pytest.approx(2 * shorter["timeline"], rel=1e-6)
    assert longer["timing"] == shorter["timing"] > 0
    catalogs = told["bytes"] - sum(table["bytes"] for table in told["tables"])
    assert told["in_a_year_bytes"] == catalogs + sum(shorter.values())
    assert told["catalogs_bytes"] == catalogs > 1_000_000
    (*_, own, whole) = screen.splitlines()
    assert "In a year" in screen
    sizes = [size_text(told[name]) for name in ("bytes", "in_a_year_bytes")]
    assert " ".join(whole.split()) == " ".join(("database", *sizes))
    assert own.split()[-4:] == [*size_text(catalogs).split()] * 2


def test_a_statistic_that_is_wrong_is_found_and_mended(kept, database_url):
    with kept.connection() as connection:
        right = connection.execute("select * from series_stat").fetchall()
        connection.execute("update series_stat set runs = 8, ttft_high = 99")

    first, second = (run(database_url, "--recount", "--json") for _ in range(2))

    assert (first.exit_code, json.loads(first.output)["wrong"]) == (1, 1)
    assert json.loads(first.output)["problems"] == [
        "statistics: 1 of 1 series had wrong ones, which are mended now"
    ]
    assert (second.exit_code, json.loads(second.output)["wrong"]) == (0, 0)
    with kept.connection() as connection:
        assert right == connection.execute("select * from series_stat").fetchall()


def test_a_window_that_merely_aged_is_not_called_wrong(kept, database_url):
    with kept.connection() as connection:
        connection.execute("update series_stat set next_expiry = now() - interval '1 hour'")

    assert run(database_url, "--recount").exit_code == 0


def test_a_store_that_nobody_keeps_up_is_a_problem(pool, database_url):
    found = run(database_url)

    assert found.exit_code == 1
    assert "no central worker has kept the store up yet" in found.output


def test_a_strangers_package_of_our_name_is_a_problem(kept, database_url, tmp_path, monkeypatch):
    package = tmp_path / "dashboards"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "dashboards"]:
        monkeypatch.delitem(sys.modules, name)

    found = run(database_url)

    assert found.exit_code == 1
    assert f"import name dashboards: leads to {package}" in found.output.replace("\n", "")
