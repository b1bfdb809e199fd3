"""What docs/how-to/add-a-protocol.md tells to write is a protocol that works."""

import re
from pathlib import Path
from types import ModuleType

from support.probing import own_endpoint

from probe.protocols.interface import Chunk, End, Frame, StreamFault, WireProtocol

PAGE = Path(__file__).parents[3] / "docs/how-to/add-a-protocol.md"


def told_protocol() -> WireProtocol:
    """The protocol of the page's code."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    module = ModuleType("plain_words")
    exec(code[1], module.__dict__)  # noqa: S102 - our own page
    protocol: WireProtocol = module.PlainWords()
    return protocol


def test_the_pages_protocol_asks_and_reads():
    protocol = told_protocol()
    (frame,) = protocol.framing().feed(b'data: {"word": "tide"}\n\n')

    assert protocol.path(own_endpoint("http://host")) == "/words"
    assert protocol.body(own_endpoint("http://host"), "now", 5) == {"model": "tide-1", "ask": "now"}
    assert list(protocol.read(frame)) == [Chunk(kind="a", text="tide")]
    assert list(protocol.read(Frame(name="", data="{}"))) == [End(is_last=True)]
    assert list(protocol.read_whole(b'{"error": {"code": 7}}')) == [StreamFault(code="7")]


def test_the_page_tells_every_piece():
    named = set(re.findall(r"^\| `([A-Za-z]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))

    assert named == {
        *("Chunk", "Usage", "ServerTimings", "Identity"),
        *("Finish", "End", "AllTold", "StreamFault"),
    }
