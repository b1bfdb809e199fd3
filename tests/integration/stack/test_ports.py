"""Ports that stay the same between starts."""

import socket

from pacewatch.stack.ports import kept_port, why_no_listening


def test_a_port_stays_the_same(tmp_path):
    assert kept_port(tmp_path / "port") == kept_port(tmp_path / "port")


def test_a_port_that_is_taken_meanwhile_is_changed(tmp_path):
    first = kept_port(tmp_path / "port")

    with socket.create_server(("127.0.0.1", first)):
        second = kept_port(tmp_path / "port")

    assert first != second
    assert second == kept_port(tmp_path / "port")


def test_a_port_that_is_taken_is_told_in_words():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert why_no_listening("127.0.0.1", taken.getsockname()[1]) == "Address already in use"


def test_a_free_port_has_nothing_to_tell():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    assert why_no_listening("127.0.0.1", port) is None
