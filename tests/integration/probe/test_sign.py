"""Keys, signatures and tokens as they go out over real sockets, and where they never go."""

import asyncio
import json
import os
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.accounts import service_account_key, token_server
from support.probing import own_endpoint, probe, probe_once
from support.replay import Asked, cases_of, replay
from support.sigv4 import signed_for
from support.tunnels import tunnels

from pacewatch.config import load_fleet
from pacewatch.words.endpoint import Auth, Protocol
from pacewatch.words.fleet import Region
from pacewatch.words.outcome import Outcome
from probe import sign_google
from probe.keys import AmbientKey, AwsKey, Key
from probe.sign import open_signer

KEY = "test-key-0123456789"


def case_named(protocol: Protocol, name: str) -> dict[str, Any]:
    return next(case for case in cases_of(protocol) if case["id"] == name)


CHAT = case_named(Protocol.OPENAI_CHAT, "chat-cerebras-time-info")
CONVERSE = case_named(Protocol.BEDROCK, "bedrock-metadata-then-silence")
GEMINI = case_named(Protocol.GEMINI, "gemini-usage-at-the-end")
BEDROCK: dict[str, Any] = {
    "protocol": Protocol.BEDROCK,
    "auth": Auth.AWS,
    "location": "us-east-1",
    "provider_model": "us.meta.llama4-maverick-17b-instruct-v1:0",
}


# AWS


def test_a_request_to_bedrock_is_signed_as_it_goes_out():
    with replay(CONVERSE) as served:
        run = probe(served.url, requests=2, key=AwsKey("secret", "AKIDEXAMPLE", "token"), **BEDROCK)

    assert [timing.outcome for timing in run.timings] == [Outcome.OK] * 2
    assert len(served.asked) == 2
    for asked in served.asked:
        assert asked.line.split(" ")[1] == (
            "/model/us.meta.llama4-maverick-17b-instruct-v1%3A0/converse-stream"
        )
        assert signed_for(asked, "secret") == {
            "key": "AKIDEXAMPLE",
            "region": "us-east-1",
            "service": "bedrock",
        }


def test_a_bearer_of_bedrock_needs_no_signature():
    with replay(CONVERSE) as served:
        timing = probe_once(served.url, key=KEY, **BEDROCK)

    assert timing.outcome is Outcome.OK
    assert served.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.fixture
def shell_of_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """A shell without any credentials of AWS, on no machine of theirs."""
    from probe import sign_aws

    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    sign_aws.session_of.cache_clear()
    yield monkeypatch
    sign_aws.session_of.cache_clear()


def test_the_chain_of_aws_finds_what_is_in_the_shell(shell_of_aws):
    shell_of_aws.setenv("AWS_ACCESS_KEY_ID", "AKIDSHELL")
    shell_of_aws.setenv("AWS_SECRET_ACCESS_KEY", "shell-secret")
    with replay(CONVERSE) as served:
        timing = probe_once(served.url, key=AmbientKey(), **BEDROCK)

    assert timing.outcome is Outcome.OK
    assert signed_for(served.asked[0], "shell-secret")["key"] == "AKIDSHELL"


def test_where_the_chain_of_aws_finds_nothing_it_is_our_own_fault_and_nothing_is_sent(shell_of_aws):
    with replay(CONVERSE) as served:
        run = probe(served.url, requests=3, key=AmbientKey(), **BEDROCK)

    assert len(served.asked) == 0
    for timing in run.timings:
        assert timing.outcome is Outcome.INTERNAL
        assert timing.fault is not None
        assert timing.fault.type == "no_aws_credentials"


def test_a_profile_that_is_not_there_is_our_own_fault(shell_of_aws):
    shell_of_aws.setenv("AWS_PROFILE", "nobody")
    with replay(CONVERSE) as served:
        timing = probe_once(served.url, key=AmbientKey(), **BEDROCK)

    assert (timing.outcome, len(served.asked)) == (Outcome.INTERNAL, 0)


def test_a_key_that_was_changed_in_its_file_is_taken_up(shell_of_aws, tmp_path):
    file = tmp_path / "credentials"
    shell_of_aws.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    with replay(CONVERSE) as served:
        for key in ("AKIDOLD", "AKIDNEW"):
            file.write_text(f"[default]\naws_access_key_id={key}\naws_secret_access_key=s-{key}\n")
            probe_once(served.url, key=AmbientKey(), **BEDROCK)

    old, new = served.asked
    assert signed_for(old, "s-AKIDOLD")["key"] == "AKIDOLD"
    assert signed_for(new, "s-AKIDNEW")["key"] == "AKIDNEW"


