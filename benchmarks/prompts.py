"""How long a prompt takes to be made, and what part that is of counting its tokens.

`python -m benchmarks.prompts`; exit code 1 where one of 100,000 tokens takes over 50 ms.
"""

import sys
from collections.abc import Callable
from time import perf_counter

from probe.prompts import make_prompt
from probe.tokens import count_tokens, warm_up

SIZES = (100, 1_000, 10_000, 100_000)
TRIES = 9
BOUND_MS = 50.0


def took_ms(work: Callable[[], object]) -> float:
    """Return the median time of some tries, milliseconds."""
    times = []
    for _ in range(TRIES):
        began = perf_counter()
        work()
        times.append((perf_counter() - began) * 1e3)
    return sorted(times)[TRIES // 2]


def main() -> None:
    """Print a line a size."""
    warm_up()
    print(f"{'tokens':>8} {'made ms':>8} {'counted ms':>11} {'ratio':>6}")
    for size in SIZES:
        prompt = make_prompt(size, 1_000)
        made_ms = took_ms(lambda size=size: make_prompt(size, 1_000))
        counted_ms = took_ms(lambda prompt=prompt: count_tokens(prompt))
        print(f"{size:>8,} {made_ms:>8.2f} {counted_ms:>11.2f} {made_ms / counted_ms:>6.2f}")
    sys.exit(int(made_ms > BOUND_MS))


if __name__ == "__main__":
    main()
