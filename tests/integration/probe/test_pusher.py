from datetime import UTC, datetime
from threading import Thread

import pytest
from support.inlet import served_inlet
from support.timings import make_run

from probe.centre import SLOW_RETRY_S, open_client
from probe.clock import Clock
from probe.disk import Disk
from probe.outbox import Outbox
from probe.push import NotNow, Pusher
from probe.settings import Settings


@pytest.fixture
def inlet():
    with served_inlet() as served:
        yield served


@pytest.fixture
def disk(tmp_path):
    with Disk(tmp_path, simulated=False) as held:
        yield held


@pytest.fixture
def outbox(disk):
    return Outbox(disk)


@pytest.fixture
def pusher(tmp_path, disk, outbox, inlet):
    settings = Settings(
        region="eu-west",
        broker_url="",
        aggregator_url=inlet.url,
        token="region-token",
        state=tmp_path,
    )
    with open_client(settings, None) as client:
        yield Pusher(outbox, client, Clock(disk, lambda: datetime(2026, 3, 1, tzinfo=UTC)))


def keep(outbox, names):
    runs = [make_run(name=name) for name in names]
    for run in runs:
        outbox.keep(run)
    return [str(run.run_id) for run in runs]


def test_what_was_kept_is_pushed_with_the_regions_token_and_leaves(pusher, outbox, inlet):
    run_ids = keep(outbox, "abc")

    assert not pusher.push_once()
    assert pusher.push_once()
    assert sorted(run_ids) == sorted(inlet.runs())
    assert inlet.tokens == {"Bearer region-token"}
    assert outbox.runs() == 0


def test_a_push_has_at_most_a_hundred_runs(pusher, outbox, inlet):
    keep(outbox, [str(n) for n in range(130)])
    while not pusher.push_once():
        pass

    assert inlet.sizes == [100, 30]


@pytest.mark.parametrize("status", ["stored", "held", "duplicate", "aside"])
def test_a_run_leaves_the_outbox_on_the_aggregators_word_about_it(pusher, outbox, inlet, status):
    [run_id] = keep(outbox, "a")
    inlet.statuses[run_id] = status
    pusher.push_once()

    assert outbox.runs() == 0
    assert outbox.refused() == []


def test_a_refused_run_is_set_aside_with_the_reason_and_later_ones_pass(pusher, outbox, inlet):
    run_id, other = keep(outbox, "ab")
    inlet.statuses[run_id] = "refused"
    pusher.push_once()

    assert [(str(found), reason) for found, reason in outbox.refused()] == [
        (run_id, "as the test wants it")
    ]
    assert inlet.runs() == [other]
    assert outbox.runs() == 0


def test_a_run_whose_status_is_not_known_here_stays(pusher, outbox, inlet):
    run_id, other = keep(outbox, "ab")
    inlet.statuses[run_id] = "postponed"
    pusher.push_once()

    assert [str(found) for found in outbox.run_ids()] == [run_id]
    assert inlet.runs() == [other]


@pytest.mark.parametrize("status", [413, 422])
def test_a_batch_that_is_too_much_is_halved_until_one_run_is_refused(pusher, outbox, inlet, status):
    keep(outbox, "abcd")
    too_much = (status, {}, {"detail": "runs: too much"})
    # all four, the first two, the first one of them; then all is well
    inlet.script.extend([too_much, too_much, too_much])
    pusher.push_once()

    assert inlet.sizes == [4, 2, 1, 1, 2]
    assert [reason for _, reason in outbox.refused()] == [f"answered {status}: runs: too much"]
    assert len(inlet.stored) == 3
    assert outbox.runs() == 0


@pytest.mark.parametrize(
    ("status", "headers", "at_least_s", "said"),
    [
        (500, {}, 0.0, "the aggregator answered 500"),
        (503, {"retry-after": "17"}, 17.0, "the aggregator answered 503"),
        (429, {"retry-after": "9"}, 9.0, "the aggregator answered 429"),
        (401, {}, SLOW_RETRY_S, "does not know this region's token"),
        (403, {}, SLOW_RETRY_S, "for another region only"),
        (307, {"location": "http://127.0.0.1:9/"}, 0.0, "the aggregator answered 307"),
    ],
)
def test_an_answer_that_says_nothing_of_the_runs_costs_time_alone(
    pusher, outbox, inlet, status, headers, at_least_s, said
):
    keep(outbox, "ab")
    inlet.script.append((status, headers, {}))

    with pytest.raises(NotNow, match=said) as told:
        pusher.push_once()
    assert told.value.at_least_s == at_least_s
    assert outbox.runs() == 2
    pusher.push_once()
    assert outbox.runs() == 0


@pytest.mark.parametrize("answer", [{}, {"results": []}, {"results": "all fine"}])
def test_an_answer_that_names_no_run_takes_none(pusher, outbox, inlet, answer):
    keep(outbox, "a")
    inlet.script.append((200, {}, answer))

    with pytest.raises(NotNow, match="tells of none of the runs"):
        pusher.push_once()
    assert outbox.runs() == 1


def test_an_aggregator_that_is_not_there_costs_time_alone(tmp_path, disk, outbox):
    settings = Settings(
        region="eu-west",
        broker_url="",
        aggregator_url="http://127.0.0.1:9",
        token="region-token",
        state=tmp_path,
    )
    keep(outbox, "a")
    with open_client(settings, None) as client:
        pusher = Pusher(outbox, client, Clock(disk))
        with pytest.raises(NotNow, match="cannot be reached"):
            pusher.push_once()
    assert outbox.runs() == 1


def test_the_thread_pushes_what_is_kept_while_it_runs_and_a_last_time_when_it_ends(
    pusher, outbox, inlet
):
    thread = Thread(target=pusher.run)
    thread.start()
    keep(outbox, "a")
    pusher.wake()
    inlet.wait_until(lambda served: len(served.stored) == 1)
    keep(outbox, "b")
    pusher.stop()
    thread.join(30)

    assert not thread.is_alive()
    assert outbox.runs() == 0


def test_a_push_whose_answer_was_lost_is_held_the_second_time(pusher, outbox, inlet):
    keep(outbox, "a")
    [kept] = outbox.batch()
    pusher.push_once()
    outbox.keep(make_run(name="a"))  # as if its leaving had not reached the disk
    pusher.push_once()

    assert list(inlet.stored) == [str(kept.execution)]
    assert outbox.runs() == 0
