"""`probe`: one run here and now, figures on the screen."""

import typer


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
