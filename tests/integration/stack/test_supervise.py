"""The supervisor over real processes: order, death, restart, stop, and its own death."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pacewatch.stack.part import Part, Stop
from pacewatch.stack.supervise import Supervisor
from pacewatch.words.errors import StackError

PATIENCE_S = 30.0


def until(claim: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not claim():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


def pids(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def shell_part(
    folder: Path, name: str, script: str = "sleep 600", *, first: str = ":", **more
) -> Part:
    """A part that notes its process id at each start, after what it does first, and is ready when
    it has done so.
    """
    noted = folder / f"{name}.pids"
    return Part(
        name=name,
        command=("/bin/sh", "-c", f"{first}; echo $$ >> {noted}; {script}"),
        environment={"PATH": os.environ["PATH"]},
        folder=folder,
        **{"is_ready": noted.exists, **more},
    )


def asked_after(claim: Callable[[], bool], number: signal.Signals = signal.SIGTERM) -> None:
    """Send this process a signal once the claim is true."""

    def ask() -> None:
        until(claim)
        os.kill(os.getpid(), number)

    threading.Thread(target=ask, daemon=True).start()


def test_parts_of_a_later_start_wait_for_the_earlier(tmp_path):
    told = tmp_path / "order"
    first = shell_part(
        tmp_path, "first", f"sleep 0.3; echo first >> {told}; sleep 600", is_ready=told.exists
    )
    second = shell_part(tmp_path, "second", f"echo second >> {told}; sleep 600")

    with Supervisor(tmp_path, tell=lambda _: None) as supervisor:
        supervisor.begin(first)
        supervisor.wait_until_ready()
        supervisor.begin(second)
        supervisor.wait_until_ready()
        until(lambda: len(told.read_text().split()) == 2)

    assert told.read_text().split() == ["first", "second"]


def test_what_is_killed_starts_again_and_a_person_is_told(tmp_path):
    said: list[str] = []
    noted = tmp_path / "worker.pids"
    part = shell_part(tmp_path, "worker")

    def kill_it_once() -> bool:
        if len(pids(noted)) == 1:
            os.kill(pids(noted)[0], signal.SIGKILL)
            until(lambda: len(pids(noted)) == 2)
        return True

    with Supervisor(tmp_path, tell=said.append) as supervisor:
        supervisor.begin(part)
        supervisor.wait_until_ready()
        asked_after(kill_it_once)
        supervisor.watch()

    assert said == ["worker was ended by SIGKILL; it starts again in 0.5 s"]


def test_a_disk_that_is_full_when_a_part_starts_again_does_not_end_the_others(tmp_path):
    said: list[str] = []
    noted = tmp_path / "worker.pids"

    def prepare() -> None:
        if len(pids(noted)) == 1 and not said[1:]:
            raise OSError(errno.ENOSPC, "No space left on device", "postmaster.pid")

    def kill_it_once() -> bool:
        os.kill(pids(noted)[0], signal.SIGKILL)
        until(lambda: len(pids(noted)) == 2)
        return True

    with Supervisor(tmp_path, tell=said.append) as supervisor:
        supervisor.begin(shell_part(tmp_path, "worker", prepare=prepare))
        supervisor.wait_until_ready()
        asked_after(kill_it_once)
        supervisor.watch()

    assert said == [
        "worker was ended by SIGKILL; it starts again in 0.5 s",
        "worker cannot be started: postmaster.pid: No space left on device; it starts again in 1 s",
    ]


def test_a_part_that_will_not_start_is_one_sentence_with_its_last_words(tmp_path):
    part = shell_part(
        tmp_path, "aggregator", "echo port 8420 is taken >&2; exit 1", is_ready=lambda: False
    )

    with (
        pytest.raises(StackError, match=r"^aggregator does not start: port 8420 is taken \("),
        Supervisor(tmp_path, tell=lambda _: None) as supervisor,
    ):
        supervisor.begin(part)
        supervisor.wait_until_ready()

    assert not any(psutil.pid_exists(pid) for pid in pids(tmp_path / "aggregator.pids"))


def test_a_program_that_is_not_there_is_one_sentence(tmp_path):
    part = Part(
        name="valkey",
        command=("/nonexistent/valkey-server",),
        environment={},
        folder=tmp_path,
        is_ready=lambda: True,
    )

    with (
        pytest.raises(StackError, match=r"^valkey: /nonexistent/valkey-server: No such file"),
        Supervisor(tmp_path, tell=lambda _: None) as supervisor,
    ):
        supervisor.begin(part)
        supervisor.wait_until_ready()


def test_parts_stop_in_reverse_order(tmp_path):
    told = tmp_path / "order"
    wait, say_bye = "while :; do sleep 0.05; done", "trap 'echo {0} >> {1}; exit 0' TERM"

    with Supervisor(tmp_path, tell=lambda _: None) as supervisor:
        for name in ("postgres", "aggregator", "worker"):
            supervisor.begin(shell_part(tmp_path, name, wait, first=say_bye.format(name, told)))
            supervisor.wait_until_ready()

    assert told.read_text().split() == ["worker", "aggregator", "postgres"]


def test_who_does_not_stop_in_time_is_killed_with_all_it_started(tmp_path):
    part = shell_part(
        tmp_path,
        "worker",
        f"trap '' TERM; (trap '' TERM; sleep 600) & echo $! >> {tmp_path}/child; "
        "while :; do sleep 0.05; done",
        is_ready=(tmp_path / "child").exists,
        stops=(Stop(signal=signal.SIGTERM, patience_s=0.2),),
    )

    with Supervisor(tmp_path, tell=lambda _: None) as supervisor:
        supervisor.begin(part)
        supervisor.wait_until_ready()

    until(lambda: not psutil.pid_exists(pids(tmp_path / "child")[0]))
    assert not psutil.pid_exists(pids(tmp_path / "worker.pids")[0])


def test_a_second_wish_does_not_wait_for_the_patience_of_the_first(tmp_path):
    heard = tmp_path / "heard"
    part = shell_part(
        tmp_path,
        "worker",
        "while :; do sleep 0.05; done",
        first=f"trap 'touch {heard}' TERM",
        stops=(Stop(signal=signal.SIGTERM, patience_s=600.0),),
    )

    with Supervisor(tmp_path, tell=lambda _: None) as supervisor:
        supervisor.begin(part)
        supervisor.wait_until_ready()
        asked_after(heard.exists)

    assert not psutil.pid_exists(pids(tmp_path / "worker.pids")[0])


def test_what_a_killed_part_has_started_goes_with_it(tmp_path):
    child = tmp_path / "child"
    part = shell_part(tmp_path, "worker", f"sleep 600 & echo $! >> {child}; wait")

    def kill_it_once() -> bool:
        until(child.exists)
        first = pids(child)[0]
        os.kill(pids(tmp_path / "worker.pids")[0], signal.SIGKILL)
        until(lambda: not psutil.pid_exists(first))
        return True

    with Supervisor(tmp_path, tell=lambda _: None) as supervisor:
        supervisor.begin(part)
        supervisor.wait_until_ready()
        asked_after(kill_it_once)
        supervisor.watch()


def test_a_live_process_that_does_nothing_is_started_again(tmp_path, monkeypatch):
    monkeypatch.setattr("pacewatch.stack.supervise._LOOK_S", 0.0)
    said: list[str] = []
    noted = tmp_path / "worker.pids"
    part = shell_part(tmp_path, "worker", is_well=lambda: len(pids(noted)) > 1, patience_s=0.2)

    with Supervisor(tmp_path, tell=said.append) as supervisor:
        supervisor.begin(part)
        supervisor.wait_until_ready()
        asked_after(lambda: len(pids(noted)) == 2)
        supervisor.watch()

    assert said[0] == "worker has done nothing for 0.2 s; it is killed"


def test_the_terminals_interrupt_reaches_the_supervisor_alone(tmp_path):
    with Supervisor(tmp_path, tell=lambda _: None) as supervisor:
        supervisor.begin(shell_part(tmp_path, "worker"))
        supervisor.wait_until_ready()

        groups = {os.getpgid(pid) for pid in pids(tmp_path / "worker.pids")}

    assert os.getpgid(0) not in groups


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends orphans on Linux alone")
def test_a_killed_supervisor_leaves_no_orphan(tmp_path):
    program = textwrap.dedent(
        f"""
        from pathlib import Path
        from pacewatch.stack.part import Part
        from pacewatch.stack.supervise import Supervisor
        folder = Path({str(tmp_path)!r})
        part = Part(name="worker", environment={{"PATH": "/usr/bin:/bin"}}, folder=folder,
                    command=("/bin/sh", "-c", "echo $$ > worker.pids; exec sleep 600"),
                    is_ready=lambda: (folder / "worker.pids").exists())
        with Supervisor(folder, tell=print) as supervisor:
            supervisor.begin(part)
            supervisor.wait_until_ready()
            supervisor.watch()
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    until(lambda: bool(pids(tmp_path / "worker.pids")))

    process.kill()
    process.wait()

    until(lambda: not psutil.pid_exists(pids(tmp_path / "worker.pids")[0]))


def test_the_environment_of_a_part_is_what_it_was_given(tmp_path, monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "secret")
    part = shell_part(tmp_path, "beat", f"env > {tmp_path}/env; sleep 600")

    with Supervisor(tmp_path, tell=lambda _: None) as supervisor:
        supervisor.begin(part)
        supervisor.wait_until_ready()
        until(lambda: "PWD" in (tmp_path / "env").read_text())

    assert "GROQ_API_KEY" not in (tmp_path / "env").read_text()
