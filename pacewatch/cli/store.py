"""`migrate`, `token`: the store and who may write to it."""

import typer


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
