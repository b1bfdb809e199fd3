from dataclasses import replace

import pytest

from pacewatch.words.endpoint import (
    Auth,
    Endpoint,
    EndpointId,
    Precision,
    Protocol,
    endpoint_hash,
    pair_names,
    parse_endpoint_id,
    secret_names,
    why_not_probed,
)
from pacewatch.words.fleet import Fleet, Region, base_url_in, catalog_hash
from pacewatch.words.slot import WORKLOADS

GROQ = Endpoint(
    id="groq/gpt-oss-120b",
    provider="groq",
    provider_name="Groq",
    model="gpt-oss-120b",
    provider_model="openai/gpt-oss-120b",
    precision=Precision.UNKNOWN,
    protocol=Protocol.OPENAI_CHAT,
    base_url="https://api.groq.com/openai/v1",
    auth=Auth.BEARER,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("groq/gpt-oss-120b", EndpointId(provider="groq", model="gpt-oss-120b")),
        ("azure/gpt-5.5#ptu-weu", EndpointId(provider="azure", model="gpt-5.5", variant="ptu-weu")),
        (
            "together/llama-3.3-70b@fp8#eu",
            EndpointId(provider="together", model="llama-3.3-70b", precision="fp8", variant="eu"),
        ),
    ],
)
def test_an_endpoint_id_is_read_and_written_back(text, parts):
    assert parts == parse_endpoint_id(text)
    assert text == str(parts)


@pytest.mark.parametrize(
    "text", ["groq", "groq/", "/x", "Groq/x", "a/b/c", "a/b#x@fp8", "a/b c", "a/b@", "a/b\n", ""]
)
def test_what_is_no_endpoint_id_is_refused(text):
    with pytest.raises(ValueError, match="is no endpoint id"):
        parse_endpoint_id(text)


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "groq/other"},
        {"provider_model": "x"},
        {"body": {"reasoning_effort": "low"}},
        {"reasoning_tokens": 100},
    ],
)
def test_whatever_changes_the_request_changes_the_hash(changed):
    standard = WORKLOADS["standard"]

    assert endpoint_hash(GROQ, standard) != endpoint_hash(replace(GROQ, **changed), standard)


def test_another_workload_is_another_hash():
    assert endpoint_hash(GROQ, WORKLOADS["short"]) != endpoint_hash(GROQ, WORKLOADS["long"])


def test_the_host_and_the_key_leave_the_hash_as_it_is():
    elsewhere = replace(GROQ, base_url="http://127.0.0.1:1/v1", key_names=("X",))
    short = WORKLOADS["short"]

    assert endpoint_hash(GROQ, short) == endpoint_hash(elsewhere, short)


def test_an_endpoint_without_reader_is_skipped_with_a_word():
    assert why_not_probed(GROQ) is None
    assert why_not_probed(replace(GROQ, protocol="novel")) == "protocol novel has no reader yet"


def test_an_access_key_of_aws_has_variables_of_our_own_beside_the_key():
    name = "PACEWATCH_BEDROCK_API_KEY"
    bedrock = replace(GROQ, auth=Auth.AWS, key_names=(name, "AWS_BEARER_TOKEN_BEDROCK"))
    pair = (
        "PACEWATCH_BEDROCK_ACCESS_KEY_ID",
        "PACEWATCH_BEDROCK_SECRET_ACCESS_KEY",
        "PACEWATCH_BEDROCK_SESSION_TOKEN",
    )

    assert pair_names(bedrock) == pair
    assert secret_names(bedrock) == (name, "AWS_BEARER_TOKEN_BEDROCK", *pair)
    assert pair_names(replace(bedrock, key_names=("MY_API_KEY",))) == ()
    assert pair_names(replace(bedrock, key_names=())) == ()
    assert pair_names(replace(bedrock, auth=Auth.BEARER)) == ()


def test_the_simulator_takes_the_providers_place_under_its_name():
    real = Region(name="eu-west")
    demo = Region(name="eu-west", simulator_url="http://127.0.0.1:41001")

    assert base_url_in(GROQ, real) == "https://api.groq.com/openai/v1"
    assert base_url_in(GROQ, demo) == "http://127.0.0.1:41001/groq/openai/v1"


def test_the_catalog_hash_follows_what_would_be_asked():
    def fleet(endpoint: Endpoint) -> Fleet:
        return Fleet(regions={}, catalog={endpoint.id: endpoint}, endpoints=())

    same = fleet(replace(GROQ, key_names=("ANOTHER",)))

    assert catalog_hash(fleet(GROQ)) == catalog_hash(same)
    assert catalog_hash(fleet(GROQ)) != catalog_hash(fleet(replace(GROQ, body={"top_k": 1})))
