"""The page of the two wires has every member, and no other."""

import re
from pathlib import Path
from types import UnionType
from typing import Annotated, Union, get_args, get_origin

import pytest
from pydantic import BaseModel
from support.records import make_slot

from aggregator.admission import Status
from aggregator.api.workers import Heartbeat, HeartbeatAnswer
from aggregator.record import ConnectionPart, RequestPart, RunRecord
from pacewatch.words.outcome import Decline
from pacewatch.words.wire import encode_task

TEXT = (Path(__file__).parents[3] / "docs/reference/wire.md").read_text(encoding="utf-8")
_WORDS = re.compile(r"`([a-z_]+)`")


def table_of(heading: str) -> str:
    """What stands under a heading, up to the next one."""
    return re.split(r"\n##+ ", TEXT.partition(f"# {heading}\n")[2], maxsplit=1)[0]


def named(heading: str) -> list[str]:
    """The words in the first cells of the table under a heading."""
    cells = re.findall(r"^\| (`.*?`) \|", table_of(heading), re.MULTILINE)
    return [word for cell in cells for word in _WORDS.findall(cell)]


def part_of(annotation: object) -> type[BaseModel] | None:
    """The model that a member holds, alone or in a list; None for any other member."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Annotated, Union, UnionType, list):
        return next((one for arg in get_args(annotation) if (one := part_of(arg))), None)
    return None


@pytest.mark.parametrize(
    ("heading", "model"),
    [
        ("Record", RunRecord),
        ("Request", RequestPart),
        ("Connection", ConnectionPart),
        ("Heartbeat", Heartbeat),
    ],
)
def test_every_member_has_its_row(heading, model):
    assert sorted(named(heading)) == sorted(model.model_fields)


def test_the_members_of_a_member_stand_in_its_row():
    rows = {
        cells.split("`")[1]: cells for cells in table_of("Request").splitlines() if "| `" in cells
    }
    for name, field in RequestPart.model_fields.items():
        part = part_of(field.annotation)
        if part not in (None, ConnectionPart):
            for member in part.model_fields:
                assert f'"{member}"' in rows[name] or f"`{member}`" in rows[name], (name, member)


def test_a_task_has_the_fields_of_its_table():
    assert named("Task") == list(encode_task(make_slot()))


def test_the_answers_are_those_that_the_centre_gives():
    assert set(named("Reasons for declining")[1:]) == set(Decline)
    for status in Status:
        assert f"`{status}`" in table_of("Answer")
    for member in HeartbeatAnswer.model_fields:
        assert f'"{member}"' in table_of("Heartbeat")
