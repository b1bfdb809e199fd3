"""A `pacewatch.toml` for a test."""

from pathlib import Path


def with_file(folder: Path, text: str) -> dict[str, str]:
    """Write the file into a folder; return the environment that names it."""
    file = folder / "pacewatch.toml"
    file.write_text(text)
    return {"PACEWATCH_CONFIG": str(file)}
