"""What a running Alertmanager hides by the shipped configuration, and what it goes on telling.

It is told of alerts as Prometheus would tell it.
"""

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from support.alertmanager import Told, running_alertmanager
from support.servers import short_folder
from support.stack import until

Labels = dict[str, str]


@dataclass(frozen=True)
class Alertmanager:
    """A running Alertmanager and what it tells."""

    listen: str
    told: Told

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The answer's JSON."""
        connection = http.client.HTTPConnection(self.listen, timeout=10)
        try:
            text = None if body is None else json.dumps(body)
            headers = {"content-type": "application/json"}
            connection.request(method, f"/api/v2/{path}", text, headers)
            answer = connection.getresponse()
            told = answer.read()
            assert answer.status == 200, told
            return json.loads(told) if told else None
        finally:
            connection.close()

    def tell(self, *firing: Labels, ended: tuple[Labels, ...] = ()) -> None:
        """Tell it of alerts that fire, and of some that have ended."""
        now = datetime.now(UTC)
        fires = [_alert(labels, now, now + timedelta(hours=1)) for labels in firing]
        self.ask("POST", "alerts", [*fires, *(_alert(labels, now, now) for labels in ended)])

    def hidden(self) -> set[str]:
        """The names of the alerts that fire and are hidden, each with what tells it apart."""
        return {
            _name(alert["labels"])
            for alert in self.ask("GET", "alerts?active=false&inhibited=true")
            if alert["status"]["inhibitedBy"]
        }


def _alert(labels: Labels, now: datetime, ends_at: datetime) -> dict[str, object]:
    begun = now - timedelta(minutes=1)
    return {
        "labels": labels,
        "annotations": {"summary": _name(labels)},
        "startsAt": begun.isoformat(),
        "endsAt": ends_at.isoformat(),
    }


def _name(labels: Labels) -> str:
    told = (labels.get(name) for name in ("alertname", "provider", "region", "class", "severity"))
    return " ".join(word for word in told if word)


def alert(name: str, severity: str = "notify", **labels: str) -> Labels:
    return {"alertname": name, "severity": severity, "simulated": "false"} | labels


@pytest.fixture
def alertmanager() -> Iterator[Alertmanager]:
    with short_folder() as folder, running_alertmanager(folder) as (listen, told):
        yield Alertmanager(listen, told)


def prober(region: str) -> Labels:
    return alert("IncidentAdvisory", incident=f"1{region}", region=region, **{"class": "prober"})


def test_a_silent_region_hides_what_comes_of_it_and_nothing_of_another(alertmanager):
    def of(region: str) -> list[Labels]:
        path = alert("IncidentAdvisory", provider="groq", region=region, **{"class": "region_path"})
        names = (
            "WorkerClockOff",
            "ProberSuspect",
            "ProberUncalibrated",
            "CatalogMismatch",
            "OutboxFilling",
        )
        return [*(alert(name, region=region, worker="w") for name in names), path]

    slow = alert("ProviderSlow", "page", provider="groq", incident="7", **{"class": "provider"})
    silent = alert("RegionSilent", region="eu-west", **{"class": "prober"})
    alertmanager.tell(silent, *of("eu-west"), *of("us-east"), slow)

    until(lambda: alertmanager.hidden() == {_name(one) for one in of("eu-west")})


def test_a_silent_fleet_hides_its_regions_and_an_aggregator_that_is_down_hides_the_fleet(
    alertmanager,
):
    down = alert("AggregatorDown", "page")
    fleet = alert("FleetSilent", "page", **{"class": "ours"})
    regions = [alert("RegionSilent", region=one) for one in ("eu-west", "us-east")]
    slow = alert("ProviderSlow", "page", provider="groq", incident="7", **{"class": "provider"})

    alertmanager.tell(fleet, *regions, slow)
    until(lambda: alertmanager.hidden() == {_name(one) for one in regions})

    alertmanager.tell(down)
    until(lambda: alertmanager.hidden() == {_name(one) for one in (fleet, *regions, slow)})


