import re
from dataclasses import replace
from uuid import UUID

import pytest

from pacewatch.catalog import PLACEHOLDER, read_catalog
from pacewatch.words.endpoint import Endpoint, Protocol
from pacewatch.words.fleet import Region
from probe.keys import Key
from probe.protocols.table import PROTOCOLS
from probe.request import Question, make_question, request_id
from probe.sign import HeaderKey, Signer, origin_of


def filled(blank: re.Match[str]) -> str:
    """What a user might put in a blank of an address, or in the place of its beginning."""
    return "acme" if blank.start() else "https://acme.example"


READABLE = [
    replace(endpoint, base_url=PLACEHOLDER.sub(filled, endpoint.base_url))
    for _, endpoint in sorted(read_catalog().endpoints.items())
    if endpoint.protocol in PROTOCOLS
]


class Recorder(HeaderKey):
    """Credentials that note what they were to sign."""

    def __init__(self) -> None:
        super().__init__("authorization", "Bearer ", Key("test-key-0123456789"))
        self.signed: list[str] = []

    def sign(self, url, headers, content):
        self.signed.append(url)
        return super().sign(url, headers, content)


def question_of(endpoint: Endpoint, credentials: Recorder) -> Question:
    return make_question(
        endpoint=endpoint,
        protocol=PROTOCOLS[endpoint.protocol],
        region=Region(name="test"),
        signer=Signer(credentials=credentials, origin=origin_of(endpoint.base_url)),
        prompt="Tell me of tides.",
        output_tokens=64,
        request_id="0f2c",
    )


@pytest.mark.parametrize("endpoint", READABLE, ids=lambda endpoint: endpoint.id)
def test_what_is_signed_is_what_goes_out_to_the_letter(endpoint):
    credentials = Recorder()

    request = question_of(endpoint, credentials).request

    origin = f"{request.url.scheme}://{request.headers['host']}"
    assert [origin + request.url.raw_path.decode()] == credentials.signed


def test_a_models_name_is_escaped_once():
    (bedrock,) = (one for one in READABLE if one.protocol is Protocol.BEDROCK)

    path = question_of(bedrock, Recorder()).request.url.raw_path

    assert path == b"/model/us.meta.llama4-maverick-17b-instruct-v1%3A0/converse-stream"


def test_the_id_of_a_request_can_be_derived_and_looks_random():
    execution = UUID("7a0c3dbd-5f6e-4f53-9f0e-0d6f4a1f2a10")

    assert request_id(execution, 0) == request_id(execution, 0)
    assert request_id(execution, 0) != request_id(execution, 1)
    assert request_id(execution, 0).version == 4
