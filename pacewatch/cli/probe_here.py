"""Runs that `probe` makes itself, in this process, with a reader of its own."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Thread
from uuid import uuid4

from pacewatch import __version__
from pacewatch.cli.probe_asked import Asked
from pacewatch.cli.probe_live import Watching
from pacewatch.cli.render import show_line, terminal
from pacewatch.words.endpoint import endpoint_hash
from pacewatch.words.fleet import catalog_hash
from pacewatch.words.slot import Load, Purpose, Workload, run_id
from pacewatch.words.timing import Run, WorkerName
from pacewatch.words.wire import Task
from probe.adapt import refused_members
from probe.reading import Reading
from probe.run import make_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Runs of one kind, as many as are asked for."""

    asked: Asked
    workload: Workload
    requests: int
    watch: bool

    def runs(self, count: int) -> Iterator[Run]:
        """Make runs one after another, and give each when it is over.

        Where the server refuses a member of the body by name, one more is made without it.
        """
        with closing(Reading()) as reading:
            Thread(target=reading.start, daemon=True).start()  # starts while the rest is loaded
            for n in range(count):
                known = refused_members(self.asked.endpoint)
                run = asyncio.run(self._watched(reading, n, count))
                found = refused_members(self.asked.endpoint)
                if refused := [one for one in found if one not in known]:
                    words = " and ".join(refused)
                    told = f"The server refuses {words}; this is a second run without it."
                    show_line(told, error=True)
                    run = asyncio.run(self._watched(reading, n, count))
                yield run

    def alone(self) -> Run:
        """Make one run of a single request, which parallel ones are compared with."""
        [run] = replace(self, requests=1).runs(1)
        return run

    async def _watched(self, reading: Reading, n: int, count: int) -> Run:
        screen = terminal()
        if screen is None:
            return await self._run(reading, None)
        which = f", run {n + 1} of {count}" if count > 1 else ""
        place = f"{self.asked.endpoint.id} from {self.asked.region.name}"
        many = "" if self.requests == 1 else f", {self.requests} requests together"
        title = f"{place}, workload {self.workload.name}{many}{which}"
        watching = Watching(screen, title, has_tracks=self.watch)
        drawing = asyncio.create_task(watching.draw())
        try:
            return await self._run(reading, watching)
        finally:
            drawing.cancel()
            with suppress(asyncio.CancelledError):
                await drawing

    async def _run(self, reading: Reading, watching: Watching | None) -> Run:
        asked, workload = self.asked, self.workload
        return await make_run(
            task=self._task(),
            endpoint=asked.endpoint,
            workload=workload,
            region=asked.region,
            key=asked.key,
            requests=self.requests,
            simulated=asked.fleet is not None and asked.fleet.simulated,
            worker=WorkerName(
                id="probe",
                version=__version__,
                catalog=endpoint_hash(asked.endpoint, workload)
                if asked.fleet is None
                else catalog_hash(asked.fleet),
            ),
            execution=uuid4(),
            beside=0,
            reading=reading,
            watch=None if watching is None else watching.begin,
        )

    def _task(self) -> Task:
        now = datetime.now(UTC)
        load = Load.SINGLE if self.requests == 1 else Load.PARALLEL
        endpoint, workload = self.asked.endpoint.id, self.workload.name
        return Task(
            run_id=run_id(
                purpose=Purpose.MANUAL,
                endpoint=endpoint,
                region=self.asked.region.name,
                workload=workload,
                load=load,
                at=str(uuid4()),
            ),
            endpoint=endpoint,
            workload=workload,
            load=load,
            slot_at=now,
            purpose=Purpose.MANUAL,
            valid_until=now + timedelta(hours=1),
        )
