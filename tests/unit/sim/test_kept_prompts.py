from pacewatch.sim import kept_prompts
from pacewatch.sim.kept_prompts import KEPT_TOKENS, KeptPrompts
from pacewatch.sim.script import PROMPT_START_CHARS

START = "x" * PROMPT_START_CHARS


def test_a_prompt_is_known_the_second_time():
    kept = KeptPrompts()

    assert [kept.keep("groq", START) for _ in range(3)] == [0, KEPT_TOKENS, KEPT_TOKENS]


def test_each_provider_keeps_its_own():
    kept = KeptPrompts()

    assert [kept.keep(provider, START) for provider in ("groq", "zai")] == [0, 0]


def test_a_short_prompt_is_not_kept():
    kept = KeptPrompts()

    assert [kept.keep("groq", START[:-1]) for _ in range(2)] == [0, 0]


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(kept_prompts, "MOST_PROMPTS", 2)
    kept = KeptPrompts()
    for letter in "abc":
        kept.keep("groq", letter * PROMPT_START_CHARS)

    assert kept.keep("groq", "c" * PROMPT_START_CHARS) == KEPT_TOKENS
    assert kept.keep("groq", "a" * PROMPT_START_CHARS) == 0
