"""Where a running simulator is: `simulator.json` in the state folder, for its user's eyes alone."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pacewatch.words.errors import StackError

FILE_NAME = "simulator.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """How a running simulator is reached."""

    url: str
    """Of the control."""
    token: str
    regions: Mapping[str, str]
    """URL of each region's providers."""
    pid: int

    def __repr__(self) -> str:
        """Return the address without its token."""
        return f"Address(url={self.url!r}, regions={dict(self.regions)!r}, pid={self.pid})"


def write_address(state: Path, address: Address) -> None:
    """Write the file in one step; raises OSError."""
    told = {
        "v": 1,
        "url": address.url,
        "token": address.token,
        "regions": dict(address.regions),
        "pid": address.pid,
    }
    fresh = state / f".{FILE_NAME}.{os.getpid()}"
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(told, file)
    fresh.replace(state / FILE_NAME)


def read_address(state: Path) -> Address:
    """Return the address; raises StackError where the folder has none that can be read."""
    path = state / FILE_NAME
    try:
        told = json.loads(path.read_text())
        return Address(
            url=told["url"], token=told["token"], regions=told["regions"], pid=told["pid"]
        )
    except FileNotFoundError:
        raise StackError(
            f"no demo is running on {state} "
            "(pacewatch up --demo starts one, PACEWATCH_STATE names its folder)"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StackError(f"{path}: cannot be read ({type(error).__name__})") from error


def remove_address(state: Path, token: str) -> None:
    """Remove the file, if it is still the one of that token."""
    try:
        if read_address(state).token == token:
            (state / FILE_NAME).unlink(missing_ok=True)
    except StackError:
        return
