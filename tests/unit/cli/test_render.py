import pytest

from pacewatch.cli.render import Column, bar, table, to_string

COLUMNS = (
    Column(name="Endpoint", gives_way=True),
    Column(name="tok/s", right=True),
    Column(name="Bar", narrow=False),
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1753.0, "████████"),
        (876.5, "████"),
        (27.4, "▏"),
        (1.0, ""),
        (0.0, ""),
        (3000.0, "████████"),
        (None, ""),
    ],
)
def test_a_bar_is_as_long_as_its_share_of_the_greatest(value, text):
    assert text == bar(value, 1753.0, cells=8)


def test_a_bar_of_nothing_is_empty():
    assert bar(0.0, 0.0, cells=8) == ""


def test_a_narrow_screen_leaves_out_what_can_be_spared_and_no_line_is_longer():
    rows = [("cerebras/gpt-oss-120b" * 4, "1,753", "█" * 30)]

    narrow = to_string(table(COLUMNS, rows, width=60), width=60)
    wide = to_string(table(COLUMNS, rows, width=140), width=140)

    assert "Bar" not in narrow
    assert "Bar" in wide
    assert max(map(len, narrow.splitlines())) <= 60


def test_a_name_can_neither_style_the_table_nor_move_the_cursor():
    rows = [("[red]x[/red]\x1b[2J\x07", "1", "")]

    shown = to_string(table(COLUMNS, rows, width=80), width=80)

    assert "[red]x[/red]\ufffd[2J\ufffd" in shown
    assert "\x1b" not in shown
