"""The command line: mounts the command files, and turns our errors into one sentence and an exit
code.

0: fine. 1: a problem was found, or a part failed. 2: wrong use, or a file or an environment that
cannot be. 130: stopped by Ctrl-C.
"""

import logging
import os
import sys
import traceback
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

import typer

from pacewatch import __version__
from pacewatch.words.errors import PacewatchError, SettingsError

app = typer.Typer(
    name="pacewatch",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How fast the LLM providers you depend on are today, from every region you serve.",
    epilog="Exit code 0: fine. 1: a problem was found, or a part failed. 2: wrong use, or a file "
    "or an environment that cannot be. 130: stopped by Ctrl-C.",
)

_LOG = logging.getLogger(__name__)

MOST_FAULTS = 40
"""Sentences that are printed of one error; a file can have thousands of faults."""

COMMAND_FILES = (
    "up",
    "check",
    "probe",
    "calibrate",
    "backtest",
    "read",
    "incidents",
    "silence",
    "export",
    "evidence",
    "simulate",
    "notify",
    "grafana",
    "store",
    "doctor",
    "serve",
)
"""Files of this folder, as `--help` lists them; each adds its commands with `add_to(app)` and
imports heavy things inside them.
"""


def _show_version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Take the options that stand before a command."""


for _name in COMMAND_FILES:
    import_module(f"pacewatch.cli.{_name}").add_to(app)


def main() -> None:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a name that the terminal cannot write is no fault
            stream.reconfigure(errors="replace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # at the interpreter's end a full disk would be told by a traceback
    except Exception as error:  # nobody is shown a traceback who has not asked
        if os.environ.get("PACEWATCH_DEBUG"):
            raise
        _tell(error)
        sys.exit(2 if isinstance(error, SettingsError) else 1)


def _tell(error: Exception) -> None:
    """Say on standard error what ended the command; a process with a log keeps all of it there."""
    if isinstance(error, PacewatchError):
        for line in lines_of(error):
            typer.echo(f"pacewatch: {line}", err=True)
    elif _LOG.hasHandlers():
        _LOG.critical("process.failed", exc_info=error)
    else:
        typer.echo(f"pacewatch: {fault_line(error)}", err=True)
    if isinstance(error, OSError):  # standard output may hold what could not be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fault_line(error: Exception) -> str:
    """Return the sentence about an error that no part of ours has put into words."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'output'}: {error.strerror[:1].lower()}{error.strerror[1:]}"
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"a fault of Pacewatch itself: {type(error).__name__} in {Path(place.filename).name}, line "
        f"{place.lineno} (PACEWATCH_DEBUG=1 shows all of it)"
    )


def lines_of(error: PacewatchError) -> list[str]:
    """Return what is printed of an error: its sentences, the first MOST_FAULTS of them, without
    characters that move a cursor or turn the text around.
    """
    said = [
        "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
        for line in str(error).splitlines()
    ]
    left = len(said) - MOST_FAULTS
    return said[:MOST_FAULTS] + ([f"and {left:,} more"] if left > 0 else [])
