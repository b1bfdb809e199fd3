"""Pauses between starts, and what a process may know of the shell."""

from pacewatch.stack.part import failures_after, ordinary_environment, pause_s


def test_pauses_grow_and_are_bounded():
    assert [pause_s(n) for n in range(1, 9)] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_pauses_stay_bounded_after_many_failures():
    assert pause_s(100_000) == 30.0


def test_who_lived_for_a_minute_starts_again_at_the_shortest_pause():
    assert failures_after(7, lived_s=60.0) == 1


def test_who_dies_young_waits_longer():
    assert failures_after(7, lived_s=59.9) == 8


def test_no_key_no_address_and_no_proxy_is_handed_on():
    environment = {
        "PATH": "/bin",
        "HOME": "/home/ann",
        "GROQ_API_KEY": "k",
        "AWS_SECRET_ACCESS_KEY": "k",
        "PACEWATCH_DATABASE_URL": "postgresql://u:p@h/d",
        "HTTPS_PROXY": "http://p",
    }

    assert ordinary_environment(environment) == {"PATH": "/bin", "HOME": "/home/ann"}
