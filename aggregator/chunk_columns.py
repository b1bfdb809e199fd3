"""The columns of a record's chunks as few bytes, and back: deltas, cut into planes. Pure.

Most of a record is numbers: for each chunk its time, its size and its tokens. Times are kept as the
difference from the one before. A column takes as many bytes a number as its greatest needs, and its
lowest bytes stand together, then the next ones: planes of one kind compress far better than whole
numbers, or their digits, do.
"""

import sys
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from operator import sub
from typing import Any

NAMES = ("at_us", "bytes", "tokens")
"""Members of the chunks that are columns of numbers; the first one rises."""

_MEMBERS = frozenset({*NAMES, "kind"})
_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
_COUNT_BYTES = 4


def take_out(record: object) -> tuple[object, list[int], list[bytes]]:
    """Return a record without the columns that can be folded, the places of the requests that had
    them, and the columns as bytes. The record itself stays as it is.

    Whatever else a record of another version may hold is left in it.
    """
    requests = record.get("requests") if isinstance(record, dict) else None
    if not isinstance(record, dict) or not isinstance(requests, list):
        return record, [], []
    left, folded, columns = [], [], []
    for place, request in enumerate(requests):
        chunks = request.get("chunks") if isinstance(request, dict) else None
        held = fold(chunks) if isinstance(chunks, dict) else None
        if chunks is None or held is None:
            left.append(request)
            continue
        rest = {name: value for name, value in chunks.items() if name not in _MEMBERS}
        left.append({**request, "chunks": rest})
        folded.append(place)
        columns.append(held)
    return {**record, "requests": left}, folded, columns


def put_back(record: Any, folded: Sequence[int], columns: bytes) -> None:
    """Put columns back into the requests that they were taken out of."""
    start = 0
    for place in folded:
        found, start = unfold(columns, start)
        record["requests"][place]["chunks"].update(found)


def fold(chunks: Mapping[str, Any]) -> bytes | None:
    """Return the columns of chunks as bytes; None where they are no whole columns of one length, as
    in every record of today, or their times fall.
    """
    kind = chunks.get("kind")
    columns: list[Any] = [chunks.get(name) for name in NAMES]
    if not isinstance(kind, str) or not kind.isascii():
        return None
    if not all(isinstance(one, list) and len(one) == len(kind) for one in columns):
        return None
    at_us, sizes, tokens = columns
    if not set(map(type, chain(at_us, sizes, tokens))) <= {int}:
        return None
    count = len(kind).to_bytes(_COUNT_BYTES, "little")
    try:
        deltas = [*at_us[:1], *map(sub, at_us[1:], at_us)]
        return b"".join((count, _planes(deltas), _planes(sizes), _planes(tokens), kind.encode()))
    except OverflowError:  # below 0, or beyond 64 bits
        return None


def unfold(held: bytes, start: int) -> tuple[dict[str, Any], int]:
    """Return the columns whose bytes begin there, and where they end."""
    count = int.from_bytes(held[start : start + _COUNT_BYTES], "little")
    place = start + _COUNT_BYTES
    columns = []
    for _ in NAMES:
        column, place = _numbers(held, place, count)
        columns.append(column)
    columns[0] = list(accumulate(columns[0]))
    kind = held[place : place + count].decode()
    return dict(zip(NAMES, columns, strict=True)) | {"kind": kind}, place + count


def _planes(numbers: Sequence[int]) -> bytes:
    most = max(numbers, default=0)
    width = next((width for width in _CODES if most < 1 << 8 * width), 8)
    column = array(_CODES[width], numbers)
    if sys.byteorder == "big":
        column.byteswap()
    whole = column.tobytes()
    return b"".join((bytes((width,)), *(whole[plane::width] for plane in range(width))))


def _numbers(held: bytes, place: int, count: int) -> tuple[list[int], int]:
    width, end = held[place], place + 1 + held[place] * count
    whole = bytearray(width * count)
    for plane in range(width):
        whole[plane::width] = held[place + 1 + plane * count : place + 1 + (plane + 1) * count]
    column = array(_CODES[width], bytes(whole))
    if sys.byteorder == "big":
        column.byteswap()
    return column.tolist(), end
