"""The environment that commands of the centre work in."""

import os
from collections.abc import Mapping

from pacewatch.stack.state import store_environment


def centre_environment() -> Mapping[str, str]:
    """Return this process's environment, with the store and the demo's file of the `up` that this
    user has running where it names no store itself.
    """
    return store_environment(os.environ, uid=os.getuid())
