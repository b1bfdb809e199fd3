"""Each scripted answer, as a run of the real probe over a real socket.

Times are held to the server's own log of what it sent when. A busy machine may wake the probe late,
so a case that misses a time by that is played again; one that is wrong stays wrong. At first they
are played several at a time, which spares their waits.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support.chosen import chosen_ids
from support.probing import limits_of, probe_once
from support.replay import Asked, cases_of, replay

from pacewatch.words.endpoint import Protocol
from pacewatch.words.figures import figures_of
from pacewatch.words.flag import Flag
from pacewatch.words.timing import Timing

CASES = [case for protocol in Protocol for case in cases_of(protocol)]

HOST_FLAGS = {
    Flag.SHORT_ANSWER,
    Flag.COALESCED,
    Flag.CLOCK_GAP,
    Flag.PROBER_SUSPECT,
    Flag.UNCALIBRATED,
}
"""What depends on the host, or on what was asked."""

SLACK_MS = 25
TRIES = 4
TOGETHER = 6

Played = tuple[Timing, list[Asked]]


def _play(case: dict[str, Any]) -> Played:
    with replay(case) as served:
        timing = probe_once(
            f"{served.url}/v1", protocol=Protocol(case["protocol"]), limits=limits_of(case)
        )
    return timing, served.asked


@pytest.fixture(scope="module")
def played(request) -> dict[str, Played]:
    """What came of the chosen cases when they were first played."""
    ids = chosen_ids(request)
    cases = [case for case in CASES if case["id"] in ids]
    with ThreadPoolExecutor(TOGETHER) as pool:
        return dict(zip((case["id"] for case in cases), pool.map(_play, cases), strict=True))


def _misses(timing: Timing, asked: Asked, expect: dict[str, Any]) -> Iterator[str]:
    """The times that lie outside what the server's log allows."""
    late_ms = asked.lateness_ms() + SLACK_MS
    figures = figures_of(timing)
    for name, at_s in (
        ("ttft_ms", figures.ttft_s),
        ("ttft_answer_ms", figures.answer_s),
        ("e2e_ms", figures.end_to_end_s),
    ):
        if not _fits(at_s, expect[name], 2, late_ms):
            yield f"{name}: {at_s} s, expected {expect[name]} ms"
    if not _fits(figures.stall_s, expect.get("stall_ms"), late_ms, late_ms):
        yield f"stall_ms: {figures.stall_s} s, expected {expect.get('stall_ms')} ms"
    if (Flag.BURST in timing.flags) != (Flag.BURST in expect["flags"]):
        yield f"arrivals at {timing.chunks.at_us} us"
    if "ends_within_ms" in expect:
        first, last = expect["ends_within_ms"]
        if not first - 2 <= (timing.end_us or 0) / 1000 <= last + late_ms:
            yield f"ended after {timing.end_us} us"
    raw = expect.get("raw") or {}
    first_s = timing.chunks.at_us[0] / 1e6 if timing.chunks.at_us else None
    if "first_token_ms" in raw and not _fits(first_s, raw["first_token_ms"], 2, late_ms):
        yield f"first token: {first_s} s"
    if (per_s := expect.get("tokens_per_s")) is not None:
        window_ms = expect["speed_window_ms"]
        low = per_s * window_ms / (window_ms + late_ms)
        high = per_s * window_ms / max(window_ms - late_ms, 1)
        if not low * 0.99 <= (figures.output_tokens_per_s or 0) <= high * 1.01:
            yield f"speed: {figures.output_tokens_per_s}, expected {per_s}"


def _fits(at_s: float | None, expected_ms: float | None, early_ms: float, late_ms: float) -> bool:
    if at_s is None or expected_ms is None:
        return at_s is None and expected_ms is None
    return expected_ms - early_ms <= at_s * 1000 <= expected_ms + late_ms


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_scripted_answer_is_read_as_its_case_says(case, played):
    timing, asked = played[case["id"]]
    for _ in range(TRIES):
        missed = list(_misses(timing, asked[0], case["expect"]))
        if not missed:
            break
        timing, asked = _play(case)

    assert missed == []
    _holds(timing, asked, case["expect"])


def _holds(timing: Timing, asked: list[Asked], expect: dict[str, Any]) -> None:
    """Assert all that no clock has a say in."""
    raw = expect.get("raw") or expect
    texts = {
        "a": raw.get("text") or "",
        "r": raw.get("reasoning_text") or "",
    }

    assert expect["outcome"] == timing.outcome
    assert raw["chunks_with_tokens"] == len(timing.chunks.at_us)
    assert set(expect["flags"]) == {str(flag) for flag in set(timing.flags) - HOST_FLAGS}
    for letter, text in texts.items():
        assert len(text.encode()) == sum(
            size
            for size, kind in zip(timing.chunks.size_bytes, timing.chunks.kind, strict=True)
            if kind == letter
        )
    assert expect.get("requests_sent", 1) == len(asked)
    _tokens_hold(timing, expect)
    _told_holds(timing, expect)


def _tokens_hold(timing: Timing, expect: dict[str, Any]) -> None:
    if (counted := expect.get("tokens_o200k")) is not None:
        assert counted["all"] == sum(timing.chunks.tokens)
        if counted["after_first_chunk"] is not None:
            assert counted["after_first_chunk"] == sum(_of_speed(timing)[1:])
    if expect.get("output_speed") is None:
        assert figures_of(timing).output_tokens_per_s is None


def _of_speed(timing: Timing) -> list[int]:
    """The tokens of the chunks that the speed is of: the answer's where reasoning was hidden."""
    kinds = "a" if Flag.HIDDEN_REASONING in timing.flags else "rat"
    chunks = zip(timing.chunks.tokens, timing.chunks.kind, strict=True)
    return [tokens for tokens, kind in chunks if kind in kinds]


def _told_holds(timing: Timing, expect: dict[str, Any]) -> None:
    told = timing.provider_tokens
    if expect["provider_tokens"] is None:
        assert told is None
    else:
        names = ("input", "output", "reasoning", "cached_input")
        assert expect["provider_tokens"] == {
            name: value for name in names if (value := getattr(told, name)) is not None
        }
    if expect["server_timings"] is None:
        assert timing.server_timings is None
    else:
        assert timing.server_timings is not None
        assert expect["server_timings"].items() <= timing.server_timings.as_told.items()
    if "error_code" in expect:
        assert timing.fault is not None
        assert str(expect["error_code"]) == timing.fault.type
    if "retry_after_s" in expect:
        assert timing.fault is not None
        assert expect["retry_after_s"] == timing.fault.retry_after_s


@pytest.mark.parametrize(
    ("id", "is_short"), [("chat-utf8-split", True), ("chat-cerebras-time-info", False)]
)
def test_an_answer_of_few_words_is_short_unless_a_limit_cut_it(id, is_short):
    (case,) = [case for case in CASES if case["id"] == id]

    timing, _ = _play(case)

    assert (Flag.SHORT_ANSWER in timing.flags) is is_short
