"""The demo as a whole: first figures, the death of each part in turn, a clean end.

The simulator's log of requests is the upper bound: what is stored was asked. The workers' journals
are the lower: what was started is told, once.
"""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.receiving import Receiver
from support.servers import short_folder
from support.stack import PATIENCE_S, Up, environment, run_up, running_up, until

from pacewatch.stack.demo import DEMO_REGIONS, PAGING
from pacewatch.words.fleet import DEMO_SCHEDULE
from probe.run import request_id

PARTS = {
    "simulator": ("simulate", "serve"),
    "worker eu-west": ("worker", "eu-west"),
    "worker us-east": ("worker", "us-east"),
    "beat": ("beat",),
    "central": ("central",),
    "aggregator": ("aggregator",),
}
SERVERS = ("valkey", "postgres")
SECRET = "hunter2hunter2"


@pytest.fixture(scope="module")
def demo(receiver: Receiver) -> Iterator[Up]:
    url = f"json://me:{SECRET}@127.0.0.1:{receiver.port}/{SECRET}"
    with (
        short_folder() as folder,
        running_up(folder, "--demo", "--notify", "DEMO_URL", DEMO_URL=url) as up,
    ):
        until(up.measured)
        yield up


def program(up: Up, name: str) -> psutil.Process | None:
    """The running process of that part."""
    return up.part(*PARTS[name]) if name in PARTS else up.server(name)


def test_it_says_that_it_is_the_demo_where_the_board_is_and_how_to_stop(demo):
    said = demo.said.read_text()

    assert "DEMO: every provider and every figure is simulated" in said
    assert f"Board: {demo.url}" in said
    assert "learnt in twelve minutes" in said
    assert "Incidents are told to the address in DEMO_URL\n" in said
    assert "Ctrl-C" in said
    assert "\x1b" not in said


def test_everything_on_the_board_is_simulated(demo):
    assert demo.get("/api/board")["simulated"] is True
    assert all(endpoint["simulated"] for endpoint in demo.endpoints())


def test_a_second_up_on_the_same_folder_says_where_the_first_one_is_and_stops(demo):
    done = run_up(demo.state.parent, "--demo")

    assert done.returncode == 1
    assert done.stderr == (
        f"pacewatch: {demo.state}: another pacewatch up (process {demo.process.pid}) runs on this "
        f"state folder; its board is at {demo.url}\n"
    )


def test_an_incident_is_told_as_simulated_and_its_address_stands_in_no_log(demo, receiver):
    ((number,),) = demo.rows(
        "insert into incident (provider, region, trouble, class, state, importance, simulated,"
        " since, opened_at, confirmed_at) values ('acme', '', 'failures', 'provider', 'confirmed',"
        " 'notify', true, now(), now(), now()) returning incident_id"
    )
    (told,) = until(lambda: [one for one in receiver.got if "acme" in one["title"]])

    assert told["title"].startswith("SIMULATED acme: requests fail since ")
    assert f"{demo.url}/incidents/{number}\n" in told["message"]
    logs = [file.read_text(errors="replace") for file in (demo.state / "logs").iterdir()]
    assert len(logs) > 5
    assert SECRET not in "".join(logs) + demo.said.read_text()


def test_a_person_of_the_machine_has_a_region_measure_for_them(demo):
    endpoint = demo.measured()[0]
    done = subprocess.run(
        [sys.executable, "-m", "pacewatch", "probe", endpoint, "--from", "us-east", "--json"],
        env=environment(demo.state),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )

    run = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (run["endpoint"], run["region"], run["simulated"]) == (endpoint, "us-east", True)
    assert run["requests"][0]["figures"]["output_tokens_per_s"] > 0


def sentinel_samples(up: Up, metric: str) -> dict[tuple[str, str], float]:
    """The values of a metric for series of sentinels, by endpoint and region."""
    families = text_string_to_metric_families(up.text("/metrics"))
    return {
        (one.labels["endpoint"], one.labels["region"]): one.value
        for family in families
        for one in family.samples
        if one.name == metric and one.labels.get("workload") == "sentinel"
    }


