"""Where the tables go: to the screen, and into the page of the docs that shows them."""

import re
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/explanation/judging.md"


class Section:
    """One table with a line that says how it was made."""

    def __init__(self, name: str, how: str) -> None:
        """Begin a section; the page has a place of that name."""
        self.name = name
        self.lines = [f"Measured on {datetime.now(UTC):%Y-%m-%d}, {how}.", ""]
        print(f"\n## {name}\n\n{self.lines[0]}\n")

    def head(self, *cells: str) -> None:
        """Add the head of a table."""
        self.row(*cells)
        self.row(*["---"] * len(cells))

    def row(self, *cells: object) -> None:
        """Add a row."""
        self.lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
        print(self.lines[-1], flush=True)

    def write(self) -> None:
        """Put the section into its place of the page."""
        page = PAGE.read_text("utf-8")
        begin, end = f"<!-- measured: {self.name} -->", "<!-- end -->"
        if begin not in page:
            raise SystemExit(f"{PAGE.name} has no place {begin}")
        text = "\n".join((begin, "", *self.lines, "", end))
        found = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        PAGE.write_text(found.sub(lambda _: text, page, count=1), "utf-8")


def seeds_text(seeds: range, starts: int | None = None) -> str:
    """Return the seeds in words."""
    each = "" if starts is None else f", {starts} starts each"
    return f"seeds {seeds.start} to {seeds.stop - 1}{each}"


def poisson(count: int) -> tuple[float, float]:
    """Return about the 95 % interval of a count's mean."""
    low = 0.0 if count == 0 else count * (1 - 1 / (9 * count) - 1.96 / (3 * count**0.5)) ** 3
    over = count + 1
    return low, over * (1 - 1 / (9 * over) + 1.96 / (3 * over**0.5)) ** 3
