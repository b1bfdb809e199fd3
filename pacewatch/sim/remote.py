"""Asks a running simulator's control from another process."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from pacewatch.sim.address import Address
from pacewatch.words.errors import SettingsError, StackError

TIMEOUT_S = 10.0


def ask(address: Address, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Return the control's answer.

    Raises SettingsError where what is asked cannot be, StackError where no simulator answers.
    """
    connection = http.client.HTTPConnection(urlsplit(address.url).netloc, timeout=TIMEOUT_S)
    headers = {"authorization": f"Bearer {address.token}"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        told = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise StackError(
            "no demo is running: its simulator does not answer (start one: pacewatch up --demo)"
        ) from error
    finally:
        connection.close()
    if answer.status == 422:
        raise SettingsError(str(told.get("detail")))
    if answer.status != 200:
        raise StackError(f"the simulator answered {answer.status}: {told.get('detail')}")
    return told