@pytest.fixture
def role(shell_of_aws, tmp_path) -> pytest.MonkeyPatch:
    """A role that is taken on with the token of a file, in a shell whose proxy is dead."""
    (tmp_path / "token").write_text("web-identity")
    shell_of_aws.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    shell_of_aws.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/probe")
    shell_of_aws.setenv("AWS_REGION", "us-east-1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        shell_of_aws.setenv(name, "http://127.0.0.1:1")
    return shell_of_aws


def test_a_role_is_taken_on_through_the_regions_own_proxy_and_kept(role, tmp_path):
    authority = trustme.CA()
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with (
        replay(CONVERSE, tls=context) as served,
        replay(role_of_aws, tls=context) as sts,
        tunnels() as proxy,
    ):
        role.setenv("AWS_ENDPOINT_URL_STS", sts.url)
        region = Region(name="here", proxy_url=proxy.url, ca_file=str(file))
        for _ in range(2):
            timing = probe_once(served.url, region=region, key=AmbientKey(), **BEDROCK)
            assert timing.outcome is Outcome.OK

    assert [signed_for(asked, "role-secret")["key"] for asked in served.asked] == ["ASIAROLE"] * 2
    assert served.asked[0].headers["x-amz-security-token"] == "role-session"
    assert len(sts.asked) == 1
    assert proxy.heads[0].startswith(f"CONNECT localhost:{sts.port} ".encode())
    assert b"role-secret" not in b"".join(proxy.passed)


@pytest.mark.parametrize(
    ("code", "message", "outcome", "kind"),
    [
        ("AccessDenied", "Not authorized", Outcome.AUTH, "AccessDenied"),
        ("SignatureDoesNotMatch", "Signature expired: 2026 is now earlier than 2027",
         Outcome.INTERNAL, "clock_refused"),
    ],
)  # fmt: skip
def test_a_role_that_is_refused_is_the_credentials_fault_or_our_clocks(
    role, code, message, outcome, kind
):
    def refuse(sock: socket.socket, asked: Asked) -> bool:
        error = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
        send_xml(sock, 403, f"<ErrorResponse>{error}</ErrorResponse>")
        return False

    with replay(CONVERSE) as served, replay(refuse) as sts:
        role.setenv("AWS_ENDPOINT_URL_STS", sts.url)
        timing = probe_once(served.url, key=AmbientKey(), **BEDROCK)

    assert timing.outcome is outcome
    assert timing.fault is not None
    assert (timing.fault.type, len(served.asked)) == (kind, 0)


def test_the_machine_is_asked_for_its_role_straight_whatever_proxy_is_in_the_shell(shell_of_aws):
    def machine(sock: socket.socket, asked: Asked) -> bool:
        method, target, _ = asked.line.split(" ")
        found = {"Code": "Success", "AccessKeyId": "ASIAMACHINE", "SecretAccessKey": "machine"}
        found |= {"Token": "machine-session", "Expiration": "2099-01-01T00:00:00Z"}
        body = json.dumps(found) if target.endswith("/the-role") else "the-role"
        send_xml(sock, 200, "metadata-token" if method == "PUT" else body)
        return False

    shell_of_aws.delenv("AWS_EC2_METADATA_DISABLED")
    shell_of_aws.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    shell_of_aws.setenv("http_proxy", "http://127.0.0.1:1")
    with replay(CONVERSE) as served, replay(machine) as metadata:
        shell_of_aws.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.url)
        timing = probe_once(served.url, key=AmbientKey(), **BEDROCK)

    assert timing.outcome is Outcome.OK
    assert signed_for(served.asked[0], "machine")["key"] == "ASIAMACHINE"


def role_of_aws(sock: socket.socket, asked: Asked) -> bool:
    """Answer who takes on a role with the credentials for it."""
    assert b"WebIdentityToken=web-identity" in asked.body
    found = (
        "<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey>"
        "<SessionToken>role-session</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>"
    )
    name = "AssumeRoleWithWebIdentity"
    body = f"<{name}Result><Credentials>{found}</Credentials></{name}Result>"
    send_xml(sock, 200, f"<{name}Response>{body}</{name}Response>")
    return False


