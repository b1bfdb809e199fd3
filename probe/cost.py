"""What the requests of a run came to: how many were sent, tokens and US$."""

from collections.abc import Sequence

from pacewatch.words.endpoint import Endpoint
from pacewatch.words.slot import Workload
from pacewatch.words.spending import Demand
from pacewatch.words.timing import Run, Timing


def cost_usd(timings: Sequence[Timing], endpoint: Endpoint, workload: Workload) -> float | None:
    """Return what the requests cost by the endpoint's price; None where none is known."""
    price = endpoint.price
    if price is None:
        return None
    billed = (_billed(timing, workload) for timing in timings)
    return round(sum(a * price.input_usd + b * price.output_usd for a, b in billed) / 1e6, 9)


def spent_on(run: Run, workload: Workload) -> Demand:
    """Return what a run came to; a request that was never sent is none."""
    return Demand(
        requests=sum(timing.sent_us is not None for timing in run.timings),
        tokens=sum(sum(_billed(timing, workload)) for timing in run.timings),
        usd=run.cost_usd,
    )


def _billed(timing: Timing, workload: Workload) -> tuple[int, int]:
    """Return the tokens of a request, in and out: the provider's where it told them, else the
    prompt's size and the counted ones.

    A request that was refused, or never sent, has none.
    """
    told = timing.provider_tokens
    if told is None and not timing.chunks.at_us:
        return 0, 0
    asked = told.input if told is not None and told.input is not None else workload.input_tokens
    made = told.output if told is not None else None
    return asked, sum(timing.chunks.tokens) if made is None else made
