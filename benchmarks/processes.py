"""What processes take, by what a person calls them. Linux only."""

import os
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

TICKS_S = os.sysconf("SC_CLK_TCK")


def family(root: int, *, without: Collection[int] = ()) -> dict[int, str]:
    """Return the process and all that descend from it, with their names; some are left out with all
    that descends from them.
    """
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = {}, [root]
    while waiting:
        pid = waiting.pop()
        if pid in without:
            continue
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        found[pid] = name(words)
        waiting += parents.get(pid, [])
    return found


def name(words: list[bytes]) -> str:
    """Return what a person calls the process."""
    texts = [word.decode(errors="replace") for word in words if word]
    if "-m" in texts:
        module, *texts = [text for text in texts[texts.index("-m") + 1 :] if text != "--region"]
        return "-".join(texts[:2]) if texts[:1] == ["worker"] else (*texts, module)[0]
    program = texts[0].split(" ")[0].rpartition("/")[2] if texts else ""
    return "up" if program.startswith("python") else program.rstrip(":")


def pss_mb(pids: dict[int, str]) -> dict[str, float]:
    """Return the proportional set size by name, MB."""
    sums: dict[str, float] = {}
    for pid, who in pids.items():
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        kb = sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        sums[who] = sums.get(who, 0.0) + kb / 1024
    return sums


def cpu_s(pids: dict[int, str]) -> dict[str, float]:
    """Return the processor time by name, that of ended children included, seconds."""
    sums: dict[str, float] = {}
    for pid, who in pids.items():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        sums[who] = sums.get(who, 0.0) + sum(map(int, fields[11:15])) / TICKS_S
    return sums


@contextmanager
def watched(every_s: float = 0.5) -> Iterator[Callable[[], float]]:
    """Watch all that this process started; gives the most memory that they took together, MB."""
    most, ended = [0.0], threading.Event()

    def watch() -> None:
        while not ended.wait(every_s):
            ours = os.getpid()
            started = {pid: who for pid, who in family(ours).items() if pid != ours}
            most[0] = max(most[0], sum(pss_mb(started).values()))

    with ThreadPoolExecutor(max_workers=1) as pool:
        watching = pool.submit(watch)
        try:
            yield lambda: most[0]
        finally:
            ended.set()
        watching.result()
