import socket
from collections.abc import Iterator

import pytest

from probe import sending


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def test_what_is_sent_arrives(pair):
    ours, theirs = pair
    data = memoryview(bytearray(b"one two three"))

    assert sending.send(ours, data[4:]) == 9
    assert theirs.recv(100) == b"two three"


def test_a_full_socket_says_so_and_does_not_wait(pair):
    ours, _ = pair
    data = memoryview(bytearray(1 << 20))
    with pytest.raises(BlockingIOError):
        while True:
            sending.send(ours, data)


def test_a_socket_whose_other_side_is_gone_is_an_error_and_no_signal(pair):
    ours, theirs = pair
    theirs.close()
    with pytest.raises(BrokenPipeError):
        sending.send(ours, memoryview(bytearray(b"x")))
