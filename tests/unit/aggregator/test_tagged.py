import json
from math import nan

import pytest
from fastapi import Request

from aggregator.api.tagged import tagged
from pacewatch.words.flag import Figure

DOCUMENT = {"name": 'Pönte "1"\n', "ttft_s": 1e-05, Figure.STALL: None, "runs": [0, True, -3.25]}


def asked(tag=""):
    return Request({"type": "http", "headers": [(b"if-none-match", tag.encode())]})


@pytest.mark.parametrize("moment", [{}, {"at": "2026-12-02T12:00:00Z"}])
def test_a_document_is_written_as_it_is_with_its_moment_in_front(moment):
    answer = tagged(asked(), {**DOCUMENT, **moment})

    found = json.loads(answer.body)
    assert {**moment, **DOCUMENT} == found
    assert list({**moment, **DOCUMENT}) == list(found)


def test_what_is_no_number_is_null():
    assert tagged(asked(), {"median": nan, "low": -2.0}).body == b'{"median":null,"low":-2.0}'


def test_a_tag_is_of_all_but_the_moment():
    first = tagged(asked(), {**DOCUMENT, "at": "2026-12-02T12:00:00Z"}).headers["etag"]

    later = {**DOCUMENT, "at": "2026-12-02T12:00:30Z"}
    assert tagged(asked(first), dict(later)).status_code == 304
    assert tagged(asked(first), {**later, "ttft_s": 2e-05}).status_code == 200


def test_a_tag_is_known_whoever_made_it_a_strong_one_and_among_others():
    tag = tagged(asked(), dict(DOCUMENT)).headers["etag"]
    strong = tag.removeprefix("W/")

    for had in (tag, strong, f'"other", {tag}', f'W/"other" , {strong}'):
        assert tagged(asked(had), dict(DOCUMENT)).status_code == 304, had
    assert tagged(asked(tag[:-2] + '"'), dict(DOCUMENT)).status_code == 200


@pytest.mark.parametrize(("had", "status"), [("*", 304), (" * ", 304), ('W/"*"', 200), ("", 200)])
def test_a_star_stands_for_whatever_document_there_is(had, status):
    answer = tagged(asked(had), dict(DOCUMENT))

    assert answer.status_code == status
    assert (answer.body == b"") is (status == 304)
