"""Prompts of an exact size that no provider has seen: a random tale to go on with.

Every word below is one o200k_base token where a space stands before it, so a prompt's size is known
without counting it, and 100,000 tokens take milliseconds. The first word is random too, so no two
prompts share a beginning that a cache could answer from.
"""

from functools import lru_cache
from random import Random, SystemRandom

from probe.tokens import count_tokens


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ADJECTIVES = _words(
    """
    ancient awake big bitter blue bold bright broken brown busy calm careful cheap clean clear cold
    dark deep distant dry early famous final firm flat foreign formal free fresh full funny gentle
    giant golden grand great green grey happy hard healthy heavy hidden hollow honest huge humble
    hungry ideal idle inner large late lazy light little local lonely long loose loud lucky main
    major mild minor mixed modern narrow near neat new nice noble odd old open outer pale patient
    perfect pink plain pretty proud pure purple quick quiet rare raw ready real red rich ripe rough
    round royal rural safe serious severe sharp shiny short shy silent simple single sleepy slow
    small smart smooth soft solid spare special stable steady still straight strange strong sudden
    sunny sure sweet tall tender thick thin thirsty tight tiny tired true urban useful usual vast
    violet visible warm weak weekly wet white wide wild wise wooden worthy yellow young
    """
)
_NOUNS = _words(
    """
    anchor answer ant apple arrow autumn baker bank barn barrel basket beach bear bee bell blanket
    boat book bottle branch bread bridge brother bush butter butterfly button camera candle captain
    castle cat cave chair cheese cherry church circle clay clock cloth cloud coal coast coat coffee
    coin color compass copper corner cottage cotton cousin crow crown cup deer desert doctor dog
    door dream driver drum duck eagle engine evening factory farmer father fence field fire fish
    flag floor flower forest fork fox frog game garden gate glass glove goat gold goose grape grass
    hammer harbour hat hill honey horse hospital hotel house ice idea iron island journey key
    kitchen ladder lake lamp lawyer leaf leather lemon lesson letter library line lock map market
    milk mirror moon morning mother mountain museum needle neighbour night number ocean office oil
    orange owl page painter palace paper parcel party path pear pencil pepper phone piano pilot plan
    plate plum pocket pond prize promise question rabbit radio rain ring river road roof room root
    rope sail sailor salt sand school screen sea seed shadow shark sheep shoe shop silver sister sky
    smoke snake snow soldier song sound spider spoon spring square star station stone storm story
    stranger stream street student sugar summer sun table tea teacher temple theatre thread ticket
    tower train tree triangle trumpet turtle uncle valley village violin voice voyage wall water
    whale wheel wind window winter wolf wood wool word
    """
)
_VERBS = _words(
    """
    brings builds buys carries closes counts covers crosses draws drops feeds fills finds follows
    gives guards hears helps hides holds invites joins keeps knows leads leaves lends lifts likes
    loves makes marks measures meets moves names needs offers opens owns paints passes plants pours
    praises protects pulls pushes reaches remembers removes rents repairs returns saves sees sells
    sends serves shows sorts studies supports takes teaches tells tests thanks touches trades trusts
    turns visits waits warns washes watches weighs wins wraps
    """
)
_OPENERS = _words(
    """
    big blue bold bright broken brown busy cheap clean clear cold dark deep dry early final firm
    flat foreign formal free fresh full grand great green grey happy hard healthy heavy hidden
    ideal idle inner large late lazy light little local long main major minor mixed modern near new
    nice odd old open outer perfect pink plain pretty pure purple quick quiet rare raw ready real
    red rich rough round safe sharp short silent simple single slow small smart smooth soft solid
    special stable steady still straight strong sure sweet thin tight tiny true urban vast visible
    warm weak wet white wide wild wise yellow young
    """
)
"""Adjectives that are one token at the beginning of a text as well."""

_OPENING_TOKENS = 7
_SENTENCE_TOKENS = 8
_TERSE_BELOW = 60
"""A prompt of fewer tokens has the short instruction."""


def make_prompt(input_tokens: int, output_tokens: int, random: Random | None = None) -> str:
    """Return a new prompt of exactly `input_tokens` o200k_base tokens that asks for at least
    `output_tokens` of text; raises ValueError below 16.
    """
    random = random or SystemRandom()
    order = _instruction(input_tokens, output_tokens)
    room = input_tokens - _instruction_tokens(order) - _OPENING_TOKENS
    if room < 0:
        raise ValueError(f"a prompt of {input_tokens} tokens has no room (at least 16 are needed)")
    sentences, more = divmod(room, _SENTENCE_TOKENS)
    picked = Random(random.getrandbits(256))  # noqa: S311 - unlike any other, not a secret
    adjectives = picked.choices(_ADJECTIVES, k=2 * sentences + more + 1)
    nouns = picked.choices(_NOUNS, k=2 * sentences + 2)
    verbs = picked.choices(_VERBS, k=sentences + 1)
    opening = " ".join(
        (picked.choice(_OPENERS), *adjectives[2 * sentences + 1 :], nouns[-1], verbs[-1], "the")
    )
    tale = "".join(
        f" the {a} {b} {c} the {d} {e}."
        for a, b, c, d, e in zip(
            adjectives[:sentences],
            nouns[:sentences],
            verbs[:sentences],
            adjectives[sentences : 2 * sentences],
            nouns[sentences : 2 * sentences],
            strict=True,
        )
    )
    return f"{opening} {adjectives[2 * sentences]} {nouns[-2]}.{tale}{order}"


def _instruction(input_tokens: int, output_tokens: int) -> str:
    if input_tokens < _TERSE_BELOW:
        return " Tell a very long story."
    return (
        f" Write a story in which all of this happens, with at least {output_tokens} words,"
        " in every detail, and do not end it early."
    )


@lru_cache(maxsize=64)
def _instruction_tokens(order: str) -> int:
    return count_tokens(order)
