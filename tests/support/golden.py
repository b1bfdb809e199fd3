"""Golden files: what people read, kept as they read it."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "golden"


def check_golden(name: str, text: str, *, anew: bool) -> None:
    """Compare a text with `tests/golden/<name>`; `anew` writes the file instead."""
    file = FOLDER / name
    if anew:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"{file} is missing: pytest --regold writes it"
    assert file.read_text(encoding="utf-8") == text, f"{file} differs: pytest --regold rewrites it"
