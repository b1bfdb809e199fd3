import asyncio
import itertools

from probe.together import Start, Turns


def test_nobody_is_let_go_before_all_are_ready_and_all_go_at_once():
    gone: list[int] = []

    async def scene() -> None:
        start = Start(3)
        waits = [asyncio.create_task(start.wait(lambda n=n: gone.append(n))) for n in range(2)]
        for _ in range(5):
            await asyncio.sleep(0)
        assert gone == []
        await start.wait(lambda: gone.append(2))
        assert gone == [0, 1, 2]
        await asyncio.gather(*waits)

    asyncio.run(scene())


def test_who_gives_up_is_not_waited_for():
    gone: list[int] = []

    async def scene() -> None:
        start = Start(2)
        waiting = asyncio.create_task(start.wait(lambda: gone.append(1)))
        await asyncio.sleep(0)
        start.leave()
        await waiting

    asyncio.run(scene())

    assert gone == [1]


def test_a_single_request_takes_no_turns():
    assert Start(1).turns is None
    assert Start(2).turns is not None


def test_one_turn_is_given_between_two_looks_at_the_sockets():
    """What waits for a turn goes in order, and other callbacks run in between."""
    seen: list[str] = []

    async def scene() -> None:
        turns = Turns()
        loop = asyncio.get_running_loop()

        async def taker(name: str) -> None:
            for _ in range(2):
                await turns.wait()
                seen.append(name)

        def look(left: int) -> None:
            seen.append("look")
            if left:
                loop.call_soon(look, left - 1)

        look(12)
        await asyncio.gather(taker("a"), taker("b"))

    asyncio.run(scene())
    takers = [name for name in seen if name != "look"]

    assert takers == ["a", "b", "a", "b"]
    for one, other in itertools.pairwise(seen):
        assert "look" in (one, other) or seen[-1] != "look"


def test_a_turn_that_nobody_waits_for_any_more_is_passed_on():
    async def scene() -> bool:
        turns = Turns()
        gone = asyncio.create_task(turns.wait())
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait_for(turns.wait(), 5)
        return True

    assert asyncio.run(scene())
