import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from pacewatch.sim.control import Control
from pacewatch.sim.faults import FaultKind, Faults
from pacewatch.sim.http import Request

WORDS = st.sampled_from(["all", "eu-west", "\ud800", *FaultKind])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS,
    lambda held: st.lists(held) | st.dictionaries(st.text(), held),
    max_leaves=4,
)
OPTIONS = {name: VALUES for name in ("region", "factor", "ttft_add_s", "status", "how", "trouble")}
ASKED = st.fixed_dictionaries({"kind": WORDS, "target": WORDS | VALUES}, optional=OPTIONS)
BODIES = (
    st.binary()
    | ASKED.map(lambda told: json.dumps(told).encode())
    | st.sampled_from([b"[" * 100_000, b"9" * 6_000, b'{"kind":"\\ud800"}'])
)


class Heard:
    """The other half of a connection: keeps the answer."""

    status, body = 0, b""

    async def whole(self, status, body, headers):
        self.status, self.body = status, body


@given(
    body=BODIES,
    method=st.sampled_from(["GET", "POST", "DELETE", "PUT"]),
    path=st.sampled_from(["/faults", "/endpoints", "/"]),
)
def test_whatever_the_control_is_given_it_answers_in_json(body, method, path):
    control = Control(token="t", faults=Faults(), served=(), regions=("eu-west",))
    shown = {"authorization": "Bearer t"}
    asked = Request(method=method, path=path, query={}, headers=shown, body=body, received_s=0.0)
    heard = Heard()

    asyncio.run(control.answer(asked, heard))

    assert heard.status in {200, 404, 422}
    assert isinstance(json.loads(heard.body), dict)


def test_a_letter_that_is_none_is_told_and_not_stumbled_over():
    control = Control(token="t", faults=Faults(), served=(), regions=("eu-west",))
    body, shown = b'{"kind":"stall","target":"\\ud800"}', {"authorization": "Bearer t"}
    asked = Request(
        method="POST", path="/faults", query={}, headers=shown, body=body, received_s=0.0
    )
    heard = Heard()

    asyncio.run(control.answer(asked, heard))

    assert heard.status == 422
    assert json.loads(heard.body)["detail"].startswith('"?" is no endpoint')
