"""Each workload as it goes out: the size of its prompt, the output that it asks for."""

import json

import pytest
from support.answers import good_case
from support.probing import probe
from support.replay import Asked, replay

from pacewatch.words.outcome import Outcome
from pacewatch.words.slot import WORKLOADS, Workload
from probe.tokens import count_tokens

OWN = Workload(name="chat", input_tokens=2_000, output_tokens=400)
ALL = [*WORKLOADS.values(), OWN]


def prompt_of(asked: Asked) -> str:
    text: str = json.loads(asked.body)["messages"][0]["content"]
    return text


@pytest.mark.parametrize("workload", ALL, ids=[workload.name for workload in ALL])
def test_a_workload_asks_with_its_tokens_for_its_tokens(workload):
    with replay(good_case()) as served:
        run = probe(f"{served.url}/v1", workload=workload)

    [timing] = run.timings
    [asked] = served.asked
    assert (run.workload, timing.outcome) == (workload.name, Outcome.OK)
    assert count_tokens(prompt_of(asked)) == pytest.approx(workload.input_tokens, rel=0.02)
    assert json.loads(asked.body)["max_tokens"] == workload.output_tokens


def test_an_endpoint_that_reasons_is_asked_with_its_effort_and_gets_room_for_it():
    reasons = {"reasons": True, "reasoning_tokens": 1_024, "body": {"reasoning_effort": "low"}}
    with replay(good_case()) as served:
        probe(f"{served.url}/v1", workload=WORKLOADS["sentinel"], **reasons)

    body = json.loads(served.asked[0].body)
    assert (body["reasoning_effort"], body["max_tokens"]) == ("low", 64 + 1_024)


def test_ten_prompts_of_the_longest_workload_go_out_whole_and_each_is_another():
    with replay(good_case()) as served:
        run = probe(f"{served.url}/v1", requests=10, workload=WORKLOADS["xlong"])

    assert [timing.outcome for timing in run.timings] == [Outcome.OK] * 10
    prompts = [prompt_of(asked) for asked in served.asked]
    assert len({prompt[:200] for prompt in prompts}) == 10
    assert {len(asked.body) > 400_000 for asked in served.asked} == {True}
