import asyncio
import contextlib
import itertools
from dataclasses import dataclass, field

import pytest
from support.simulator import make_endpoint
from support.virtualtime import run_virtually

from pacewatch.sim.faults import NO_EFFECT, Effect, How, Trouble
from pacewatch.sim.http import Reply
from pacewatch.sim.script import Ask, Nature, make_script
from pacewatch.sim.stream import LOOK_S, Sent, Stream
from pacewatch.sim.voices.openai_chat import OpenAIChatSpeaker

START_S = 1_000.0
ENDPOINT = make_endpoint()
SPEAKER = OpenAIChatSpeaker()
ROLE = b'"role"'
TEXT = b'"content":"'


@dataclass
class Wire:
    """Stands for the connection: notes what is written, and when."""

    written: list[tuple[float, bytes]] = field(default_factory=list)
    is_cut: bool = False

    @property
    def transport(self) -> "Wire":
        return self

    def write(self, data: bytes) -> None:
        self.written.append((asyncio.get_running_loop().time() - START_S, data))

    async def drain(self) -> None:
        if self.is_cut:
            raise ConnectionResetError

    def abort(self) -> None:
        self.is_cut = True

    def is_closing(self) -> bool:
        return self.is_cut

    def moments(self) -> list[float]:
        """When each piece of text was written."""
        return [at for at, data in self.written if TEXT in data and ROLE not in data]


def stream(
    *,
    tokens=300,
    speed=62.0,
    block=1,
    ttft=0.4,
    faults: dict[float, Effect] | None = None,
    client_leaves_s: float | None = None,
    **asked,
) -> tuple[Wire, Sent]:
    """Send an answer; `faults` tells from which second on which effect holds."""
    wire = Wire()
    ask = Ask(model="m", prompt_tokens=9, max_tokens=tokens, wants_usage=True, **asked)
    nature = Nature(tokens_per_s=speed, ttft_s=ttft, block_tokens=block)
    script = make_script(nature, ask, way=0.0, seed="s", exact=True)

    async def main() -> Sent:
        clock = asyncio.get_running_loop().time
        reader = asyncio.StreamReader()
        if client_leaves_s is not None:
            asyncio.get_running_loop().call_later(client_leaves_s, reader.feed_eof)
        one = Stream(
            reply=Reply(reader, wire),  # type: ignore[arg-type]
            voice=SPEAKER.voice(ENDPOINT, ask, request_id="r", created=0),
            framing=SPEAKER.framing,
            ask=ask,
            script=script,
            received_s=clock(),
            effect=lambda: effect_at(faults or {}, clock() - START_S),
        )
        with contextlib.suppress(ConnectionError):
            await one.send()
        return one.sent

    return wire, run_virtually(main())


def effect_at(faults: dict[float, Effect], now_s: float) -> Effect:
    held = [effect for since, effect in sorted(faults.items()) if since <= now_s + 1e-9]
    return held[-1] if held else NO_EFFECT


@pytest.mark.parametrize(("speed", "block"), [(62.0, 1), (1753.0, 4), (857.0, 16), (51.7, 1)])
def test_each_piece_goes_out_at_its_moment(speed, block):
    wire, sent = stream(speed=speed, block=block)

    written = [*range(block, 300, block), 300]
    expected = [0.4 + (tokens - block) / speed for tokens in written]
    assert wire.moments() == pytest.approx(expected, abs=1e-9)
    assert sent.tokens_per_s == pytest.approx(speed, rel=1e-9)
    assert sent.tokens == 300


def test_head_and_role_come_before_the_first_token():
    wire, sent = stream()

    assert wire.written[0][1].startswith(b"HTTP/1.1 200")
    assert ROLE in wire.written[1][1]
    assert wire.written[1][0] == pytest.approx(0.2)
    assert sent.first_s == pytest.approx(0.4)


def test_the_end_comes_a_token_later_and_at_most_five_milliseconds():
    for speed, gap in ((62.0, 0.005), (500.0, 0.002)):
        wire, sent = stream(speed=speed)

        assert b"[DONE]" in wire.written[-1][1]
        assert wire.written[-1][0] - sent.last_s == pytest.approx(gap)
        assert sent.end == "complete"


