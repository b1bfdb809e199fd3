"""Ports that stay the same between starts."""

import socket

import pytest

from pacewatch.stack.ports import kept_port, why_no_listening


def test_a_port_stays_the_same(tmp_path):
    assert kept_port(tmp_path / "port") == kept_port(tmp_path / "port")


def test_a_port_that_is_taken_meanwhile_is_changed(tmp_path):
    first = kept_port(tmp_path / "port")

    with socket.create_server(("127.0.0.1", first)):
        second = kept_port(tmp_path / "port")

    assert first != second
    assert second == kept_port(tmp_path / "port")


@pytest.mark.parametrize("held", [b"", b"garbage", b"99999999", b"-1", b"\xff"])
def test_a_file_that_remembers_no_port_is_written_anew(tmp_path, held):
    (tmp_path / "port").write_bytes(held)

    found = kept_port(tmp_path / "port")

    assert (tmp_path / "port").read_text() == str(found)


def test_a_port_that_is_taken_is_told_in_words():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert why_no_listening("127.0.0.1", taken.getsockname()[1]) == "Address already in use"


def test_a_free_port_has_nothing_to_tell():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    assert why_no_listening("127.0.0.1", port) is None
