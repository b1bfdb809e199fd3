import base64
import json

import pytest
from support.benches import NOW

from pacewatch.words.errors import WireError
from probe.message import MAX_BODY, read_message

TASK = {
    "v": 1,
    "run": "6f2d3a2e-5d3c-4d9e-8f0e-0d3c5b1f7a11",
    "endpoint": "own/model",
    "workload": "short",
    "load": "single",
    "slot_at": "2026-03-01T12:00:00Z",
    "purpose": "scheduled",
    "valid_until": "2026-03-01T12:30:00Z",
}


def body_of(told):
    return base64.b64encode(json.dumps(told).encode()).decode()


def message(**fields):
    return {
        "body": body_of([[TASK], {}, {"callbacks": None, "chain": None}]),
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {"lang": "py", "task": "pacewatch.probe", "id": "x", "eta": None},
        "properties": {
            "delivery_tag": "tag",
            "delivery_info": {"exchange": "", "routing_key": "probe.eu-west"},
            "body_encoding": "base64",
        },
    } | fields


def test_the_task_of_a_message_is_its_one_argument():
    task = read_message(message())

    assert (task.endpoint, task.slot_at) == ("own/model", NOW)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ([], "a JSON object is needed, not list"),
        (None, "a JSON object is needed, not NoneType"),
        (message(headers=[]), "headers must be a JSON object"),
        (message(headers={"task": ["pacewatch.probe"]}), "unknown task"),
        (message(headers={"task": "celery.chord"}), "unknown task 'celery.chord'"),
        (
            message(headers={"task": "pacewatch.probe", "compression": "zlib"}),
            "a compressed body is not read",
        ),
        (message(**{"content-type": "application/x-python-serialize"}), "x-python-serialize"),
        (message(properties="x"), "properties must be a JSON object"),
        (message(properties={"delivery_info": {}}), "delivery_tag, exchange and routing_key"),
        (message(body="%"), "the body is not base64 of JSON"),
        (message(body=body_of("x")), "a list of arguments, names and options"),
        (message(body="A" * (MAX_BODY + 4)), "at most 16384 characters"),
        (message(body=body_of([[TASK, TASK], {}, {}])), "one argument and no names"),
        (message(body=body_of([[TASK], {"key": "x"}, {}])), "one argument and no names"),
        (message(body=body_of([["x"], {}, {}])), "task: a JSON object is needed"),
        (message(body=body_of([[TASK | {"v": 2}], {}, {}])), "version 2 is not known"),
        (message(body=body_of([[TASK | {"base_url": "http://evil"}], {}, {}])), "'base_url'"),
        (message(body=body_of([[TASK | {"endpoint": "nowhere"}], {}, {}])), "no endpoint id"),
    ],
)
def test_a_forged_message_is_refused_in_one_sentence(raw, said):
    with pytest.raises(WireError, match=r"^(message|task): ") as refused:
        read_message(raw)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_body_nested_without_end_is_refused():
    deep = base64.b64encode(b"[" * 9_000).decode()

    with pytest.raises(WireError, match="not base64 of JSON"):
        read_message(message(body=deep))
