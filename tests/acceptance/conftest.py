"""What several scenes share."""

from collections.abc import Iterator

import pytest
from support.receiving import Receiver, receiving


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    """Whom a demo tells of incidents."""
    with receiving() as receiver:
        yield receiver
