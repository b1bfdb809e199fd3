"""`board`, `status`: ask the aggregator."""

import typer


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
