import pytest

from aggregator.detect.calibrate import HIGHEST, LOWEST, allowed_in, multiplier_of
from aggregator.detect.scope import Around, classify
from pacewatch.words.verdict import Blame, Trouble

SLOW = {"trouble": Trouble.FIRST_TOKEN, "suspect_z": (0.7, 0.8), "regions": 3}
WELL = (0.0, 0.05)


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        (Around(trouble=Trouble.QUOTA), Blame.QUOTA),
        (Around(trouble=Trouble.GONE), Blame.MODEL),
        (Around(**SLOW, prober_suspect=True), Blame.PROBER),
        (Around(**SLOW, prober_suspect=True, other_regions_z=WELL), Blame.PROBER),
        (Around(**SLOW, prober_suspect=True, other_regions_z=(0.7, 0.6)), Blame.PROVIDER),
        (Around(**SLOW, prober_suspect=True, providers_slow=4, providers=6), Blame.OURS),
        (Around(**SLOW, providers_slow=4, providers=6), Blame.OURS),
        (Around(**SLOW, other_regions_z=(0.7, 0.6)), Blame.PROVIDER),
        (Around(**SLOW, other_regions_z=(0.7, 0.6), providers_slow=2, providers=3), Blame.PROVIDER),
        (Around(**SLOW, other_regions_z=(0.7, 0.6), identity_changed=True), Blame.MODEL),
        (Around(**SLOW, other_regions_z=WELL), Blame.REGION_PATH),
        (Around(**SLOW, other_regions_z=WELL, network_z=0.5), Blame.REGION_PATH),
        (Around(**SLOW, other_regions_z=WELL, others_z=(0.6, 0.7)), Blame.PROBER),
        (Around(**SLOW, other_regions_z=WELL, others_z=(0.3,) * 5), Blame.REGION_PATH),
        (Around(**SLOW, other_regions_z=WELL, others_z=(0.3,) * 100), Blame.PROBER),
        (Around(**SLOW, others_z=(0.6, 0.7), network_z=0.5), Blame.REGION_PATH),
        (Around(**SLOW), Blame.UNKNOWN),
        (Around(trouble=Trouble.FIRST_TOKEN), Blame.PROVIDER),
        (Around(trouble=Trouble.FIRST_TOKEN, identity_changed=True), Blame.MODEL),
    ],
)
def test_each_class_is_named_and_says_why(around, expected):
    found = classify(around)

    assert found.blame is expected
    assert found.speaks_for


def test_one_region_says_that_it_cannot_tell_a_path_from_its_provider():
    found = classify(Around(trouble=Trouble.FIRST_TOKEN))

    assert found.speaks_against == ("or the path to it: one region cannot tell",)


def test_thresholds_rise_with_peaks_and_with_a_smaller_budget():
    peaks = [0.02 * k for k in range(40)]

    assert multiplier_of(peaks, allowed=1) > multiplier_of(peaks, allowed=5)
    assert multiplier_of([2 * p for p in peaks], allowed=1) > multiplier_of(peaks, allowed=1)


def test_calibration_stays_within_bounds_and_leaves_alone_what_it_knows_nothing_of():
    assert multiplier_of([], allowed=1) == 1
    assert multiplier_of([0.1] * 40, allowed=1) == LOWEST
    assert multiplier_of([9.0 + k for k in range(40)], allowed=1) == HIGHEST
    assert round(allowed_in(8, 1), 1) == 1.8


def test_regions_that_are_slow_themselves_share_the_trouble_of_the_worst_of_many():
    found = classify(
        Around(trouble=Trouble.FIRST_TOKEN, suspect_z=[2.0], other_regions_z=[0.4, 0.7], regions=8)
    )

    assert found.blame is Blame.PROVIDER


@pytest.mark.parametrize(
    ("trouble", "others", "said"),
    [
        (
            Trouble.FIRST_TOKEN,
            (0.7, 0.6),
            "see it too (at their median 1.9 times slower than usual)",
        ),
        (
            Trouble.OUTPUT_SPEED,
            (2.0, 2.0),
            "see it too (at their median over seven times slower than usual, or failing)",
        ),
        (
            Trouble.FAILURES,
            (2.0, 2.0, 0.0),
            "see it too (in half of them or more, half of the latest runs or more failed)",
        ),
        (Trouble.FIRST_TOKEN, (0.0, 0.04), "are well (at their median as usual)"),
        (Trouble.OUTPUT_SPEED, (0.2,), "are well (at their median 1.2 times slower than usual)"),
        (Trouble.FAILURES, (0.0, 0.0, 2.0), "are well (most of their latest runs went well)"),
    ],
)
def test_how_other_regions_are_is_told_without_our_own_words(trouble, others, said):
    around = Around(trouble=trouble, suspect_z=(2.0,), other_regions_z=others, regions=4)

    assert classify(around).speaks_for == (f"other regions {said}",)
