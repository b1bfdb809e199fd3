"""What a simulated model writes: plain sentences in which the number of tokens is known.

Every item is one token of the o200k_base vocabulary, wherever it stands here, so that the speed
that is sent is the speed that a reader must find.
"""

import random
from collections.abc import Iterator


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_WORDS = _words("The A Each Every One This That Some Another Our Their Your")
DETERMINERS = _words("the a each every one this that some another our their your")
ADJECTIVES = _words(
    "quiet narrow small old bright early long wide deep cold warm simple steady careful distant "
    "modern open rough smooth gentle heavy light broken hidden green golden silver wooden empty "
    "busy slow rapid sharp calm clear dark fresh plain strong young"
)
NOUNS = _words(
    "river road market bridge garden station window letter engine harbor valley village forest "
    "teacher doctor farmer driver worker student captain tower signal season winter summer "
    "morning evening journey machine kitchen library island mountain lake field street corner "
    "table paper book story question answer picture pattern message city country company house "
    "door train ship storm cloud wind rain snow shadow line number moment result reason voice "
    "song friend child family neighbor"
)
VERBS = _words(
    "follows crosses keeps finds brings carries shows opens closes watches holds makes takes "
    "gives meets leaves moves turns covers builds reaches joins passes remembers describes "
    "explains measures changes needs wants helps serves supports protects"
)
PREPOSITIONS = _words(
    "near beside behind under above across beyond around through toward before after within "
    "without inside outside along against between beneath"
)
ADVERBS = _words(
    "slowly quickly often always never again today together early late quietly rarely usually "
    "perhaps"
)
CONJUNCTIONS = _words("and but while because although until since so")

_CLAUSE = (ADJECTIVES, NOUNS, VERBS, DETERMINERS, NOUNS)
_PLACE = (PREPOSITIONS, DETERMINERS, ADJECTIVES, NOUNS)


def write_tokens(seed: str) -> Iterator[str]:
    """Yield tokens of sentences without end; joined they are the text, which the seed decides."""
    dice = random.Random(seed)  # noqa: S311 - reproducible, no secret
    opening = True
    while True:
        first = dice.choice(FIRST_WORDS)
        yield first if opening else f" {first}"
        opening = False
        for words in _sentence(dice):
            yield f" {dice.choice(words)}"
        yield "."


def _sentence(dice: random.Random) -> tuple[tuple[str, ...], ...]:
    """Return the kinds of words that follow a sentence's first."""
    kinds: tuple[tuple[str, ...], ...] = _CLAUSE
    if dice.random() < 0.6:
        kinds += _PLACE
    if dice.random() < 0.3:
        kinds += (CONJUNCTIONS, DETERMINERS, *_CLAUSE)
    if dice.random() < 0.3:
        kinds += (ADVERBS,)
    return kinds
