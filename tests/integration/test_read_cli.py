import json
from datetime import timedelta

import pytest
from support.boards import board_fleet, filled_pool
from support.centre import migrated_pool, served
from support.listening import listening
from support.records import NOON
from support.seed import add_endpoint, add_worker, prepare
from support.servers import fresh_database
from typer.testing import CliRunner

from pacewatch.cli.app import app
from pacewatch.words.errors import PacewatchError, SettingsError


@pytest.fixture(scope="module")
def address(postgres_url):
    with (
        fresh_database(postgres_url) as url,
        filled_pool(url) as pool,
        served(pool, board_fleet(), clock=lambda: NOON) as address,
    ):
        yield address


def run(address, *words, **environment):
    variables = {"PACEWATCH_AGGREGATOR_URL": address, "COLUMNS": "120"} | environment
    return CliRunner().invoke(app, words, env=variables)


def test_board_prints_a_table_and_with_json_what_the_api_says(address):
    table, document = run(address, "board"), run(address, "board", "--json", "--model", "glm-5.2")

    assert (table.exit_code, document.exit_code) == (0, 0)
    assert "cerebras/gpt-oss-120b" in table.output
    assert [model["model"] for model in json.loads(document.output)["models"]] == ["glm-5.2"]


def test_a_filter_of_the_command_is_the_one_of_the_api(address):
    found = run(
        address,
        *("board", "--json", "--region", "us-east", "--provider", "groq", "--load", "parallel"),
    )

    (model,) = json.loads(found.output)["models"]
    (series,) = model["endpoints"][0]["series"]
    assert (series["load"], list(series["regions"])) == ("parallel", ["us-east"])


def test_an_endpoint_or_a_precision_is_shown_alone(address):
    named = run(address, "board", "--json", "--endpoint", "groq/gpt-oss-120b")
    alike = run(address, "board", "--json", "--precision", "fp8")

    for found, endpoint in ((named, "groq/gpt-oss-120b"), (alike, "own/gpt-oss-120b@fp8#lab")):
        (model,) = json.loads(found.output)["models"]
        assert [one["endpoint"] for one in model["endpoints"]] == [endpoint]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--precision", "fp9"), '--precision: "fp9" is not on the board (did you mean "fp8"?)'),
        (
            ("--region", "us-est"),
            '--region: "us-est" is not on the board (did you mean "us-east"?)',
        ),
        (("--workload", "x"), '--workload: "x" is not on the board (known: short)'),
        (
            ("--model", "glm-5.3"),
            '--model: "glm-5.3" is not on the board (did you mean "glm-5.2"?)',
        ),
    ],
)
def test_a_filter_that_nothing_can_match_is_refused(address, words, sentence):
    found = run(address, "board", *words)

    assert isinstance(found.exception, SettingsError)
    assert str(found.exception) == sentence


def test_status_exits_with_one_where_something_is_wrong(address):
    table, document = run(address, "status"), run(address, "status", "--json")

    assert (table.exit_code, document.exit_code) == (1, 1)
    assert "region us-east: silent for 14 min" in table.output
    assert len(json.loads(document.output)["problems"]) == 2


def test_status_exits_with_nothing_where_all_is_well(database_url):
    with migrated_pool(database_url) as pool:
        with pool.connection() as connection:
            prepare(connection, NOON)
            add_endpoint(connection, "groq/gpt-oss-120b", NOON)
            for region in board_fleet().regions:
                add_worker(connection, region, NOON - timedelta(seconds=3))
        with served(pool, board_fleet(), clock=lambda: NOON) as address:
            found = run(address, "status")

    assert (found.exit_code, found.output.split("\n")[1][:11]) == (0, "All is well")


@pytest.mark.parametrize("command", ["board", "status"])
def test_an_aggregator_that_does_not_answer_is_told_in_one_sentence(command):
    found = run("http://127.0.0.1:1", command)

    assert found.exit_code == 1
    assert type(found.exception) is PacewatchError
    assert str(found.exception) == (
        "http://127.0.0.1:1: the aggregator does not answer: connection refused "
        "(PACEWATCH_AGGREGATOR_URL names it, pacewatch up starts one)"
    )


@pytest.fixture
def stranger():
    """Answers every question with the bytes that it is given; gives its address and a way to."""
    told = [b""]

    def serve(sock, _):
        with sock:
            sock.recv(65_536)
            sock.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + told[0])

    with listening(serve) as port:
        yield f"http://127.0.0.1:{port}", lambda body: told.__setitem__(0, body)


@pytest.mark.parametrize("command", [("board",), ("status",), ("incidents",), ("evidence", "a/b")])
def test_whatever_else_answers_is_told_to_be_no_aggregator(stranger, command):
    address, tell = stranger
    for body in (b"<html>", b"[]", b"null", b"{}", b'{"a":"\xe9"}', b"[" * 100_000):
        tell(body)
        found = run(address, *command)
        assert found.exit_code == 1
        assert type(found.exception) is PacewatchError
        assert str(found.exception).startswith(
            f"{address}: this is no aggregator: its answer is no"
        )


def test_an_export_of_whatever_else_answers_writes_nothing_and_leaves_the_file_alone(
    stranger, tmp_path
):
    address, tell = stranger
    kept = tmp_path / "kept.jsonl"
    kept.write_bytes(b"a year of runs")
    for body in (b"<html>", b'{"at":"2026-12-01T12:00:00Z"}', b""):
        tell(body)
        for words in (("export",), ("export", "--output", str(kept))):
            found = run(address, *words)
            assert (found.exit_code, found.stdout) == (1, "")
            assert type(found.exception) is PacewatchError
            assert str(found.exception) == (
                f"{address}: this is no aggregator: its answer is none that one gives"
            )
    assert kept.read_bytes() == b"a year of runs"


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("http://198.51.100.7:8420", "is neither TLS nor loopback"),
        ("http://[::1", "not an address"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_before_anything_is_sent(address, sentence):
    found = run(address, "status")

    assert isinstance(found.exception, SettingsError)
    assert sentence in str(found.exception)


def test_a_store_that_is_away_is_told(database_url):
    with migrated_pool(database_url) as pool:
        pass
    with served(pool, board_fleet()) as address:
        found = run(address, "board")

    assert f"{address}: the store does not answer" == str(found.exception)