def send_xml(sock: socket.socket, status: int, text: str) -> None:
    """Send one answer of AWS' own services, the last of its connection."""
    head = f"HTTP/1.1 {status} Told\r\ncontent-type: text/xml\r\nconnection: close\r\n"
    sock.sendall(f"{head}content-length: {len(text)}\r\n\r\n{text}".encode())


# Google


@pytest.fixture
def vertex() -> dict[str, Any]:
    """What an endpoint of Vertex is, for a service account that nobody has seen."""
    sign_google.service_account.cache_clear()
    return {"auth": Auth.GOOGLE, "key": service_account_key()}


def test_a_token_is_fetched_once_before_the_requests_and_kept(vertex, monkeypatch):
    with token_server() as tokens, replay(CHAT) as served:
        monkeypatch.setattr(sign_google, "TOKEN_URL", tokens.url)
        first = probe(f"{served.url}/v1", requests=5, **vertex)
        second = probe(f"{served.url}/v1", **vertex)

    outcomes = {timing.outcome for timing in (*first.timings, *second.timings)}
    assert outcomes == {Outcome.OK}
    assert {asked.headers["authorization"] for asked in served.asked} == {
        f"Bearer token-0-{'x' * 20}"
    }
    assert len(tokens.claims) == 1
    assert tokens.served.asked[0].got_ns < min(asked.got_ns for asked in served.asked)
    assert tokens.claims[0]["scope"] == "https://www.googleapis.com/auth/cloud-platform"
    assert tokens.claims[0]["iss"] == "probe@tide.iam.gserviceaccount.com"


def test_a_gemini_model_of_vertex_is_asked_with_the_token(vertex, monkeypatch):
    with token_server() as tokens, replay(GEMINI) as served:
        monkeypatch.setattr(sign_google, "TOKEN_URL", tokens.url)
        timing = probe_once(f"{served.url}/v1/x", protocol=Protocol.GEMINI, **vertex)

    assert timing.outcome is Outcome.OK
    assert served.asked[0].line.startswith(
        "POST /v1/x/models/tide-1:streamGenerateContent?alt=sse "
    )
    assert served.asked[0].headers["authorization"].startswith("Bearer token-")


def test_a_token_is_renewed_ahead_of_its_end(vertex, monkeypatch):
    ends_in_s = int(sign_google.AHEAD_S) - 1
    with token_server(ends_in_s=ends_in_s) as tokens, replay(CHAT) as served:
        monkeypatch.setattr(sign_google, "TOKEN_URL", tokens.url)
        for _ in range(2):
            probe(f"{served.url}/v1", **vertex)

    assert [asked.headers["authorization"][:14] for asked in served.asked] == [
        "Bearer token-0",
        "Bearer token-1",
    ]


def test_the_wait_for_a_token_is_in_no_figure_and_stops_nobody(vertex, monkeypatch):
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    async def fetch() -> object:
        turning = asyncio.ensure_future(turn())
        endpoint = own_endpoint("http://localhost/v1", auth=Auth.GOOGLE)
        signer = await open_signer(endpoint, Key(vertex["key"]), Region(name="here"))
        turning.cancel()
        return signer

    with token_server(takes_s=0.4) as tokens, replay(CHAT) as served:
        monkeypatch.setattr(sign_google, "TOKEN_URL", tokens.url)
        assert not isinstance(asyncio.run(fetch()), Exception)
        sign_google.service_account.cache_clear()
        timing = probe_once(f"{served.url}/v1", **vertex)

    assert turns >= 5
    planned_ms = [planned for planned, _ in served.asked[0].sends]
    assert max(planned_ms) < 400
    assert timing.sent_us == 0
    assert len(tokens.claims) == 2


@pytest.mark.parametrize(
    ("refusal", "outcome", "kind"),
    [
        ({"error": "invalid_grant", "error_description": "Invalid grant: account not found"},
         Outcome.AUTH, "invalid_grant"),
        ({"error": "invalid_grant", "error_description": "Invalid JWT: Token must be a short-lived "
          "token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the "
          "JWT claim."}, Outcome.INTERNAL, "clock_refused"),
    ],
)  # fmt: skip
def test_a_token_that_is_refused_is_the_keys_fault_or_our_clocks(
    vertex, monkeypatch, refusal, outcome, kind
):
    with token_server(refusal=refusal) as tokens, replay(CHAT) as served:
        monkeypatch.setattr(sign_google, "TOKEN_URL", tokens.url)
        timing = probe_once(f"{served.url}/v1", **vertex)

    assert timing.outcome is outcome
    assert timing.fault is not None
    assert (timing.fault.type, len(served.asked)) == (kind, 0)


