"""Undoes an answer's compression as the bytes come, never more at a time than asked."""

import zlib
from collections.abc import Iterator

from probe.protocols.interface import MalformedAnswer

PORTION_BYTES = 128 * 1024
"""The most that is unpacked at once, however small what it comes from."""


class Unpacker:
    """The content coding of one answer."""

    def __init__(self, coding: str) -> None:
        """Begin; raises MalformedAnswer for a coding that was not asked for and is not known."""
        self._inflater: zlib._Decompress | None = None
        coding = coding.strip().lower()
        if coding in ("gzip", "x-gzip"):
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        elif coding == "deflate":
            self._inflater = zlib.decompressobj()
        elif coding not in ("", "identity"):
            raise MalformedAnswer("unknown_coding")

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what these bytes unpack to, in portions; raises MalformedAnswer."""
        if self._inflater is None:
            yield data
            return
        while True:
            try:
                out = self._inflater.decompress(data, PORTION_BYTES)
            except zlib.error:
                raise MalformedAnswer("bad_compression") from None
            if out:
                yield out
            data = self._inflater.unconsumed_tail
            if not data and len(out) < PORTION_BYTES:
                return
