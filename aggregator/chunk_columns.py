"""The columns of a record's chunks as few bytes, and back: deltas, cut into planes. Pure.

Most of a record is numbers: for each chunk its time, its size and its tokens. Times are kept as the
difference from the one before. A column takes as many bytes a number as its greatest needs, and its
lowest bytes stand together, then the next ones: planes of one kind compress far better than whole
numbers, or their digits, do.
"""

import sys
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
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
        if isinstance(chunks, dict) and is_foldable(chunks):
            rest = {name: value for name, value in chunks.items() if name not in _MEMBERS}
            left.append({**request, "chunks": rest})
            folded.append(place)
            columns.append(fold(chunks))
        else:
            left.append(request)
    return {**record, "requests": left}, folded, columns


def put_back(record: Any, folded: Sequence[int], columns: bytes) -> None:
    """Put columns back into the requests that they were taken out of."""
    start = 0
    for place in folded:
        found, start = unfold(columns, start)
        record["requests"][place]["chunks"].update(found)


def is_foldable(chunks: Mapping[str, Any]) -> bool:
    """Tell whether these chunks are whole columns of one length, as in every record of today."""
    at_us, kind = chunks.get("at_us"), chunks.get("kind")
    if not isinstance(kind, str) or not kind.isascii() or len(kind) >= 1 << 8 * _COUNT_BYTES:
        return False
    whole = all(_is_column(chunks.get(name), len(kind)) for name in NAMES)
    return whole and at_us == sorted(at_us or ())


def _is_column(column: Any, length: int) -> bool:
    return (
        isinstance(column, list)
        and len(column) == length
        and set(map(type, column)) <= {int}
        and (not column or (min(column) >= 0 and max(column) < 2**64))
    )


def fold(chunks: Mapping[str, Any]) -> bytes:
    """Return the columns of foldable chunks as bytes."""
    at_us, sizes, tokens = (chunks[name] for name in NAMES)
    deltas = [*at_us[:1], *map(sub, at_us[1:], at_us)]
    count = len(at_us).to_bytes(_COUNT_BYTES, "little")
    return b"".join(
        (count, _planes(deltas), _planes(sizes), _planes(tokens), chunks["kind"].encode())
    )


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
    width = next(width for width in _CODES if most < 1 << 8 * width)
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
