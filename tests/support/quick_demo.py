"""`pacewatch up --demo` with a quicker day and a few endpoints, for scenes that must be over soon.

Run as a program, with the words of `up`. All processes are the real ones: their one file is longer.
"""

from pacewatch.__main__ import main
from pacewatch.stack import demo

ENDPOINTS = (
    "groq/llama-3.3-70b",
    "cerebras/gpt-oss-120b",
    "fireworks/gpt-oss-120b",
    "sambanova/gpt-oss-120b",
)

SPACING_S = 4
"""Between two runs of an endpoint from a region, seconds."""

DAY_S = 120
"""Three hours of it are 15 s, long enough for a run to be made and told on a busy machine."""

LINES = f"""
endpoints = {list(ENDPOINTS)}
[schedule]
day_s = {DAY_S}
single_per_day = {DAY_S // SPACING_S}
parallel_per_day = 0
window_s = {3 * DAY_S}
[sentinels]
every_s = 0
"""

if __name__ == "__main__":
    demo.HEAD += LINES
    main()
