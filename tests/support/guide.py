"""Follows a page: writes the files it shows and adds the lines it names, in a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FILE = re.compile(
    r"^A new file `([\w/.-]+)`.*?^```(?:python|json)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
_LINE = re.compile(r"^Add `(.+?)` to `(\w+)` in `([\w/]+\.py)`\.", re.MULTILINE)
_IMPORT = re.compile(r"^Import it there: `(.+?)`\.", re.MULTILINE)


def page(name: str) -> str:
    """The text of a page of the docs."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def copy_tree(folder: Path, *names: str) -> Path:
    """Copy these parts of the repository there."""
    for name in names:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copy(source, target)
    return folder


def follow(text: str, tree: Path) -> None:
    """Do what the page says with files and lines, in its order."""
    steps = [found for kind in (_FILE, _LINE, _IMPORT) for found in kind.finditer(text)]
    edited = tree
    for step in sorted(steps, key=lambda found: found.start()):
        if step.re is _FILE:
            (tree / step[1]).parent.mkdir(exist_ok=True)
            (tree / step[1]).write_text(step[2], encoding="utf-8")
        elif step.re is _LINE:
            edited = tree / step[3]
            _add(edited, step[1], step[2])
        else:
            _import(edited, step[1])


def _add(file: Path, line: str, name: str) -> None:
    """Add a line before the first member of a class or a table."""
    lines = file.read_text(encoding="utf-8").split("\n")
    begins = re.compile(rf"(class )?{name}\b.*[=:(]")
    start = next(n for n, text in enumerate(lines) if begins.match(text))
    member = re.compile(r" +(\w+ = |\w+\.\w+[,:])")
    place = next(n for n in range(start + 1, len(lines)) if member.match(lines[n]))
    indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
    lines.insert(place, indent + line)
    file.write_text("\n".join(lines), encoding="utf-8")


def _import(file: Path, line: str) -> None:
    lines = file.read_text(encoding="utf-8").split("\n")
    place = next(n for n, text in enumerate(lines) if text.startswith("from "))
    lines.insert(place, line)
    file.write_text("\n".join(lines), encoding="utf-8")


def run_in(tree: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a tree, whose packages go before any other's."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    paths = os.pathsep.join([str(tree), str(tree / "tests")])
    return subprocess.run(
        [sys.executable, "-B", *words],
        cwd=tree,
        env={**kept, "HOME": str(tree), "PYTHONPATH": paths, "COLUMNS": "100", **more},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
