import ssl
from datetime import UTC, datetime, timedelta

import pytest

from probe.self_signed import self_signed

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def pair():
    return self_signed(HOST, datetime.now(UTC), lives=timedelta(hours=1))


def shake_hands(pair, folder, host: str) -> str | None:
    """Have a client that trusts the certificate talk to a server that has it, in memory."""
    certificate, key = folder / "c.pem", folder / "k.pem"
    certificate.write_text(pair.certificate)
    key.write_text(pair.key)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate, key)
    asking = ssl.create_default_context(cafile=str(certificate))
    asking.verify_flags |= ssl.VERIFY_X509_STRICT
    one_way, other_way = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = asking.wrap_bio(one_way, other_way, server_hostname=host)
    server = serving.wrap_bio(other_way, one_way, server_side=True)
    for _ in range(4):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return client.version()


def test_who_trusts_the_certificate_can_talk_to_who_has_its_key(pair, tmp_path):
    assert shake_hands(pair, tmp_path, HOST) == "TLSv1.3"


def test_it_is_good_for_its_own_address_alone(pair, tmp_path):
    with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
        shake_hands(pair, tmp_path, "127.0.0.2")


def test_it_ends(tmp_path):
    old = self_signed(HOST, datetime.now(UTC) - timedelta(days=2), lives=timedelta(days=1))

    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        shake_hands(old, tmp_path, HOST)


def test_every_certificate_has_a_key_of_its_own(pair):
    other = self_signed(HOST, datetime.now(UTC), lives=timedelta(hours=1))

    assert pair.key != other.key
    assert "PRIVATE" not in repr(pair)
