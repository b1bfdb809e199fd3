"""Every kind of answer that a provider was seen to give, or may give, has its transcript."""

import json
from collections import Counter
from pathlib import Path

from pacewatch.words.endpoint import Protocol
from pacewatch.words.flag import CENTRE_FLAGS, Flag

FOLDER = Path(__file__).parents[1] / "golden/protocols"
FILES = sorted(FOLDER.glob("*/*.json"))
CASES = [json.loads(file.read_text("utf-8")) for file in FILES]


def ids(text: str) -> frozenset[str]:
    """The ids that a text lists."""
    return frozenset(text.split())


OF_PROVIDERS = ids(
    """
    anthropic-overloaded-midway anthropic-thinking-ping bedrock-bad-crc bedrock-frames-torn
    bedrock-reasoning bedrock-throttled-midway chat-azure-empty-choices chat-burst-one-event
    chat-cached-prompt chat-clean-close-no-finish chat-content-parts chat-crlf-multiline-split
    chat-deepseek-keepalive-reasoning chat-done-then-silence chat-error-first-in-200
    chat-fireworks-last-chunk-packed chat-groq-usage-twice chat-gzip-flushed chat-html-in-200
    chat-http10-close chat-json-error-in-200 chat-keepalive-forever chat-mirrored-reasoning
    chat-no-done chat-only-empty-deltas chat-reset-midway chat-sambanova-usage-timings
    chat-tool-call chat-two-choices chat-utf8-split gemini-json-array gemini-safety-midway
    gemini-stop-on-every-chunk gemini-thoughts-signature-last http-400-decommissioned
    http-429-retry-seconds responses-failed responses-incomplete-length
    responses-reasoning-summary
    """
)
"""What real servers were seen to do; the others are of the same kinds with other details."""

ELSEWHERE = {
    Flag.COALESCED,
    Flag.CLOCK_GAP,
    Flag.PROBER_SUSPECT,
    Flag.UNCALIBRATED,
    Flag.VIA_PROXY,
    Flag.SHORT_ANSWER,
    *CENTRE_FLAGS,
}
"""Flags that no answer alone decides; they have tests of their own."""


def test_no_kind_of_answer_that_was_seen_is_missing():
    assert OF_PROVIDERS - {case["id"] for case in CASES} == set()


def test_each_case_stands_under_its_protocol_by_its_id_and_says_where_it_is_from():
    for file, case in zip(FILES, CASES, strict=True):
        assert (file.parent.name, file.stem) == (case["protocol"], case["id"])
        assert case["source"]
        assert case["note"]


def test_every_protocol_has_answers_that_end_well_and_ends_that_are_faults():
    found = {protocol: Counter() for protocol in map(str, Protocol)}
    for case in CASES:
        found[case["protocol"]][case["expect"]["outcome"] == "ok"] += 1

    assert all(
        good >= 3 and bad >= 3 for good, bad in ((c[True], c[False]) for c in found.values())
    )


def test_every_flag_that_an_answer_decides_is_in_some_case():
    flags = {flag for case in CASES for flag in case["expect"]["flags"]}

    assert set(Flag) - flags - ELSEWHERE == set()
