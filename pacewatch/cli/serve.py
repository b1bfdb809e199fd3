"""`up`, `worker`, `beat`, `central`, `aggregator`: processes."""

import typer


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
