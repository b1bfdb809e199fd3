import re

import pytest

from pacewatch.sim.address import FILE_NAME, Address, read_address, remove_address, write_address
from pacewatch.words.errors import StackError

ADDRESS = Address(
    url="http://127.0.0.1:1",
    token="t-secret",
    regions={"eu-west": "http://127.0.0.1:2"},
    pid=7,
)


def test_an_address_reads_as_it_was_written(tmp_path):
    write_address(tmp_path, ADDRESS)

    assert read_address(tmp_path) == ADDRESS


def test_the_file_is_for_its_user_alone(tmp_path):
    write_address(tmp_path, ADDRESS)

    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_the_token_is_not_shown():
    assert "t-secret" not in repr(ADDRESS)


def test_without_a_file_no_demo_is_running(tmp_path):
    sentence = (
        f"no demo is running on {tmp_path} "
        "(pacewatch up --demo starts one, PACEWATCH_STATE names its folder)"
    )

    with pytest.raises(StackError, match=f"^{re.escape(sentence)}$"):
        read_address(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"url": "x"}'])
def test_a_broken_file_is_named(tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text)

    with pytest.raises(StackError, match=f"{FILE_NAME}: cannot be read"):
        read_address(tmp_path)


def test_a_simulator_removes_its_own_file_only(tmp_path):
    write_address(tmp_path, ADDRESS)

    remove_address(tmp_path, "another")
    assert (tmp_path / FILE_NAME).exists()

    remove_address(tmp_path, ADDRESS.token)
    assert not (tmp_path / FILE_NAME).exists()
