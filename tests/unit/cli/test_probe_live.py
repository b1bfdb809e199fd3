import pytest

from pacewatch.cli.probe_live import Picture
from pacewatch.cli.render import to_string
from pacewatch.words.outcome import Outcome
from probe.classify import Ending
from probe.protocols.interface import Chunk
from probe.seen import Seen
from probe.stamps import Portion

BEGAN_NS = 5_000_000_000
MS = 1_000_000


def picture(*seen, width=80, height=24, **fields):
    made = Picture("groq/x from here", width=width, height=height, **fields)
    made.begin(seen, BEGAN_NS)
    return made


def drawn(made, at_ms, width=80):
    return to_string(made.draw(BEGAN_NS + at_ms * MS), width=width).splitlines()


def say(seen, *at_ms, kind="a", text="word"):
    for ms in at_ms:
        seen.take(Chunk(kind=kind, text=text), Portion(data=b"", stamp_ns=BEGAN_NS + ms * MS))


def test_before_a_connection_stands_it_says_so():
    made = Picture("groq/x from here", width=80, height=24)

    assert drawn(made, 0) == ["groq/x from here", "connecting"]


def test_time_passes_in_dots_and_text_comes_in_columns():
    seen = Seen()
    made = picture(seen)
    say(seen, 500)

    track, axis, said = drawn(made, 750)[1:]

    columns = track[4 : 4 + made.cells]
    assert columns.count("·") == 3 * made.cells // 4 - 1
    assert columns[made.cells // 2] == "█"
    assert track.endswith("1 chunk")
    assert axis.endswith("1.00 s")
    assert said == "750 ms: answering, 1 chunk"


def test_the_track_doubles_its_span_and_loses_nothing():
    seen = Seen()
    made = picture(seen)
    say(seen, *range(0, 1000, 10))
    drawn(made, 990)
    say(seen, *range(3000, 4000, 10))

    track, axis, _ = drawn(made, 7000)[1:]

    assert axis.endswith("8.00 s")
    assert track.count("█") == made.cells // 4
    assert track.endswith("200 chunks")


def test_several_answers_have_one_axis_and_each_says_how_it_stands():
    seen = [Seen() for _ in range(3)]
    made = picture(*seen)
    say(seen[0], 1200)
    seen[2].ending = Ending(outcome=Outcome.RATE_LIMITED)

    lines = drawn(made, 1500)

    assert [line[:3].strip() for line in lines[1:4]] == ["1", "2", "3"]
    assert [line.split()[-2:] for line in lines[1:4]] == [
        ["1", "chunk"],
        ["·" * (made.cells * 3 // 4), "waiting"],
        ["rate", "limited"],
    ]
    assert lines[-1] == "1.50 s: 1 waiting, 1 answering, 1 over"


def test_more_answers_than_lines_are_counted():
    lines = drawn(picture(*(Seen() for _ in range(100)), height=24), 10)

    assert len(lines) < 24
    assert "and 81 more" in lines


@pytest.mark.parametrize("width", [20, 44, 80, 200])
def test_no_line_is_longer_than_the_screen(width):
    made = picture(Seen(), width=width)

    assert max(map(len, drawn(made, 500, width=width))) <= width


def test_without_tracks_it_is_two_lines():
    seen = Seen()
    made = picture(seen, has_tracks=False)
    say(seen, 10)

    assert drawn(made, 750) == ["groq/x from here", "750 ms: answering, 1 chunk"]
