"""What a worker declines for a cap or for a rate limit is a missed slot and a metric, through
worker, broker, push, store and page.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from support.answers import good_case
from support.benches import bench_on, heartbeat_of, make_fleet
from support.broker import embedded_broker
from support.centre import migrated_pool, served
from support.records import make_slot, plan
from support.replay import replay
from support.servers import short_folder
from support.workers import REGION, send, worker_process

from aggregator.regions import Scope, issue_token
from pacewatch.config import load_fleet
from pacewatch.words.endpoint import endpoint_hash
from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import Slot
from pacewatch.words.timing import RateLimits, Timing
from pacewatch.words.wire import encode_task
from probe.centre import open_client
from probe.headroom import Account
from probe.settings import Settings

SCARCE = {
    "x-ratelimit-limit-requests": "100",
    "x-ratelimit-remaining-requests": "19",
    "x-ratelimit-reset-requests": "3600s",
}


@pytest.fixture
def pool(database_url):
    with migrated_pool(database_url, simulated=False) as opened:
        yield opened


def write_config(folder: Path, scarce_url: str, capped_url: str) -> Path:
    file = folder / "pacewatch.toml"
    file.write_text(
        f"[regions.{REGION}]\n"
        f'[[endpoint]]\nprovider = "scarce"\nbase_url = "{scarce_url}/v1"\nmodel = "m"\n'
        f'[[endpoint]]\nprovider = "capped"\nbase_url = "{capped_url}/v1"\nmodel = "m"\n'
        "[providers.capped]\nrequests_per_day = 1\n"
    )
    return file


def planned_slots(pool, fleet, now: datetime) -> tuple[list[Slot], str]:
    """Two slots of each endpoint, one second apart, and the region's token."""
    slots = [
        make_slot(
            now - timedelta(seconds=2 - n),
            endpoint=endpoint,
            workload="standard",
            valid_until=now + timedelta(minutes=5),
        )
        for endpoint in ("scarce/m", "capped/m")
        for n in (0, 1)
    ]
    with pool.connection() as connection:
        plan(connection, *slots)
        connection.execute("delete from endpoint_version")
        for endpoint in fleet.endpoints:
            connection.execute(
                "insert into endpoint_version (endpoint_hash, endpoint, workload, first_seen_at)"
                " values (%s, %s, 'standard', %s)",
                (endpoint_hash(endpoint, fleet.workloads["standard"]), endpoint.id, now),
            )
        return slots, issue_token(connection, REGION, Scope.REGION, now)


def test_a_run_for_which_a_cap_or_a_rate_limit_leaves_no_room_is_missed_and_counted(pool):
    scarce = good_case()
    scarce["response"]["headers"] = {**scarce["response"]["headers"], **SCARCE}
    now = datetime.now(UTC).replace(microsecond=0)
    with (
        replay(scarce) as eaten,
        replay(good_case()) as capped,
        embedded_broker() as broker,
        short_folder() as folder,
    ):
        config = write_config(folder, eaten.url, capped.url)
        fleet = load_fleet(config, {})
        slots, token = planned_slots(pool, fleet, now)
        with (
            served(pool, fleet) as aggregator_url,
            worker_process(
                folder, broker=broker, aggregator_url=aggregator_url, token=token, config=config
            ) as worker,
        ):
            worker.start()
            for done, slot in enumerate(slots):
                send(broker, encode_task(slot))
                worker.wait_for(
                    lambda done=done: (
                        sum(len(worker.events(word)) for word in ("run.kept", "run.declined"))
                        > done
                    )
                )
            worker.wait_for(lambda: states_of(pool).count("sent") == 0)
            assert worker.stop() == 0
            page = httpx2.get(f"{aggregator_url}/metrics", trust_env=False).text
            status = httpx2.get(f"{aggregator_url}/api/status", trust_env=False).json()

    assert status["declined"] == [
        {"region": REGION, "provider": provider, "reason": f"declined:{reason}", "runs": 1}
        for provider, reason in (("capped", "budget"), ("scarce", "headroom"))
    ]
    assert states_of(pool) == ["run", "missed", "run", "missed"]
    assert reasons_of(pool) == [None, "declined:headroom", None, "declined:budget"]
    assert [len(eaten.asked), len(capped.asked)] == [1, 1]
    missed = [line for line in page.splitlines() if line.startswith("pacewatch_runs_missed_total")]
    assert sum(float(line.split()[-1]) for line in missed) == 2
    for provider_id, reason in (("scarce", "headroom"), ("capped", "budget")):
        [line] = [
            line
            for line in missed
            if f'provider="{provider_id}"' in line and f'reason="declined:{reason}"' in line
        ]
        assert float(line.split()[-1]) == 1


def states_of(pool) -> list[str]:
    return [row["state"] for row in slots_of(pool)]


def reasons_of(pool) -> list[str | None]:
    return [row["reason"] for row in slots_of(pool)]


def slots_of(pool):
    with pool.connection() as connection:
        return connection.execute(
            "select state, reason from slot order by endpoint desc, slot_at"
        ).fetchall()


def test_what_is_left_of_a_rate_limit_and_of_the_cap_is_on_the_metrics_page(pool, tmp_path):
    limits = RateLimits(tokens_left=1_500, tokens_limit=6_000, tokens_reset_s=60)
    account = Account(provider="own", key_name="OWN_API_KEY")
    fleet = make_fleet()
    now = datetime.now(UTC)
    with pool.connection() as connection:
        token = issue_token(connection, REGION, Scope.REGION, now)
    with bench_on(tmp_path, fleet=fleet, wall_at=now) as bench, served(pool, fleet) as url:
        bench.headroom.note(account, "m", [Timing(n=0, outcome=Outcome.OK, limits=limits)], now)
        with open_client(settings_of(url, token, tmp_path), None) as client:
            heartbeat_of(bench, client).beat()
        page = httpx2.get(f"{url}/metrics", trust_env=False).text

    told = [line for line in page.splitlines() if not line.startswith("#")]
    labels = 'region="eu-west",worker="w1"'
    assert (
        f'pacewatch_rate_limit_left_ratio{{{labels},provider="own",key="OWN_API_KEY",'
        'unit="tokens",simulated="false"} 0.25'
    ) in told
    assert f'pacewatch_budget_left_usd{{{labels},simulated="false"}} 5.0' in told


def settings_of(url: str, token: str, state: Path) -> Settings:
    return Settings(region=REGION, broker_url="", aggregator_url=url, token=token, state=state)
