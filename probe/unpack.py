"""Undoes an answer's compression as the bytes come, never more at a time than asked."""

import zlib
from collections.abc import Iterator

from probe.protocols.interface import MalformedAnswer

PORTION_BYTES = 128 * 1024
"""The most that is unpacked at once, however small what it comes from."""


_GZIP, _ZLIB, _BARE = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
_GZIP_MARK = b"\x1f\x8b"

_NO_CODING = frozenset({"", "identity", "none"})
"""The last is no coding by any standard: some servers name it to keep proxies from packing."""


class Unpacker:
    """The content coding of one answer."""

    def __init__(self, coding: str) -> None:
        """Begin; raises MalformedAnswer for a coding that was not asked for and is not known."""
        codings = [one.strip().lower() for one in coding.split(",")]
        told = [one for one in codings if one not in _NO_CODING]
        self._inflater: zlib._Decompress | None = None
        self._is_gzip = told in (["gzip"], ["x-gzip"])
        self._is_begun = not told
        self._is_over = False
        if told and not self._is_gzip and told != ["deflate"]:
            raise MalformedAnswer("unknown_coding")

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what these bytes unpack to, in portions; raises MalformedAnswer."""
        if not self._is_begun and data:
            self._is_begun = True
            self._inflater = zlib.decompressobj(_GZIP if self._is_gzip else _window(data[0]))
        if self._inflater is None:
            yield data
            return
        while not self._is_over:
            try:
                out = self._inflater.decompress(data, PORTION_BYTES)
            except zlib.error:
                raise MalformedAnswer("bad_compression") from None
            if out:
                yield out
            data = self._inflater.unconsumed_tail
            if self._inflater.eof:
                data = self._begin_anew(self._inflater.unused_data)
            if not data and len(out) < PORTION_BYTES:
                return

    def _begin_anew(self, rest: bytes) -> bytes:
        """Return what is still to be unpacked after an end: another member of a gzip file, as some
        send after each flush; anything else is nothing, and neither is what follows it.
        """
        if self._is_gzip and rest[:2] == _GZIP_MARK:
            self._inflater = zlib.decompressobj(_GZIP)
            return rest
        self._is_over = not self._is_gzip or not _GZIP_MARK.startswith(rest[:2])
        return b""


def _window(first: int) -> int:
    """Return how a `deflate` is packed that begins with this byte: as it should be, or bare."""
    return _ZLIB if first & 0x0F == 8 and first >> 4 <= 7 else _BARE
