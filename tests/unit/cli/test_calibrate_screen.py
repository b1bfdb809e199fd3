from pacewatch.cli.calibrate_screen import document, screen
from pacewatch.cli.render import to_string
from pacewatch.words.timing import Stamp
from probe.calibration import Play, Played
from probe.timing_error import Raw


def played(
    *, late_s: float = 0.00002, lost: int = 0, is_tls: bool = False, rate: int = 80
) -> Played:
    return Played(
        play=Play(tokens_per_s=rate, streams=10, is_tls=is_tls, tokens=80),
        raw=Raw(
            ttft_s=(0.0001, late_s), arrival_s=(late_s,) * 80, speed=(0.0004, 0.001), lost=lost
        ),
        stamp=Stamp.KERNEL,
    )


def test_a_calibration_within_its_limits(golden):
    told = document([played(), played(is_tls=True, rate=1753)], priority="short_slice")

    assert told["over"] == []
    golden("cli/calibrate-100.txt", to_string(*screen(told, width=100), width=100))


def test_a_calibration_over_its_limits(golden):
    told = document([played(late_s=0.02, lost=1)], priority=None)

    assert told["over"] == ["lost", "ttft"]
    golden("cli/calibrate-over-130.txt", to_string(*screen(told, width=130), width=130))


def test_the_document_holds_each_play_and_all_together():
    told = document([played(), played(lost=2)], priority="realtime")

    assert [play["lost"] for play in told["plays"]] == [0, 2]
    assert (told["all"]["requests"], told["all"]["lost"]) == (4, 2)
    assert told["plays"][0]["arrival_p50_s"] == 0.00002
    assert set(told["limits"]) == {"ttft_p99_s", "speed_p50_ratio", "speed_worst_ratio"}
