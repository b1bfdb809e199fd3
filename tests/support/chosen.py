"""What of a file's tests was chosen to be run."""

import pytest


def chosen_ids(request: pytest.FixtureRequest) -> set[str]:
    """The parameters' ids of the tests of the requesting file that are to be run."""
    return {
        item.callspec.id
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    }
