"""docs/how-to/add-a-protocol.md is whole; an integration test follows it."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/how-to/add-a-protocol.md"


def test_the_page_tells_every_piece():
    named = set(re.findall(r"^\| `([A-Za-z]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))

    assert named == {
        *("Chunk", "Whole", "Usage", "ServerTimings", "Identity"),
        *("Finish", "End", "AllTold", "StreamFault"),
    }
