from dataclasses import replace

import pytest
from support.probing import own_endpoint

from pacewatch.words.endpoint import Protocol
from probe import adapt
from probe.adapt import adapted, learn, refused_members


@pytest.fixture(autouse=True)
def nothing_learnt(monkeypatch):
    monkeypatch.setattr(adapt, "_learnt", {})


ENDPOINT = own_endpoint("http://host/v1")


def test_a_member_that_a_refusal_names_is_left_out_from_then_on():
    learn(ENDPOINT, 422, b'{"detail": [{"loc": ["body", "stream_options"]}]}')

    assert adapted(ENDPOINT).body == {"stream_options": False}
    assert refused_members(ENDPOINT) == ("stream_options",)
    assert adapted(own_endpoint("http://other/v1")).body == {}


def test_a_limit_that_a_refusal_wants_under_its_other_name_has_it_from_then_on():
    learn(ENDPOINT, 400, b"Unsupported: 'max_tokens'. Use 'max_completion_tokens' instead.")

    assert adapted(ENDPOINT).body == {"max_completion_tokens": True}


@pytest.mark.parametrize(
    ("status", "body"), [(500, b"stream_options"), (429, b"stream_options"), (400, b"temperature")]
)
def test_other_refusals_teach_nothing(status, body):
    learn(ENDPOINT, status, body)

    assert adapted(ENDPOINT) is ENDPOINT
    assert refused_members(ENDPOINT) == ()


def test_other_protocols_have_no_such_members():
    endpoint = replace(ENDPOINT, protocol=Protocol.ANTHROPIC)
    learn(endpoint, 400, b"stream_options")

    assert adapted(endpoint) is endpoint


def test_what_the_endpoint_itself_says_goes_before():
    endpoint = replace(ENDPOINT, body={"stream_options": {"include_usage": True}})
    learn(endpoint, 400, b"stream_options")

    assert adapted(endpoint).body == endpoint.body
