"""`simulate`: switch faults of the demo's simulator on and off."""

import typer


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
