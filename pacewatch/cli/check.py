"""`check`, `plan`: read the file and say what would happen; nothing is sent."""

import typer


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
