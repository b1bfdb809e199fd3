"""Ways of looking at the board: its regions, loads, workloads and further parts. Pure."""

from dataclasses import dataclass
from datetime import datetime

from aggregator.board import Board
from aggregator.page import Choice
from aggregator.standing import RegionStanding, RegionState
from pacewatch.words.fleet import Fleet
from pacewatch.words.slot import Load
from pacewatch.words.text import age_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One way of looking at the board."""

    text: str
    address: str
    chosen: bool
    note: str = ""
    state: str = ""


def region_tabs(board: Board, choice: Choice) -> tuple[Tab, ...]:
    """Return the regions to choose from, with how they stand; one region needs no choice of all."""
    tabs = [
        Tab(
            text=region.region,
            address=choice.query(region=region.region),
            chosen=choice.region == region.region or len(board.regions) == 1,
            note=_heartbeat(region, board.at),
            state=str(region.state),
        )
        for region in board.regions
    ]
    if len(tabs) == 1:
        return tuple(tabs)
    pooled = Tab(
        text="all regions", address=choice.query(region=None), chosen=choice.region is None
    )
    return (pooled, *tabs)


def _heartbeat(region: RegionStanding, now: datetime) -> str:
    if region.state is RegionState.SILENT:
        return f"silent for {age_text(region.last_seen_at, now)}"
    return "no worker yet" if region.state is RegionState.UNSEEN else ""


def load_tabs(fleet: Fleet, choice: Choice) -> tuple[Tab, ...]:
    """Return the loads to choose from."""
    names = {
        Load.SINGLE: "one request",
        Load.PARALLEL: f"{fleet.schedule.parallel_requests} at once",
    }
    return tuple(
        Tab(text=names[load], address=choice.query(load=str(load)), chosen=choice.load is load)
        for load in Load
    )


def workload_tabs(board: Board, choice: Choice) -> tuple[Tab, ...]:
    """Return the workloads to choose from; none where there is only one."""
    if len(board.workloads) < 2:
        return ()
    return tuple(
        Tab(text=name, address=choice.query(workload=name), chosen=choice.workload == name)
        for name in board.workloads
    )


def page_links(board: Board, choice: Choice) -> tuple[Tab, ...]:
    """Return where the other parts of a long board are; none where all of it is here."""
    links = []
    if choice.after:
        links.append(("first models", ""))
    if board.next_after is not None:
        links.append((f"models after {board.next_after}", board.next_after))
    return tuple(
        Tab(text=text, address=choice.query(after=after), chosen=False) for text, after in links
    )
