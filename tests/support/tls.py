"""Certificates of the tests: an authority of their own, and what it signed."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme


class Authority:
    """A certificate authority that nobody trusts unless its file is named."""

    def __init__(self, folder: Path) -> None:
        """Make it, and write its certificate into the folder."""
        self._authority = trustme.CA()
        self.ca_file = str(folder / "ca.pem")
        self._authority.cert_pem.write_to_path(self.ca_file)

    def serving(self, *names: str, is_expired: bool = False) -> ssl.SSLContext:
        """What a server of those names serves with."""
        until = datetime.now(UTC) - timedelta(days=1) if is_expired else None
        certificate = self._authority.issue_cert(*names, not_after=until)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(context)
        return context
