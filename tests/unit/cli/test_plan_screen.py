from dataclasses import replace

import pytest
from support.fleets import make_endpoint, make_fleet

from aggregator.plan import make_plan
from pacewatch.cli.plan_screen import plan_json, plan_screen, plan_usd_per_day
from pacewatch.cli.render import to_string
from pacewatch.words.endpoint import Price, RateLimit
from pacewatch.words.fleet import Fleet, Spending
from pacewatch.words.spending import Caps

CHEAP = Price(input_usd=0.15, output_usd=0.6, source="made up for a test")
DEAR = Price(input_usd=5.0, output_usd=25.0, source="made up for a test")
KEYS = ("PACEWATCH_GROQ_API_KEY", "GROQ_API_KEY")
FLEETS: dict[str, Fleet] = {
    "thinned": make_fleet(
        make_endpoint("groq", "gpt-oss-120b", price=CHEAP, key_names=KEYS),
        make_endpoint("groq", "llama-3.3-70b", price=CHEAP, key_names=KEYS),
        make_endpoint("anthropic", "claude-opus-4.8", price=DEAR, reasoning_tokens=2_048),
        make_endpoint("127.0.0.1-9911", "smollm2", own=True),
        regions=3,
    ),
    "crowded": make_fleet(
        *(make_endpoint("acme", f"m{n}", published_tokens_per_s=None) for n in range(70)),
        regions=20,
    ),
    "simulated": make_fleet(
        make_endpoint("groq", "gpt-oss-120b"),
        regions=2,
        simulated=True,
        day_s=480,
        workloads=("short",),
    ),
    "limited": replace(
        make_fleet(
            make_endpoint("groq", "gpt-oss-120b", price=CHEAP),
            make_endpoint("groq", "llama-3.3-70b", price=CHEAP),
            make_endpoint("acme", rate_limit=RateLimit(requests_per_minute=60, source="test")),
            regions=2,
        ),
        spending=Spending(tokens_per_day=300_000, providers={"groq": Caps(requests_per_day=100)}),
        rate_limits={"groq": RateLimit(tokens_per_minute=6_000, source="test")},
    ),
    "empty": replace(make_fleet(), endpoints=()),
}
SHELL = {"GROQ_API_KEY": "hunter2", "AWS_PROFILE": "hunter2", "PATH": "/bin"}


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("name", FLEETS)
def test_the_plan_reads_well(name, width, golden, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    fleet = FLEETS[name]

    screen = to_string(*plan_screen(fleet, make_plan(fleet), SHELL), width=width)

    assert "hunter2" not in screen
    assert max(map(len, screen.splitlines())) <= width
    golden(f"cli/plan-{name}-{width}.txt", screen)


def test_the_json_says_the_same_as_the_screen():
    fleet = FLEETS["thinned"]
    said = plan_json(fleet, make_plan(fleet), SHELL)

    assert said["usd_per_day"] == pytest.approx(plan_usd_per_day(fleet))
    assert said["usd_per_day"] <= said["cap_usd_per_day"] < said["asked_usd_per_day"]
    assert said["usd_per_month"] == pytest.approx(30 * said["usd_per_day"])
    assert [p["provider"] for p in said["providers"]] == ["anthropic", "groq", "127.0.0.1-9911"]
    assert sum(e["requests_per_day"] for e in said["endpoints"]) == pytest.approx(
        sum(p["requests_per_day"] for p in said["providers"])
    )
    assert said["unpriced"] == ["127.0.0.1-9911/smollm2"]
    assert said["keys_found"] == ["GROQ_API_KEY"]
    assert said["ambient_found"] == {"aws": ["AWS_PROFILE"]}
    assert "hunter2" not in str(said)


def test_the_json_has_the_fullest_minute_of_each_rate_limit():
    fleet = FLEETS["limited"]
    said = plan_json(fleet, make_plan(fleet), {})["rate_limits"]

    assert [(row["of"], row["unit"], row["is_met"]) for row in said] == [
        ("groq", "tokens", True),
        ("acme/m1", "requests", False),
    ]
    assert said[0]["planned_per_minute"] == 22_000
    assert said[1]["planned_per_minute"] == 10
