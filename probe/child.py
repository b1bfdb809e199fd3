"""Light processes of our own: Python without site packages, without the environment's keys."""

import os
import sys
from pathlib import Path

_PROGRAM = """
import sys
from importlib import import_module
sys.path.append(sys.argv.pop(1))
import_module(sys.argv.pop(1)).main()
"""
_FOLDER = str(Path(__file__).resolve().parents[1])
_KEPT = ("PATH", "LD_LIBRARY_PATH")


def command(module: str, *words: str) -> list[str]:
    """Return the command line that runs a module's `main`; it may import the standard library and
    this package.
    """
    return [sys.executable, "-I", "-S", "-c", _PROGRAM, _FOLDER, module, *words]


def environment() -> dict[str, str]:
    """Return all of the environment that such a process needs: no key is in it."""
    return {name: value for name in _KEPT if (value := os.environ.get(name)) is not None}
