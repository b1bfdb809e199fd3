"""The command line: mounts the command files, and turns our errors into one sentence and an exit
code.

0: fine. 1: a problem was found, or a part failed. 2: wrong use, or a file or an environment that
cannot be. 130: stopped by Ctrl-C.
"""

import os
import sys
from importlib import import_module
from io import TextIOWrapper

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

MOST_FAULTS = 40
"""Sentences that are printed of one error; a file can have thousands of faults."""

COMMAND_FILES = (
    "up",
    "check",
    "probe",
    "calibrate",
    "read",
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
        app()
    except PacewatchError as error:
        if os.environ.get("PACEWATCH_DEBUG"):
            raise
        for line in lines_of(error):
            typer.echo(f"pacewatch: {line}", err=True)
        sys.exit(2 if isinstance(error, SettingsError) else 1)


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
