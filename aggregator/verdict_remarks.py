"""A verdict as a remark beside figures. Pure."""

from datetime import datetime

from aggregator.tones import Remark, Tone
from aggregator.verdict_views import Believed
from pacewatch.words.text import age_text, than_usual_text, word_text
from pacewatch.words.verdict import SLOWER_FROM, VERDICT_MEANINGS, Verdict

TONES = {
    Verdict.OK: Tone.FINE,
    Verdict.LEARNING: Tone.QUIET,
    Verdict.SLOW: Tone.BAD,
    Verdict.SILENT: Tone.WARN,
    Verdict.FAILING: Tone.BAD,
    Verdict.NOT_SERVED: Tone.BAD,
}


def verdict_remark(believed: Believed, now: datetime) -> Remark:
    """Return what is believed, for how long, and why."""
    verdict = Verdict(believed.verdict)
    ratios = [
        than_usual_text(what, times)
        for what, times in (
            ("first token", believed.ttft_ratio),
            ("output", believed.speed_ratio),
        )
        if times is not None and verdict is Verdict.SLOW and times >= SLOWER_FROM
    ]
    told = ", ".join(ratios) or VERDICT_MEANINGS[verdict]
    text = f"{word_text(verdict)} for {age_text(believed.since, now)}: {told}"
    return Remark(tone=TONES[verdict], text=text)