def test_a_late_first_token_delays_and_leaves_the_speed():
    _, sent = stream(faults={0: Effect(ttft_add_s=2.0)})

    assert sent.first_s == pytest.approx(2.4)
    assert sent.tokens_per_s == pytest.approx(62.0)


def test_a_slower_speed_leaves_the_first_token():
    _, sent = stream(faults={0: Effect(factor=0.5)})

    assert sent.first_s == pytest.approx(0.4)
    assert sent.tokens_per_s == pytest.approx(31.0)


def test_a_slowdown_takes_hold_of_a_stream_under_way():
    wire, _ = stream(tokens=100, speed=100.0, faults={0.9: Effect(factor=0.5)})

    gaps = [later - at for at, later in itertools.pairwise(wire.moments())]
    assert gaps[:49] == pytest.approx([0.01] * 49)
    assert gaps[51:] == pytest.approx([0.02] * 48)


def test_a_stalled_stream_goes_on_when_the_fault_is_taken_away():
    stalled = {0.0: Effect(is_stalled=True), 5.0: NO_EFFECT}

    wire, sent = stream(tokens=100, speed=100.0, faults=stalled)

    moments = wire.moments()
    gaps = [later - at for at, later in itertools.pairwise(moments)]
    assert [n for n, gap in enumerate(gaps) if gap > 0.011] == [24]
    assert moments[25] == pytest.approx(5.0, abs=LOOK_S)
    assert sent.end == "complete"


def test_a_stalled_stream_ends_when_the_client_leaves():
    wire, sent = stream(tokens=100, faults={0.0: Effect(is_stalled=True)}, client_leaves_s=30.0)

    assert (sent.end, sent.tokens) == ("client_gone", 25)
    assert wire.is_cut


def test_a_disconnected_stream_breaks_off_midway():
    wire, sent = stream(tokens=100, faults={0.0: Effect(is_disconnected=True)})

    assert (sent.end, sent.tokens) == ("disconnected", 25)
    assert wire.is_cut


def test_one_piece_has_no_speed():
    _, sent = stream(tokens=1)

    assert sent.tokens_per_s is None


def test_hidden_reasoning_delays_the_first_token_and_is_billed():
    wire, sent = stream(tokens=100, speed=50.0, reasons=True, shown=0.0)

    assert (sent.tokens, sent.reasoning_tokens) == (75, 0)
    assert sent.first_s == pytest.approx(0.4 + 25 / 50)
    assert b'"completion_tokens":100' in wire.written[-1][1]


def test_hidden_reasoning_slows_down_with_the_rest():
    halved = {0.0: Effect(factor=0.5)}

    _, sent = stream(tokens=100, speed=50.0, reasons=True, shown=0.0, faults=halved)

    assert sent.first_s == pytest.approx(0.4 + 25 / 25)


def test_an_error_midway_takes_the_place_of_the_rest():
    wire, sent = stream(tokens=100, faults={0.0: Effect(trouble=Trouble.OVERLOADED)})

    assert (sent.end, sent.tokens) == ("stream_error", 25)
    assert b'"error"' in wire.written[-1][1]
    assert b"[DONE]" not in wire.written[-1][1]


def test_a_filtered_answer_ends_midway_and_says_so():
    wire, sent = stream(tokens=100, faults={0.0: Effect(is_filtered=True)})

    assert (sent.end, sent.tokens) == ("filtered", 25)
    assert b'"finish_reason":"content_filter"' in wire.written[-1][1]
    assert b'"completion_tokens":25' in wire.written[-1][1]


def test_an_empty_answer_ends_well():
    wire, sent = stream(tokens=100, faults={0.0: Effect(is_empty=True)})

    assert (sent.end, sent.tokens, wire.moments()) == ("empty", 0, [])
    assert b'"finish_reason":"stop"' in wire.written[-1][1]
    assert b"[DONE]" in wire.written[-1][1]


@pytest.mark.parametrize(
    ("how", "last"),
    [(How.CLEAN_CLOSE, b"0\r\n\r\n"), (How.GARBAGE, SPEAKER.framing.garbage())],
)
def test_a_broken_server_breaks_off_midway(how, last):
    wire, sent = stream(tokens=100, faults={0.0: Effect(how=how)})

    assert (sent.end, sent.tokens) == ("broken", 25)
    assert last in wire.written[-1][1]
