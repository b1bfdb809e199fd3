"""Certificates of the tests: an authority of their own, and what it signed."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """A certificate authority that nobody trusts unless its file is named."""

    def __init__(self, folder: Path) -> None:
        """Make it, and write its certificate into the folder."""
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._authority = trustme.CA()
        self.ca_file = str(folder / "ca.pem")
        self._authority.cert_pem.write_to_path(self.ca_file)

    def certificate(self, name: str, *, is_expired: bool = False) -> Path:
        """The file with certificate and key of a server of that name."""
        until = datetime.now(UTC) - timedelta(days=1) if is_expired else None
        made = self._authority.issue_cert(name, not_after=until)
        file = self._folder / f"{name}-{uuid4().hex[:6]}.pem"
        made.private_key_and_cert_chain_pem.write_to_path(str(file))
        return file

    def certificate_by_itself(self, name: str) -> Path:
        """The file of a server of that name whose certificate nobody else has signed."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(key, hashes.SHA256())
        )
        file = self._folder / f"{name}-by-itself.pem"
        file.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return file

    def serving(self, name: str, *, is_expired: bool = False) -> ssl.SSLContext:
        """What a server of that name serves with."""
        return _serving(self.certificate(name, is_expired=is_expired))

    def serving_by_itself(self, name: str) -> ssl.SSLContext:
        """What a server of that name serves with whose certificate nobody else has signed."""
        return _serving(self.certificate_by_itself(name))


def _serving(file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
