"""Real endpoints cost money: a terminal is asked, once."""

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers import short_folder
from support.stack import PATIENCE_S, environment, free_port, up_command

OWN = '[[endpoint]]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "smollm2"\n'
QUESTION = "Probe them, for at most US$ 5 a day, not counting 1 endpoint without a known price?"


class Terminal:
    """An `up` at a terminal of its own, and what it has shown there."""

    def __init__(self, folder: Path) -> None:
        self._leader, follower = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen(
            up_command("--listen", f"127.0.0.1:{free_port()}"),
            env=environment(folder / "state", TERM="dumb"),
            cwd=folder,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        )
        os.close(follower)

    def read_until(self, text: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            if select.select([self._leader], [], [], 0.2)[0]:
                try:
                    self.shown += os.read(self._leader, 4_096).decode(errors="replace")
                except OSError as error:  # Linux says so at the end
                    raise AssertionError(self.shown) from error

    def type(self, text: str) -> None:
        os.write(self._leader, text.encode())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._leader)


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        (made / "pacewatch.toml").write_text(OWN)
        yield made


@pytest.fixture
def terminals(folder) -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def test_who_says_no_starts_nothing(folder, terminals):
    terminals.append(terminal := Terminal(folder))
    terminal.read_until(QUESTION)

    terminal.type("n\n")

    assert terminal.process.wait(PATIENCE_S) == 1
    assert not (folder / "state" / "postgres").exists()


def test_who_says_yes_is_not_asked_again(folder, terminals):
    for _ in range(2):
        terminals.append(terminal := Terminal(folder))
        if len(terminals) == 1:
            terminal.read_until(QUESTION)
            terminal.type("y\n")
        terminal.read_until("Board: ")
        terminal.process.send_signal(signal.SIGINT)
        terminal.read_until("Stopped")
        assert terminal.process.wait(PATIENCE_S) == 0

    assert QUESTION not in terminals[1].shown
