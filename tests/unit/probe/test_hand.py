from uuid import uuid4

from probe.hand import Hand

RUN = uuid4()


def test_a_run_is_in_hand_until_each_task_for_it_is_done_with():
    hand = Hand()
    hand.receive(RUN)
    hand.receive(RUN)
    hand.let_go(RUN)
    assert hand.run_ids() == [RUN]
    hand.let_go(RUN)
    assert hand.run_ids() == []


def test_two_tasks_are_not_at_the_same_run():
    hand = Hand()
    with hand.alone(RUN) as first:
        assert first
        with hand.alone(RUN) as second:
            assert not second
        with hand.alone(RUN) as third:
            assert not third
    with hand.alone(RUN) as later:
        assert later


def test_streams_are_counted_while_they_are_open():
    hand = Hand()
    with hand.streams(1) as beside:
        assert beside == 0
        with hand.streams(10) as beside:
            assert beside == 1
    with hand.streams(1) as beside:
        assert beside == 0


def test_a_run_that_no_disk_could_decline_is_told_until_a_heartbeat_has_told_it():
    hand = Hand()
    hand.note_full(RUN)
    told = hand.full()
    another = uuid4()
    hand.note_full(another)
    hand.told_full(told)

    assert ([RUN], [another]) == (told, hand.full())
