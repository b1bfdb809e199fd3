"""Event-stream framing: bytes in any portions -> events. Bounded, and exact about what ends a line.

Lines end with CR LF, LF or CR. An event is whole with its blank line, even where that line's CR is
the last byte that came and its LF is still to come. Lines are decoded whole, so a portion may part
a character.
"""

from probe.protocols.interface import Frame, MalformedAnswer

MAX_LINE_BYTES = 1024 * 1024
"""Of one line, and of the data of one event."""

MAX_PLAIN_BYTES = 64 * 1024
"""Of a body that is no event stream, kept to see whether it tells an error."""

_BOM = b"\xef\xbb\xbf"
_CR, _LF = 0x0D, 0x0A
_NO_STREAM = frozenset(b"{[<")
"""First bytes of JSON and of HTML; no line of an event stream begins with one."""

_FIELDS = frozenset({b"data", b"event", b"id", b"retry", b""})
"""The fields of an event stream; the empty one is a comment's."""


class EventStream:
    """The framing of one answer."""

    def __init__(self) -> None:
        """Begin before the first byte."""
        self._rest = bytearray()
        self._has_begun = False
        self._skips_lf = False
        self._plain: bytearray | None = None
        self._fields = 0
        self._name = ""
        self._data: list[bytes] = []
        self._stray = bytearray()
        self._data_bytes = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Return the events that these bytes complete."""
        if not self._has_begun:
            data = self._begin(data)
        elif self._plain is not None:
            self._keep_plain(data)
            return []
        if self._skips_lf and data:
            self._skips_lf = False
            if data[0] == _LF:
                data = data[1:]
        if not data:
            return []
        if b"\n" not in data and b"\r" not in data:
            self._hold(data)
            return []
        block = bytes(self._rest + data) if self._rest else data
        self._rest.clear()
        lines = block.splitlines(keepends=True)
        last = lines[-1][-1]
        if last == _CR:
            self._skips_lf = True
        elif last != _LF:
            self._hold(lines.pop())
        return self._read(lines)

    def finish(self) -> list[Frame]:
        """Return the event that the body's end completes where its blank line is missing, and what
        was put into the stream as bare JSON, as some put an error.
        """
        if not self._has_begun or self._plain is not None:
            return []
        lines = [bytes(self._rest), b"\n"] if self._rest else [b"\n"]
        self._rest.clear()
        frames = self._read(lines)
        if self._stray:
            frames.append(Frame(name="", data=self._stray.decode("utf-8", "replace")))
        return frames

    def plain(self) -> bytes | None:
        """Return the start of the body where it is no event stream; None where it is one, or
        nothing came.
        """
        if self._plain is not None:
            return bytes(self._plain)
        return None if self._fields or not self._has_begun else b""

    def _begin(self, data: bytes) -> bytes:
        """Return what the lines are read from; nothing yet while only white space has come."""
        self._rest += data
        start = bytes(self._rest)
        if _BOM.startswith(start):
            return b""
        start = start.removeprefix(_BOM)
        told = start.lstrip()
        if not told and len(start) < MAX_PLAIN_BYTES:
            return b""
        self._has_begun = True
        self._rest.clear()
        if told and told[0] in _NO_STREAM:
            self._plain = bytearray()
            self._keep_plain(told)
            return b""
        return start

    def _keep_plain(self, data: bytes) -> None:
        if self._plain is not None and len(self._plain) < MAX_PLAIN_BYTES:
            self._plain += data[: MAX_PLAIN_BYTES - len(self._plain)]

    def _hold(self, data: bytes) -> None:
        self._rest += data
        if len(self._rest) > MAX_LINE_BYTES:
            raise MalformedAnswer("line_too_long")

    def _read(self, lines: list[bytes]) -> list[Frame]:
        frames: list[Frame] = []
        for raw in lines:
            line = raw.rstrip(b"\r\n")
            if line:
                self._take(line)
            else:
                if self._data:
                    data = b"\n".join(self._data) if len(self._data) > 1 else self._data[0]
                    frames.append(Frame(name=self._name, data=data.decode("utf-8", "replace")))
                    self._data.clear()
                    self._data_bytes = 0
                self._name = ""
        return frames

    def _take(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        if field in _FIELDS:
            self._fields += 1
        elif (self._stray or line[0] in _NO_STREAM) and len(self._stray) < MAX_PLAIN_BYTES:
            self._stray += line
        if value[:1] == b" ":
            value = value[1:]
        if field == b"data":
            self._data_bytes += len(value) + 1
            if self._data_bytes > MAX_LINE_BYTES:
                raise MalformedAnswer("event_too_long")
            self._data.append(value)
        elif field == b"event":
            self._name = value[:200].decode("utf-8", "replace")
