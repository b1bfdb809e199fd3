"""The simulator: a listener for each region, one for the control, the faults and the logs."""

import asyncio
import contextlib
import gc
import logging
import os
import secrets
import signal
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pacewatch.log import event
from pacewatch.sim.address import Address, remove_address, write_address
from pacewatch.sim.control import Control
from pacewatch.sim.door import HOST, Door, shut_port
from pacewatch.sim.faults import Faults
from pacewatch.sim.http import MAX_CONNECTIONS, Listener
from pacewatch.sim.kept_prompts import KeptPrompts
from pacewatch.sim.provider import ProviderDesk
from pacewatch.sim.requestlog import LineLog
from pacewatch.sim.route import serve_endpoints
from pacewatch.sim.stream import fine_loop
from pacewatch.words.endpoint import Endpoint
from pacewatch.words.errors import StackError

REQUESTS_LOG = "simulator-requests.jsonl"
ANSWERS_LOG = "simulator-answers.jsonl"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a simulator serves, and where."""

    endpoints: tuple[Endpoint, ...]
    ports: Mapping[str, int]
    """Port of each region; 0: any free one."""
    state: Path
    """Folder of the address and the logs."""
    doors: Mapping[str, Door] = field(default_factory=dict)
    """How a region's address is entered, for those that are not entered in clear."""
    exact: bool = False
    """True: no spread of times, for tests."""
    seed: str = "0"


@contextlib.asynccontextmanager
async def running(plan: Plan) -> AsyncIterator[Address]:
    """Run a simulator; gives its address; raises StackError where it cannot listen or write."""
    async with contextlib.AsyncExitStack() as stack:
        try:
            plan.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            requests, answers = (LineLog(plan.state / n) for n in (REQUESTS_LOG, ANSWERS_LOG))
        except OSError as error:
            raise StackError(f"{plan.state}: cannot be written ({error.strerror})") from error
        stack.callback(requests.close)
        stack.callback(answers.close)
        served, faults, kept = serve_endpoints(plan.endpoints), Faults(), KeptPrompts()
        most = MAX_CONNECTIONS // (len(plan.ports) + 1)
        regions = {}
        for region, port in plan.ports.items():
            desk = ProviderDesk(
                region=region,
                served=served,
                faults=faults,
                kept=kept,
                requests=requests,
                answers=answers,
                exact=plan.exact,
                seed=plan.seed,
            )
            listener = Listener(desk.answer, most=most)
            door = plan.doors.get(region)
            regions[region] = await _open(stack, listener, port, f"region {region}", door)
        token = secrets.token_urlsafe(24)
        control = Control(token=token, faults=faults, served=served, regions=plan.ports)
        url = await _open(stack, Listener(control.answer, most=most), 0, "control")
        address = Address(url=url, token=token, regions=regions, pid=os.getpid())
        write_address(plan.state, address)
        stack.callback(remove_address, plan.state, token)
        yield address


async def _open(
    stack: contextlib.AsyncExitStack,
    listener: Listener,
    port: int,
    name: str,
    door: Door | None = None,
) -> str:
    try:
        if door is not None and door.is_shut:
            held = stack.enter_context(shut_port(port))
            return f"http://{HOST}:{held.getsockname()[1]}"
        url = await listener.open(port, None if door is None else door.context())
    except OSError as error:
        raise StackError(
            f"simulator: {name}: port {port} cannot be opened ({error.strerror})"
        ) from error
    stack.push_async_callback(listener.close)
    return url


def serve(plan: Plan) -> None:
    """Run a simulator until SIGTERM or SIGINT; raises StackError."""
    with asyncio.Runner(loop_factory=fine_loop) as runner:
        runner.run(_serve(plan))


async def _serve(plan: Plan) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with running(plan) as address:
        gc.freeze()
        event(logger, "simulator.ready", regions=dict(address.regions), url=address.url)
        await stop.wait()
    event(logger, "simulator.stopped")