def test_a_provider_that_fails_hides_that_it_is_slow_and_no_page_hides_behind_a_notice(
    alertmanager,
):
    def of(name: str, severity: str, provider: str, incident: str) -> Labels:
        labels = {"class": "provider", "provider": provider, "incident": incident}
        return alert(name, severity, **labels)

    alertmanager.tell(
        of("EndpointFailing", "page", "groq", "1"),
        of("ProviderSlow", "page", "groq", "2"),
        of("ProviderSlow", "notify", "groq", "3"),
        of("ProviderSlow", "page", "cerebras", "4"),
        of("EndpointFailing", "notify", "novita", "5"),
        of("ProviderSlow", "page", "novita", "6"),
        of("ProviderSlow", "notify", "novita", "7"),
        of("ProviderSlow", "notify", "cerebras", "8"),
    )

    until(
        lambda: (
            alertmanager.hidden()
            == {
                "ProviderSlow groq provider page",
                "ProviderSlow groq provider notify",
                "ProviderSlow novita provider notify",
            }
        )
    )


def test_a_suspect_prober_hides_the_advisory_of_its_own_region_alone(alertmanager):
    alertmanager.tell(alert("ProberSuspect", region="eu-west", worker="w"), prober("eu-west"))
    alertmanager.tell(prober("us-east"))

    until(lambda: alertmanager.hidden() == {_name(prober("eu-west"))})


def test_an_incident_that_widens_is_told_as_what_it_is_now_and_ends_once(alertmanager):
    """One from a trouble that is nobody's to one region's path, the provider's, a page, and
    failures; one that comes to page; one that turns out to be ours.
    """

    def of(number: str, *stages: tuple[str, str, str]) -> list[Labels]:
        known = {"incident": number, "provider": f"p{number}"}
        return [
            alert(name, severity, **known, **{"class": kind}) for name, severity, kind in stages
        ]

    widens = of(
        "7",
        ("IncidentAdvisory", "notify", "unknown"),
        ("IncidentAdvisory", "notify", "region_path"),
        ("ProviderSlow", "notify", "provider"),
        ("ProviderSlow", "page", "provider"),
        ("EndpointFailing", "page", "provider"),
    )
    comes_to_page = of(
        "8", ("EndpointFailing", "notify", "provider"), ("EndpointFailing", "page", "provider")
    )
    is_ours = of(
        "9", ("EndpointFailing", "notify", "provider"), ("IncidentAdvisory", "notify", "ours")
    )
    is_ours[-1] |= {"provider": ""}
    chains = (widens, comes_to_page, is_ours)
    # in the groups in which ends would be told
    after = [alert("ModelNotServed", provider=chain[0]["provider"]) for chain in chains]
    told = alertmanager.told

    def tell(*stages: Labels) -> None:
        alertmanager.tell(*stages)
        names = [_name(one) for one in stages]
        until(lambda: all(any(t.startswith(name) for t in told.titles()) for name in names))

    tell(*(chain[0] for chain in chains))
    for chain in chains:
        for before, stage in pairwise(chain):
            tell(stage)
            alertmanager.tell(ended=(before,))
    tell(*after)
    assert not any(":white_check_mark:" in text for text in told.texts())

    lasting = [chain[-1] for chain in chains]
    alertmanager.tell(ended=(*lasting, *after))
    until(lambda: sum(title.startswith("Over: ") for title in told.titles()) == 2 * len(chains))
    until(lambda: sum(one["event_action"] == "resolve" for one in told.to("pagerduty")) == 2)
    pages: dict[str, list[str]] = {}
    for one in told.to("pagerduty"):
        pages.setdefault(one["dedup_key"], []).append(one["event_action"])
    assert sorted(pages.values()) == [["trigger", "resolve"], ["trigger", "trigger", "resolve"]]
    assert {title for title in told.titles() if title.startswith("Over: ")} == {
        f"Over: {_name(one)}" for one in (*lasting, *after)
    }
