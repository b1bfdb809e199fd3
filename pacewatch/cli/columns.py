"""Columns of block characters: how much text came in each slice of a time."""

from collections.abc import Collection, Sequence

from rich.text import Text

from pacewatch.words.timing import ANSWER, REASONING, TOOL

_HEIGHTS = "▁▂▃▄▅▆▇█"
_PASSED = "·"
_COLOURS = {REASONING: "magenta", ANSWER: "cyan", TOOL: "yellow"}
_NAMES = {REASONING: "reasoning", ANSWER: "answer", TOOL: "tool call"}


def columns_text(heights: Sequence[int], kinds: Sequence[str], *, passed: int = 0) -> Text:
    """Return a column for each height, the greatest a full one, in the colour of its kind.

    Of the first `passed` cells, those in which nothing came have a dot.
    """
    most = max(heights, default=0)
    line = Text(no_wrap=True, overflow="crop")
    for cell, (height, kind) in enumerate(zip(heights, kinds, strict=True)):
        if height:
            mark = _HEIGHTS[-(-height * len(_HEIGHTS) // most) - 1]
            line.append(mark, style=_COLOURS.get(kind, ""))
        else:
            line.append(_PASSED if cell < passed else " ", style="dim")
    return line


def legend(kinds: Collection[str]) -> list[Text]:
    """Return the line that says what the colours mean; none where there is one kind alone."""
    told = [kind for kind in _COLOURS if kind in kinds]
    if len(told) < 2:
        return []
    return [Text(" ").join(Text(f"█ {_NAMES[kind]}", _COLOURS[kind]) for kind in told)]
