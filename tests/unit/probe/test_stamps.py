"""The kernel's stamps on our clock, and what a read of several packets says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.entries import DATA, ENTRY, take_entries
from probe.stamps import TOLERANCE_NS, Portion, arrived_ns, offset_ns

WALL_NS, MONOTONIC_NS = 1_790_000_000_000_000_000, 5_000_000_000
OFFSET_NS = offset_ns(WALL_NS, MONOTONIC_NS)


def mapped(kernel_ns: int) -> int | None:
    return arrived_ns(
        kernel_ns, OFFSET_NS, after_ns=MONOTONIC_NS, until_ns=MONOTONIC_NS + 1_000_000
    )


def test_a_stamp_of_the_wall_clock_is_put_on_the_monotonic_one():
    assert mapped(WALL_NS + 400_000) == MONOTONIC_NS + 400_000


def test_a_read_without_a_stamp_has_none():
    assert mapped(0) is None


@pytest.mark.parametrize("step_ns", [-128_000_000, 128_000_000, 3_600_000_000_000])
def test_a_stamp_from_before_the_wall_clock_was_set_is_refused(step_ns):
    assert mapped(WALL_NS + 400_000 + step_ns) is None


@pytest.mark.parametrize(
    ("kernel_ns", "at_ns"),
    [
        (WALL_NS - TOLERANCE_NS, MONOTONIC_NS),
        (WALL_NS + 1_000_000 + TOLERANCE_NS, MONOTONIC_NS + 1_000_000),
    ],
)
def test_a_stamp_just_outside_its_bounds_is_taken_for_the_bound(kernel_ns, at_ns):
    assert mapped(kernel_ns) == at_ns


def test_a_stamp_further_outside_is_refused():
    assert mapped(WALL_NS - TOLERANCE_NS - 1) is None
    assert mapped(WALL_NS + 1_000_000 + TOLERANCE_NS + 1) is None


@given(kernel_ns=st.integers(0, 2 * WALL_NS), offset=st.integers(-(10**12), 2 * WALL_NS))
def test_a_mapped_stamp_never_leaves_its_bounds(kernel_ns, offset):
    at_ns = arrived_ns(kernel_ns, offset, after_ns=MONOTONIC_NS, until_ns=MONOTONIC_NS + 1_000)

    assert at_ns is None or MONOTONIC_NS <= at_ns <= MONOTONIC_NS + 1_000


@pytest.mark.parametrize(
    ("packets", "events", "is_blurred"),
    [(1, 1, False), (1, 50, False), (3, 1, False), (2, 2, True), (0, 2, False)],
    ids=["one", "a burst in one packet", "a long event", "two merged", "packets not told"],
)
def test_only_several_packets_with_several_events_are_blurred(packets, events, is_blurred):
    portion = Portion(data=b"x", stamp_ns=1, packets=packets, events=events)

    assert portion.is_blurred is is_blurred


def entry(number: int, data: bytes) -> bytes:
    return ENTRY.pack(DATA, 1, number, len(data), 7, 8, 9) + data


@given(
    datas=st.lists(st.binary(max_size=300), max_size=8),
    cuts=st.lists(st.integers(1, 200), max_size=40),
)
def test_entries_come_out_whole_wherever_they_were_cut(datas, cuts):
    stream = b"".join(entry(number, data) for number, data in enumerate(datas))
    came, taken = bytearray(), []
    for size in [*cuts, len(stream)]:
        came += stream[:size]
        stream = stream[size:]
        taken += take_entries(came)

    assert [(told[2], data) for told, data in taken] == list(enumerate(datas))
    assert came == b""
