from pacewatch.words.endpoint import READ_PROTOCOLS
from probe.protocols.table import PROTOCOLS


def test_every_protocol_that_the_catalog_calls_readable_has_a_reader():
    assert set(PROTOCOLS) == READ_PROTOCOLS
