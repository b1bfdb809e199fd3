"""Fixtures of all suites. The environment is cleaned of our own and of proxy variables before
anything else.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from support.golden import check_golden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.broker import Broker

_OURS = ("PACEWATCH_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")

for _name in [
    n for n in os.environ if n.upper().startswith(_OURS) or n.upper().endswith("_API_KEY")
]:
    del os.environ[_name]


# a busy machine is slow, and no fault of what is tested; the examples differ from run to run
settings.register_profile(
    "ours", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ours")


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A served Postgres for the session."""
    from support.servers import embedded_postgres  # the servers' clients are slow to import

    with embedded_postgres() as url:
        yield url


@pytest.fixture
def database_url(postgres_url: str) -> Iterator[str]:
    """A new empty database."""
    from support.servers import fresh_database

    with fresh_database(postgres_url) as url:
        yield url


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--regold`: write the golden files anew, to be read in review."""
    parser.addoption("--regold", action="store_true", help="rewrite the files of tests/golden")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file of tests/golden: `golden("cli/board-80.txt", text)`."""
    anew = bool(request.config.getoption("--regold"))
    return lambda name, text: check_golden(name, text, anew=anew)


@pytest.fixture
def broker() -> Iterator[Broker]:
    """A served broker of the test's own, which it may kill and start again."""
    from support.broker import embedded_broker

    with embedded_broker() as served:
        yield served


@pytest.fixture
def broker_url(broker: Broker) -> str:
    """The URL of a broker of the test's own."""
    return broker.url
