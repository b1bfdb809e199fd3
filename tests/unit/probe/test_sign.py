import asyncio
import subprocess
import sys
from typing import Any

import pytest
from support.accounts import service_account_key
from support.probing import own_endpoint
from support.replay import Asked
from support.sigv4 import signed_for

from pacewatch.words.endpoint import Auth
from pacewatch.words.fleet import Region
from pacewatch.words.outcome import Outcome
from probe import sign_aws, sign_google
from probe.keys import AwsKey, Key
from probe.sign import HeaderKey, NoSignature, open_signer, secrets_in, signer_of

HERE = Region(name="here")
URL = "https://host/v1/chat/completions"


def headers(auth: Auth, key: Key, url: str = URL, **fields: Any) -> dict[str, str]:
    """The headers that sign a POST to the URL for an endpoint at https://host."""
    endpoint = own_endpoint("https://host/v1", auth=auth, **fields)
    signer = signer_of(endpoint, key, HERE)
    assert signer is not None
    return signer.headers(url, {"content-type": "application/json"}, b"{}")


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        (Auth.BEARER, {"authorization": "Bearer k"}),
        (Auth.X_API_KEY, {"x-api-key": "k"}),
        (Auth.API_KEY, {"api-key": "k"}),
        (Auth.X_GOOG_API_KEY, {"x-goog-api-key": "k"}),
        (Auth.AWS, {"authorization": "Bearer k"}),
    ],
)
def test_a_key_stands_in_the_header_of_its_kind(auth, expected):
    assert headers(auth, Key("k")) == expected


def test_who_needs_no_key_shows_none():
    endpoint = own_endpoint("https://host/v1", auth=Auth.NONE)

    assert signer_of(endpoint, Key("k"), HERE) is None
    assert signer_of(own_endpoint("https://host/v1"), None, HERE) is None


def test_the_simulator_is_shown_no_key():
    demo = Region(name="demo", simulator_url="http://127.0.0.1:41001")

    assert signer_of(own_endpoint("https://host/v1"), Key("k"), demo) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://other/v1/chat/completions",
        "http://host/v1/chat/completions",
        "https://host:8443/v1/chat/completions",
        "https://host.other/v1",
        "https://host@other/v1",
    ],
)
@pytest.mark.parametrize("auth", [Auth.BEARER, Auth.API_KEY, Auth.X_GOOG_API_KEY])
def test_a_key_is_shown_to_no_host_but_its_own(auth, url):
    with pytest.raises(NoSignature, match="other_host") as refused:
        headers(auth, Key("k"), url)

    assert refused.value.outcome is Outcome.INTERNAL


def test_a_case_of_the_hosts_name_is_no_other_host():
    assert headers(Auth.BEARER, Key("k"), "https://HOST/v1") == {"authorization": "Bearer k"}


PATH = "/model/us.meta.llama4-maverick-17b-instruct-v1%3A0/converse-stream"


def aws_headers(key: AwsKey) -> dict[str, str]:
    endpoint = own_endpoint("https://bedrock-runtime.eu-west-1.amazonaws.com", auth=Auth.AWS)
    signer = signer_of(endpoint, key, HERE)
    assert signer is not None
    return signer.headers(f"{endpoint.base_url}{PATH}", {"content-type": "application/json"}, b"{}")


def asked_with(signed: dict[str, str]) -> Asked:
    told = {
        "host": "bedrock-runtime.eu-west-1.amazonaws.com",
        "content-type": "application/json",
        **signed,
    }
    return Asked(line=f"POST {PATH} HTTP/1.1", headers=told, body=b"{}", got_ns=0)


def test_a_signature_of_aws_is_right_over_the_path_as_it_goes_out():
    signed = aws_headers(AwsKey("wJalr/secret+key", "AKIDEXAMPLE", None))

    assert set(signed) == {"authorization", "x-amz-date"}
    assert signed_for(asked_with(signed), "wJalr/secret+key") == {
        "key": "AKIDEXAMPLE",
        "region": "eu-west-1",
        "service": "bedrock",
    }


def test_the_token_of_a_session_is_signed_too():
    signed = aws_headers(AwsKey("secret", "AKIDEXAMPLE", "session/token=="))

    assert signed["x-amz-security-token"] == "session/token=="
    assert "x-amz-security-token" in signed["authorization"]
    assert signed_for(asked_with(signed), "secret")["key"] == "AKIDEXAMPLE"


def test_a_signature_shows_no_secret():
    signed = aws_headers(AwsKey("wJalr-secret-key", "AKIDEXAMPLE", "session-token"))

    assert "wJalr-secret-key" not in "".join(signed.values())
    assert secrets_in(signed) == ("session-token",)
    assert secrets_in({"authorization": "Bearer k"}) == ("k",)


@pytest.mark.parametrize(
    ("base_url", "location", "region"),
    [
        ("https://bedrock-runtime.us-east-1.amazonaws.com", None, "us-east-1"),
        ("https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", None, "us-gov-west-1"),
        ("https://vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com", "x", "eu-west-1"),
        ("https://gateway.example/aws", "eu-north-1", "eu-north-1"),
        ("https://gateway.example/aws", None, None),
    ],
)
def test_the_region_of_aws_stands_in_the_address_or_is_the_location(base_url, location, region):
    assert sign_aws.aws_region(own_endpoint(base_url, location=location)) == region


def test_without_a_region_of_aws_nothing_is_signed():
    with pytest.raises(NoSignature, match="no_aws_region"):
        headers(Auth.AWS, AwsKey("secret", "AKIDEXAMPLE", None))


def test_a_key_of_a_service_account_that_cannot_sign_is_our_own_fault():
    broken = service_account_key().replace("PRIVATE KEY", "PRIVATE KEI")
    with pytest.raises(NoSignature, match="bad_service_account") as refused:
        sign_google.ServiceAccount(broken, None, None)

    assert refused.value.outcome is Outcome.INTERNAL


def test_a_plain_key_is_at_hand_without_a_thread():
    credentials = HeaderKey("authorization", "Bearer ", Key("k"))

    assert credentials.is_ready()
    assert credentials.fetch() is None


def test_what_a_thread_could_not_fetch_is_handed_back():
    endpoint = own_endpoint("https://host/v1", auth=Auth.GOOGLE)
    told = asyncio.run(open_signer(endpoint, Key("no json"), HERE))

    assert isinstance(told, NoSignature)


def test_workers_without_such_endpoints_load_no_library_of_a_cloud():
    code = (
        "import sys, probe.run, probe.worker, probe.sign as s;"
        "from probe.keys import Key;"
        "from pacewatch.words.fleet import Region;"
        "from pacewatch.catalog import read_catalog;"
        "one = read_catalog().endpoints['groq/gpt-oss-120b'];"
        "s.load_for(one, Key('k'));"
        "s.signer_of(one, Key('k'), Region(name='r'));"
        "print([m for m in ('botocore', 'google.auth', 'cryptography.hazmat') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout == "[]\n"
