"""Signatures of AWS (SigV4) through botocore, with its usual chain of credentials."""

import atexit
import os
import re
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import ReadOnlyCredentials, RefreshableCredentials
from botocore.exceptions import BotoCoreError, ClientError
from botocore.httpsession import URLLib3Session, where

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.fleet import Region
from pacewatch.words.outcome import Outcome
from probe.keys import AwsKey, Key
from probe.refusal import is_our_clock
from probe.sign import NoSignature

_SERVICE = "bedrock"
_REGION = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")
_SIGNED = frozenset({"authorization", "x-amz-date", "x-amz-security-token"})
_LIMIT_S = 10
_MACHINE_LIMIT_S = 2


class AwsCredentials:
    """An access key, or whatever the chain finds, for one endpoint."""

    def __init__(self, key: Key, endpoint: Endpoint, region: Region) -> None:
        """Keep the key, the region of AWS that is asked, and the way to what the chain asks."""
        self._aws_region = aws_region(endpoint)
        self._region = region
        self._frozen: Any = None
        if isinstance(key, AwsKey):
            self._frozen = ReadOnlyCredentials(key.access_key_id, key.reveal(), key.session_token)

    def is_ready(self) -> bool:
        """Tell whether the credentials are there."""
        return self._frozen is not None

    def fetch(self) -> None:
        """Ask the chain, which renews what is about to end; raises NoSignature.

        What it renews is kept; a key that stands in a file is read again each time.
        """
        session = session_of(self._region.proxy_url, self._region.ca_file)
        try:
            found = session.get_credentials()
            self._frozen = None if found is None else found.get_frozen_credentials()
        except ClientError as error:
            raise _refused(error) from error
        except BotoCoreError as error:
            raise NoSignature(Outcome.INTERNAL, type(error).__name__) from error
        if not isinstance(found, RefreshableCredentials):
            session_of.cache_clear()
        if self._frozen is None:
            raise NoSignature(Outcome.INTERNAL, "no_aws_credentials")

    def sign(self, url: str, headers: Mapping[str, str], content: bytes) -> Mapping[str, str]:
        """Return the headers of the signature; raises NoSignature."""
        if self._aws_region is None:
            raise NoSignature(Outcome.INTERNAL, "no_aws_region")
        request = AWSRequest(
            method="POST",
            url=url,
            data=content,
            headers={"content-type": headers["content-type"]},
        )
        SigV4Auth(self._frozen, _SERVICE, self._aws_region).add_auth(request)
        return {
            name.lower(): value
            for name, value in request.headers.items()
            if name.lower() in _SIGNED
        }


def aws_region(endpoint: Endpoint) -> str | None:
    """Return the region of AWS that the endpoint's address names, else its location."""
    found = _REGION.search(endpoint.base_url)
    return endpoint.location if found is None else found[1]


def _refused(error: ClientError) -> NoSignature:
    """Return whose fault a refusal of AWS' own services is: our clock's, or the credentials'."""
    told = error.response.get("Error", {})
    code = str(told.get("Code", "ClientError"))
    if is_our_clock([code], str(told.get("Message", ""))):
        return NoSignature(Outcome.INTERNAL, "clock_refused")
    return NoSignature(Outcome.AUTH, code)


@lru_cache(maxsize=8)
def session_of(proxy_url: str | None, ca_file: str | None) -> Any:
    """Return the session of a way out; it keeps the credentials and renews them.

    What it asks of AWS goes through the region's own proxy, and what it asks of the machine that it
    runs on goes straight there: neither through the environment's.
    """
    session = botocore.session.Session()
    proxies = {} if proxy_url is None else {"http": proxy_url, "https": proxy_url}
    session.set_default_client_config(
        Config(
            proxies=proxies,
            connect_timeout=_LIMIT_S,
            read_timeout=_LIMIT_S,
            retries={"total_max_attempts": 2},
        )
    )
    if ca_file is not None:
        session.set_config_variable("ca_bundle", _authorities(ca_file))
    machine = session.get_component("credential_provider").get_provider("iam-role")
    machine._role_fetcher._session = URLLib3Session(timeout=_MACHINE_LIMIT_S, proxies={})
    return session


@lru_cache(maxsize=8)
def _authorities(ca_file: str) -> str:
    """Return the path of a file with the usual authorities and the region's own beside them; it is
    gone with this process.
    """
    both = Path(where()).read_text("ascii") + "\n" + Path(ca_file).read_text("utf-8")
    descriptor, path = tempfile.mkstemp(prefix="pacewatch-ca-", suffix=".pem")
    atexit.register(Path(path).unlink, missing_ok=True)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(both)
    return path
