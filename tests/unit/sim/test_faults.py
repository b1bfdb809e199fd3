import re

import pytest

from pacewatch.sim.faults import (
    Fault,
    FaultKind,
    Faults,
    How,
    Trouble,
    fault_json,
    parse_fault,
)
from pacewatch.words.errors import WireError

ENDPOINTS = ("groq/gpt-oss-120b", "groq/llama-3.3-70b", "zai/glm-5.2")
REGIONS = ("eu-west", "us-east")
HERE = {"endpoint": "groq/llama-3.3-70b", "provider": "groq", "region": "eu-west"}


def parse(**raw) -> Fault:
    return parse_fault(raw, endpoints=ENDPOINTS, regions=REGIONS)


@pytest.mark.parametrize(
    ("target", "region", "hits"),
    [
        ("groq/llama-3.3-70b", None, True),
        ("groq", None, True),
        ("all", None, True),
        ("groq", "eu-west", True),
        ("groq", "us-east", False),
        ("groq/gpt-oss-120b", None, False),
        ("zai", None, False),
    ],
)
def test_whom_a_fault_hits(target, region, hits):
    assert Fault(kind=FaultKind.STALL, target=target, region=region).hits(**HERE) is hits


def test_slow_faults_multiply_and_add_up():
    faults = Faults()
    faults.switch_on(parse(kind="slow", target="all", factor=0.5, ttft_add_s=1))
    faults.switch_on(parse(kind="slow", target="groq", factor=0.5, ttft_add_s=2.5))

    effect = faults.effect(**HERE)

    assert (effect.factor, effect.ttft_add_s) == (0.25, 3.5)


def test_the_newest_refusing_fault_answers():
    faults = Faults()
    faults.switch_on(parse(kind="rate-limit", target="all"))
    faults.switch_on(parse(kind="fail", target="groq", status=503))

    refused = faults.effect(**HERE).refused

    assert refused is not None
    assert (refused.kind, refused.status) == (FaultKind.FAIL, 503)


def test_a_fault_replaces_the_one_in_its_place():
    faults = Faults()
    for factor in (0.5, 0.25):
        faults.switch_on(parse(kind="slow", target="groq", factor=factor))

    assert [f.factor for f in faults.on] == [0.25]


def test_several_faults_are_on_at_once():
    faults = Faults()
    for kind in ("stall", "disconnect", "auth"):
        faults.switch_on(parse(kind=kind, target="groq"))

    effect = faults.effect(**HERE)

    assert effect.kinds == ("auth", "disconnect", "stall")
    assert effect.is_stalled
    assert effect.is_disconnected


def test_what_faults_of_words_do():
    faults = Faults()
    for raw in ({"kind": "stream-error", "why": "server"}, {"kind": "broken", "how": "bomb"}):
        faults.switch_on(parse(target="groq", **raw))
    for kind in ("filter", "empty", "cache", "change"):
        faults.switch_on(parse(kind=kind, target="groq"))

    effect = faults.effect(**HERE)

    assert (effect.trouble, effect.how) == (Trouble.SERVER, How.BOMB)
    assert effect.is_filtered and effect.is_empty and effect.keeps_prompts and effect.is_changed


@pytest.mark.parametrize("kind", ["payment", "retired", "auth", "not-served"])
def test_these_refuse(kind):
    faults = Faults()
    faults.switch_on(parse(kind=kind, target="groq"))

    refused = faults.effect(**HERE).refused

    assert refused is not None and refused.kind is FaultKind(kind)


@pytest.mark.parametrize(
    ("target", "region", "left"),
    [
        (None, None, 0),
        ("groq", None, 1),
        ("all", None, 2),
        ("groq", "eu-west", 2),
        (None, "eu-west", 2),
        ("zai", None, 3),
    ],
)
def test_what_clear_takes_away(target, region, left):
    faults = Faults()
    faults.switch_on(parse(kind="stall", target="groq"))
    faults.switch_on(parse(kind="stall", target="groq", region="eu-west"))
    faults.switch_on(parse(kind="fail", target="all", region="us-east"))

    cleared = faults.clear(target, region)

    assert (cleared, len(faults.on)) == (3 - left, left)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, 'fault: unknown kind "None" (known: slow, fail, rate-limit, stall, not-served, auth, '
             "disconnect, payment, retired, stream-error, filter, empty, broken, cache, "
             "change)"),
        ({"kind": "broken", "target": "all", "how": "badly"},
         'fault broken: how "badly" is unknown (known: reset, clean-close, silent, slow-head, '
         "endless-head, html, http2, garbage, long-line, endless, endless-nothing, keep-alive, "
         "bomb, trickle)"),
        ({"kind": "stream-error", "target": "all", "why": 7},
         'fault stream-error: why "7" is unknown (known: overloaded, rate-limit, server)'),
        ({"kind": "stall"}, "fault: a target is needed (an endpoint, a provider, or all)"),
        (
            {"kind": "stall", "target": "groq/lama-3.3-70b"},
            '"groq/lama-3.3-70b" is no endpoint or provider of this demo '
            '(did you mean "groq/llama-3.3-70b"?)',
        ),
        (
            {"kind": "stall", "target": "##"},
            '"##" is no endpoint or provider of this demo (providers: groq, zai)',
        ),
        (
            {"kind": "stall", "target": "all", "region": "eu"},
            '"eu" is no region of this demo (known: eu-west, us-east)',
        ),
        (
            {"kind": "slow", "target": "all"},
            "fault slow: factor or ttft_add_s is needed (--factor 0.5, --ttft-add 2)",
        ),
        (
            {"kind": "slow", "target": "all", "factor": 0},
            "fault slow: factor must be a number from 0.001 to 100",
        ),
        (
            {"kind": "slow", "target": "all", "factor": True},
            "fault slow: factor must be a number from 0.001 to 100",
        ),
        (
            {"kind": "slow", "target": "all", "factor": float("nan")},
            "fault slow: factor must be a number from 0.001 to 100",
        ),
        (
            {"kind": "fail", "target": "all", "status": 200},
            "fault fail: status must be a whole number from 300 to 599",
        ),
        (
            {"kind": "fail", "target": "all", "status": 500.5},
            "fault fail: status must be a whole number from 300 to 599",
        ),
        (
            {"kind": "stall", "target": "all", "factor": 0.5},
            'fault stall: unknown field "factor" (known: kind, region, target)',
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_sentence(raw, message):
    with pytest.raises(WireError, match=f"^{re.escape(message)}$"):
        parse(**raw)


def test_no_object_is_no_fault():
    with pytest.raises(WireError, match="a JSON object is needed"):
        parse_fault(["stall"], endpoints=ENDPOINTS, regions=REGIONS)


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "slow", "target": "all", "region": None, "factor": 0.5, "ttft_add_s": 2},
        {"kind": "fail", "target": "groq", "region": "eu-west", "status": 503},
        {"kind": "rate-limit", "target": "groq", "region": None, "retry_after_s": 7},
        {"kind": "stall", "target": "groq", "region": None},
    ],
)
def test_a_fault_reads_as_it_was_asked(raw):
    assert fault_json(parse(**raw)) == raw