def test_an_address_for_tokens_that_cannot_be_reached_is_no_fault_of_the_endpoint(
    vertex, monkeypatch
):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setattr(sign_google, "TOKEN_URL", f"http://127.0.0.1:{port}/token")
    with replay(CHAT) as served:
        timing = probe_once(f"{served.url}/v1", **vertex)

    assert timing.outcome is Outcome.INTERNAL
    assert timing.fault is not None
    assert (timing.fault.type, len(served.asked)) == ("token_unreachable", 0)


def test_a_token_is_asked_for_through_the_regions_proxy_and_never_the_environments(
    vertex, monkeypatch
):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setattr(sign_google, "TOKEN_URL", "http://tokens.invalid/token")
    with token_server() as tokens:
        account = sign_google.ServiceAccount(vertex["key"], tokens.served.url, None)
        account.fetch()

    assert tokens.served.asked[0].line == "POST http://tokens.invalid/token HTTP/1.1"


# Where a key never goes


def test_a_redirect_is_not_followed_and_its_aim_sees_no_key():
    with replay(CHAT) as forged:
        redirect = {
            "response": {
                "status": 307,
                "headers": {"location": f"{forged.url}/v1/chat/completions"},
                "framing": "length",
            }
        }
        with replay(redirect) as served:
            timing = probe_once(f"{served.url}/v1", key=KEY)

    assert timing.outcome is Outcome.REJECTED
    assert served.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert len(forged.asked) == 0


def test_a_proxy_sees_no_key_of_what_it_hands_on(tmp_path):
    authority = trustme.CA()
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with replay(CHAT, tls=context) as served, tunnels() as proxy:
        region = Region(name="here", proxy_url=proxy.url, ca_file=str(file))
        timing = probe_once(f"{served.url}/v1", region=region, key=KEY)

    assert timing.outcome is Outcome.OK
    assert served.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert proxy.heads[0].startswith(b"CONNECT localhost:")
    assert KEY.encode() not in b"".join((*proxy.heads, *proxy.passed))


def test_a_forged_address_gets_no_providers_key(tmp_path):
    with replay(CHAT) as forged:
        file = tmp_path / "pacewatch.toml"
        file.write_text(
            f'[[endpoint]]\nprovider = "groq"\nmodel = "gpt-oss-120b"\nvariant = "x"\n'
            f'base_url = "{forged.url}/v1"\n'
        )
        fleet = load_fleet(file, {"GROQ_API_KEY": KEY})
        (own,) = [endpoint for endpoint in fleet.endpoints if endpoint.own]
        probe_once(own.base_url, auth=own.auth, key=KEY)

    assert own.key_names == ()
    assert KEY not in json.dumps(forged.asked[0].headers)


def test_the_simulator_sees_no_key():
    with replay(CHAT) as served:
        region = Region(name="demo", simulator_url=served.url)
        timing = probe_once("https://api.groq.com/openai/v1", region=region, key=KEY)

    assert timing.outcome is Outcome.OK
    assert served.asked[0].line.startswith("POST /own/openai/v1/chat/completions ")
    assert KEY not in json.dumps(served.asked[0].headers)


def test_no_word_of_a_record_repeats_a_token(vertex, monkeypatch):
    def echo(sock: socket.socket, asked: Asked) -> bool:
        token = asked.headers["authorization"].removeprefix("Bearer ")
        body = json.dumps({"error": {"code": token, "message": token}}).encode()
        sock.sendall(
            b"HTTP/1.1 401 No\r\ncontent-length: %d\r\nx-request-id: %b\r\n\r\n%b"
            % (len(body), token.encode(), body)
        )
        return False

    with token_server() as tokens, replay(echo) as served:
        monkeypatch.setattr(sign_google, "TOKEN_URL", tokens.url)
        timing = probe_once(f"{served.url}/v1", **vertex)

    assert timing.outcome is Outcome.AUTH
    assert "token-0" not in repr(timing)
