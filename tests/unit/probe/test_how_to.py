"""What docs/how-to/add-a-protocol.md tells to write is a protocol that works."""

import re
from pathlib import Path
from types import ModuleType

from support.probing import own_endpoint
from support.voices import account

from pacewatch.sim.faults import Trouble
from pacewatch.sim.refusals import Refusal, refuse_midway
from pacewatch.sim.script import Ask, Piece
from pacewatch.sim.voices.interface import Speaker
from probe.protocols.interface import Chunk, End, Frame, StreamFault, WireProtocol

PAGE = Path(__file__).parents[3] / "docs/how-to/add-a-protocol.md"


def told_modules() -> tuple[ModuleType, ModuleType]:
    """The two modules of the page's code: reader and voice."""
    modules = []
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        module = ModuleType("plain_words")
        exec(code, module.__dict__)  # noqa: S102 - our own page
        modules.append(module)
    reader, voice = modules
    return reader, voice


def told_protocol() -> WireProtocol:
    """The protocol of the page's code."""
    protocol: WireProtocol = told_modules()[0].PlainWords()
    return protocol


def test_the_pages_protocol_asks_and_reads():
    protocol = told_protocol()
    (frame,) = protocol.framing().feed(b'data: {"word": "tide"}\n\n')

    assert protocol.path(own_endpoint("http://host")) == "/words"
    assert protocol.body(own_endpoint("http://host"), "now", 5) == {"model": "tide-1", "ask": "now"}
    assert list(protocol.read(frame)) == [Chunk(kind="a", text="tide")]
    assert list(protocol.read(Frame(name="", data="{}"))) == [End(is_last=True)]
    assert list(protocol.read_whole(b'{"error": {"code": 7}}')) == [StreamFault(code="7")]


def test_the_pages_voice_is_understood_by_its_reader():
    speaker: Speaker = told_modules()[1].PlainWordsSpeaker()
    protocol, endpoint = told_protocol(), own_endpoint("http://host")
    ask = speaker.hear(protocol.body(endpoint, "now", 5), endpoint, {})
    assert isinstance(ask, Ask)
    voice = speaker.voice(endpoint, ask, request_id="r", created=0)
    word = Piece(text="tide", tokens=1, is_reasoning=False, is_last=True)
    said = voice.opening() + voice.piece(word) + voice.closing(account())
    said += voice.trouble(refuse_midway(Trouble.OVERLOADED))

    pieces = [p for frame in protocol.framing().feed(said) for p in protocol.read(frame)]

    assert [place.path("m") for place in speaker.places("/v1", "own")] == ["/v1/words"]
    assert pieces == [
        Chunk(kind="a", text="tide"),
        End(is_last=True),
        StreamFault(code="overloaded"),
    ]
    assert isinstance(speaker.hear({}, endpoint, {}), Refusal)


def test_the_page_tells_every_piece():
    named = set(re.findall(r"^\| `([A-Za-z]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))

    assert named == {
        *("Chunk", "Usage", "ServerTimings", "Identity"),
        *("Finish", "End", "AllTold", "StreamFault"),
    }
