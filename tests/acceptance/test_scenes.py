"""Faults of the demo's simulator, each followed to the incident that it is and to its end.

One demo with a quick day plays all scenes, some ten minutes long; `scripts/rehearse` has them
played. Each claim waits for what it claims, on a machine with a processor to spare: on one that is
busy all along both workers find themselves suspect, and nothing that they measure votes.
"""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from support import quick_demo
from support.prometheus import Prometheus, running_prometheus
from support.receiving import Receiver
from support.servers import short_folder
from support.stack import PATIENCE_S, Up, environment, running_up, until
from support.stopping import reader_of, stopping

pytestmark = pytest.mark.slow

Incident = dict[str, Any]


@pytest.fixture(scope="module")
def demo(receiver: Receiver) -> Iterator[Up]:
    """A demo that has learnt what is usual."""
    words = ("--demo", "--notify", "DEMO_URL")
    address = f"json://127.0.0.1:{receiver.port}"
    with (
        short_folder() as folder,
        running_up(folder, *words, program=(quick_demo.__file__,), DEMO_URL=address) as up,
    ):
        until(lambda: verdicts(up) == {"ok"}, patience_s=2 * PATIENCE_S)
        yield up


@pytest.fixture(scope="module")
def prometheus(demo: Up) -> Iterator[Prometheus]:
    with (
        short_folder() as folder,
        running_prometheus(folder, demo.url.removeprefix("http://")) as found,
    ):
        yield found


@pytest.fixture
def scene(demo: Up) -> Iterator[Up]:
    """The demo without a fault and with all incidents over, before and after."""
    yield demo
    simulate(demo, "clear")
    until(lambda: not incidents(demo))


def verdicts(up: Up) -> set[str]:
    """What is believed of the endpoints in each region; all of it once all are measured."""
    told = [verdict for endpoint in up.endpoints() for verdict in endpoint["verdicts"].values()]
    return (
        {verdict["verdict"] for verdict in told}
        if len(told) == 2 * len(quick_demo.ENDPOINTS)
        else set()
    )


def incidents(up: Up, **words: str) -> list[Incident]:
    """The incidents that are confirmed and not over, or those of another kind."""
    asked = "&".join(f"{name.rstrip('_')}={word}" for name, word in words.items())
    found: list[Incident] = up.get(f"/api/incidents?{asked}").get("incidents", [])
    return found


def simulate(up: Up, *words: str) -> None:
    """Call `pacewatch simulate` as a person does."""
    command = (sys.executable, "-m", "pacewatch", "simulate", *words)
    done = subprocess.run(
        command, env=environment(up.state), capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr


def confirmed(up: Up, class_: str) -> Incident | None:
    """The one incident of that class that stands."""
    found = incidents(up, class_=class_, state="confirmed")
    assert len(found) <= 1, found
    return found[0] if found else None


def is_over(up: Up, number: int) -> bool:
    """Tell whether the incident has closed, for the reason that all is well."""
    found = up.get(f"/api/incidents/{number}")
    return bool(found) and found["state"] == "closed" and "eased" in kinds(found)


def kinds(whole: Incident) -> list[str]:
    """What has happened in an incident."""
    return [event["kind"] for event in whole["timeline"]]


def halved(up: Up) -> Incident | None:
    """The incident of the provider whose speed was halved, once its ratio says so."""
    found = confirmed(up, "provider")
    slower = found and found["endpoints"][0]["slower"]
    return found if slower and 0.85 * 2 <= slower["times"] <= 1.15 * 2 else None


def test_a_slow_provider_a_slow_path_and_a_spent_quota_at_once_are_told_apart_and_end(
    scene, prometheus, receiver
):
    simulate(scene, "slow", "groq", "--factor", "0.5")
    simulate(scene, "rate-limit", "sambanova")
    simulate(scene, "slow", "cerebras", "--region", "us-east", "--ttft-add", "2")

    provider = until(lambda: halved(scene))
    path = until(lambda: confirmed(scene, "region_path"))
    quota = until(lambda: confirmed(scene, "quota"))

    assert (provider["provider"], provider["region"]) == ("groq", None)
    assert (provider["trouble"], provider["pages"]) == ("output_speed", True)
    assert (path["provider"], path["region"]) == ("cerebras", "us-east")
    assert (path["trouble"], path["pages"]) == ("first_token", False)
    assert (quota["provider"], quota["pages"]) == ("sambanova", False)
    until(lambda: ("ProviderSlow", None) in prometheus.firing())
    begun, over = "SIMULATED groq", "SIMULATED Over: groq"
    until(lambda: any(title.startswith(begun) for title in receiver.titles))

    simulate(scene, "clear")

    for one in (provider, path, quota):
        until(lambda one=one: is_over(scene, one["incident"]))
    until(lambda: ("ProviderSlow", None) not in prometheus.firing())
    until(lambda: any(title.startswith(over) for title in receiver.titles))


def test_all_providers_slow_from_everywhere_is_ours_and_ends(scene):
    before = [one["incident"] for one in incidents(scene, state="all", class_="provider")]
    simulate(scene, "slow", "all", "--factor", "0.5")

    ours = until(lambda: confirmed(scene, "ours"))
    until(lambda: len(scene.get(f"/api/incidents/{ours['incident']}")["endpoints"]) == 4)
    assert (ours["provider"], ours["region"], ours["pages"]) == (None, None, False)

    simulate(scene, "clear")

    until(lambda: is_over(scene, ours["incident"]))
    after = [one["incident"] for one in incidents(scene, state="all", class_="provider")]
    assert after == before


def test_a_worker_whose_reader_is_stopped_again_and_again_is_a_prober_and_no_provider(scene):
    before = [one["incident"] for one in incidents(scene, state="all", class_="provider")]
    worker = until(lambda: scene.part("worker", "us-east"))
    with stopping(reader_of(worker.pid)):
        prober = until(lambda: confirmed(scene, "prober"), patience_s=2 * PATIENCE_S)

    assert (prober["provider"], prober["region"], prober["pages"]) == (None, "us-east", False)
    until(lambda: is_over(scene, prober["incident"]), patience_s=2 * PATIENCE_S)
    after = [one["incident"] for one in incidents(scene, state="all", class_="provider")]
    assert after == before