def sentinels_in_turn(demo):
    """The regions of each two sentinels of an endpoint that followed one another at once."""
    planned = demo.rows(
        "select slot.endpoint, slot.slot_at, slot.region from slot join run using (run_id)"
        " where slot.purpose = 'sentinel' and slot.workload = 'sentinel' order by 1, 2"
    )
    return [
        (one[2], after[2])
        for one, after in pairwise(planned)
        if one[0] == after[0] and after[1] - one[1] == timedelta(seconds=DEMO_SCHEDULE.sentinel_s)
    ]


def test_a_sentinel_goes_from_the_schedule_through_a_worker_of_each_region_to_the_metrics(demo):
    series = {(endpoint, region) for endpoint in PAGING for region in DEMO_REGIONS}
    latest = "pacewatch_latest_time_to_first_token_seconds"
    figures = until(lambda: (found := sentinel_samples(demo, latest)).keys() == series and found)
    tried = sentinel_samples(demo, "pacewatch_requests_tried_total")

    assert all(0 < seconds < 10 for seconds in figures.values())
    assert all(tried[one] >= 1 for one in series)
    in_turn = until(lambda: sentinels_in_turn(demo))
    assert all(one != after for one, after in in_turn)


def test_every_endpoint_that_was_measured_is_judged(demo):
    until(
        lambda: (
            {
                endpoint
                for (endpoint,) in demo.rows("select endpoint from verdict where region = ''")
            }
            >= set(demo.measured())
        )
    )
    assert demo.rows("select verdict from verdict where verdict not in ('learning', 'ok')") == []


def has_measured_since(up: Up, moment: datetime) -> bool:
    """Tell whether each region has a good run that was sent and started after the moment."""
    found = up.rows(
        "select count(distinct slot.region) from run join slot using (run_id)"
        f" where run.good > 0 and least(slot.sent_at, run.started_at) > '{moment.isoformat()}'"
    )
    return found == [(2,)]


@pytest.mark.parametrize("name", [*PARTS, *SERVERS])
def test_a_killed_part_comes_back_and_both_regions_go_on(demo, name):
    killed = until(lambda: program(demo, name))
    killed.kill()

    until(lambda: (found := program(demo, name)) and found.pid != killed.pid)
    back_at = datetime.now(UTC)
    until(lambda: demo.measured() and has_measured_since(demo, back_at))


def started(up: Up) -> set[tuple[str, str]]:
    """Every run that a worker started and is done with, with its execution, from the journals."""
    found: set[tuple[str, str]] = set()
    for file in up.state.glob("worker-*/*.sqlite"):
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as disk:
            rows = disk.execute(
                "select hex(run_id), hex(execution) from journal where lost is null"
            )
            found |= {(run.lower(), execution.lower()) for run, execution in rows}
        disk.close()
    return found


def told(up: Up) -> set[tuple[str, str]]:
    """Every execution that the centre has committed, in whatever table."""
    tables = ("run", "unrun", "duplicate", "aside")
    query = " union all ".join(f"select run_id, execution from {table}" for table in tables)
    return {(run.hex, execution.hex) for run, execution in up.rows(query)}


def asked(up: Up) -> set[str]:
    """Every request that the simulator got, by the id it came with."""
    files = up.state.glob("simulator-requests.jsonl*")
    lines = (line for file in files for line in file.read_text().splitlines())
    return {json.loads(line)["x-request-id"] for line in lines if line.endswith("}")}


def test_after_all_that_no_finished_run_is_lost(demo):
    finished = started(demo)

    assert finished
    until(lambda: finished <= told(demo))


def test_after_all_that_no_run_is_stored_twice(demo):
    assert demo.rows("select run_id from run group by run_id having count(*) > 1") == []
    assert (
        demo.rows(
            "select run_id from run left join timing using (run_id)"
            " group by run_id, run.requests having count(*) <> run.requests"
        )
        == []
    )


def test_after_all_that_nothing_good_is_stored_that_was_not_asked(demo):
    good = demo.rows(
        "select execution, n from timing join run using (run_id) where timing.outcome = 'ok'"
    )

    assert good
    assert {str(request_id(execution, n)) for execution, n in good} <= asked(demo)


def test_it_stops_cleanly_and_leaves_no_process(demo):
    family = demo.family()

    code = demo.stop()

    assert code == 0
    assert psutil.wait_procs(family, timeout=5)[1] == []
    assert demo.said.read_text().endswith("Stopped\n")
