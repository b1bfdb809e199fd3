"""Signatures of AWS (SigV4) through botocore, with its usual chain of credentials."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import BotoCoreError, ClientError

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.fleet import Region
from pacewatch.words.outcome import Outcome
from probe.keys import AwsKey, Key
from probe.sign import NoSignature

_SERVICE = "bedrock"
_REGION = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")
_SIGNED = frozenset({"authorization", "x-amz-date", "x-amz-security-token"})
_LIMIT_S = 10


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
        """Ask the chain, which renews what is about to end; raises NoSignature."""
        session = session_of(self._region.proxy_url, self._region.ca_file)
        try:
            found = session.get_credentials()
            self._frozen = None if found is None else found.get_frozen_credentials()
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", "ClientError"))
            raise NoSignature(Outcome.AUTH, code) from error
        except BotoCoreError as error:
            raise NoSignature(Outcome.INTERNAL, type(error).__name__) from error
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


@lru_cache(maxsize=8)
def session_of(proxy_url: str | None, ca_file: str | None) -> Any:
    """Return the session of a way out; it keeps the credentials and renews them.

    What it asks goes through the region's own proxy, never through the environment's.
    """
    session = botocore.session.Session()
    proxies = {} if proxy_url is None else {"http": proxy_url, "https": proxy_url}
    session.set_default_client_config(
        Config(proxies=proxies, connect_timeout=_LIMIT_S, read_timeout=_LIMIT_S)
    )
    if ca_file is not None:
        session.set_config_variable("ca_bundle", ca_file)
    return session
