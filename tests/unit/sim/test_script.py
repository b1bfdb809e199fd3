import statistics

import pytest
from support.simulator import make_endpoint

from pacewatch.sim.script import (
    DEFAULT_OUTPUT_TOKENS,
    MAX_OUTPUT_TOKENS,
    Ask,
    Nature,
    count_prompt_tokens,
    make_script,
    nature_of,
    pieces_of,
    split_output,
    way_s,
)

NATURE = Nature(tokens_per_s=100.0, ttft_s=0.4, block_tokens=1)


def make_ask(max_tokens: int | None = 300, **more) -> Ask:
    return Ask(model="m", prompt_tokens=100, max_tokens=max_tokens, **more)


def script(seed: str = "s", *, ask: Ask | None = None, nature: Nature = NATURE, exact=True):
    return make_script(nature, ask or make_ask(), way=0.01, seed=seed, exact=exact)


def test_a_published_speed_is_the_speed():
    assert nature_of(make_endpoint(tokens_per_s=322.0)).tokens_per_s == 322.0


def test_an_unpublished_speed_is_decided_by_the_id():
    one, same, other = (
        nature_of(make_endpoint(id, tokens_per_s=None)).tokens_per_s
        for id in ("nvidia/a", "nvidia/a", "nvidia/b")
    )

    assert one == same != other
    assert 55 <= one <= 220


@pytest.mark.parametrize(
    ("speed", "provider", "tokens"),
    [(62, "x", 1), (500, "x", 1), (501, "x", 2), (1753, "x", 4), (120, "azure", 4)],
)
def test_tokens_of_a_chunk(speed, provider, tokens):
    endpoint = make_endpoint(f"{provider}/m", tokens_per_s=speed)

    assert nature_of(endpoint).block_tokens == tokens


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (make_ask(300), (0, 300, True)),
        (make_ask(None), (0, DEFAULT_OUTPUT_TOKENS, False)),
        (make_ask(10**9), (0, MAX_OUTPUT_TOKENS, True)),
        (make_ask(300, reasons=True), (75, 225, True)),
        (make_ask(1_324, reasons=True, room_tokens=1_024), (75, 300, False)),
        (make_ask(1, reasons=True), (1, 0, True)),
    ],
)
def test_reasoning_answer_and_cut(ask, expected):
    assert split_output(ask) == expected


def test_an_exact_script_has_the_endpoints_own_figures():
    made = script("any seed")

    assert (made.ttft_s, made.tokens_per_s) == (pytest.approx(0.41), 100.0)


def test_the_same_seed_gives_the_same_script():
    assert script("a", exact=False) == script("a", exact=False) != script("b", exact=False)


def test_spread_times_have_the_truth_as_their_median():
    made = [script(str(n), exact=False) for n in range(2_000)]

    assert statistics.median(m.tokens_per_s for m in made) == pytest.approx(100.0, rel=0.005)
    assert statistics.median(m.ttft_s for m in made) == pytest.approx(0.41, rel=0.02)
    assert 2.5 < statistics.stdev(m.tokens_per_s for m in made) < 3.5


@pytest.mark.parametrize("block", [1, 4, 7, 1_000])
def test_pieces_hold_all_tokens_and_one_is_the_last(block):
    nature = Nature(tokens_per_s=100.0, ttft_s=0.4, block_tokens=block)

    pieces = list(pieces_of(script(ask=make_ask(reasons=True), nature=nature)))

    assert sum(p.tokens for p in pieces if p.is_reasoning) == 75
    assert sum(p.tokens for p in pieces if not p.is_reasoning) == 225
    assert [p.is_last for p in pieces] == [False] * (len(pieces) - 1) + [True]


def test_reasoning_alone_has_a_last_piece():
    pieces = list(pieces_of(script(ask=make_ask(1, reasons=True))))

    assert [(p.is_reasoning, p.is_last) for p in pieces] == [(True, True)]


def test_the_way_differs_by_region_and_is_short():
    ways = {way_s("groq", region) for region in ("eu-west", "us-east", "ap-south")}

    assert len(ways) == 3
    assert all(0.004 <= way <= 0.04 for way in ways)


def test_prompt_tokens_grow_with_the_text():
    assert count_prompt_tokens("x" * 4_400) == 1_008


@pytest.mark.parametrize(("shown", "expected"), [(1.0, (75, 0)), (1 / 3, (25, 50)), (0.0, (0, 75))])
def test_reasoning_is_shown_in_part_or_hidden(shown, expected):
    made = script(ask=make_ask(300, reasons=True, shown=shown))

    assert (made.reasoning_tokens, made.hidden_tokens) == expected
    assert made.answer_tokens == 225
    assert made.hidden_s == expected[1] / 100


def test_a_known_prompt_takes_a_tenth_of_the_time_to_first_token():
    assert script(ask=make_ask(cached_tokens=64)).ttft_s == pytest.approx(script().ttft_s / 10)
