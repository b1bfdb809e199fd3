"""A verdict as a remark beside figures. Pure."""

from datetime import datetime

from aggregator.tones import Remark, Tone
from aggregator.verdict_views import Believed
from pacewatch.words.text import age_text, slower_figures, word_text
from pacewatch.words.verdict import VERDICT_MEANINGS, Verdict

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
    slower = slower_figures(believed.times) if verdict is Verdict.SLOW else ""
    told = f"{slower} than usual" if slower else VERDICT_MEANINGS[verdict]
    text = f"{word_text(verdict)} for {age_text(believed.since, now)}: {told}"
    return Remark(tone=TONES[verdict], text=text)
