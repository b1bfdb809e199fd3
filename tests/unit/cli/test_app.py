from pacewatch.cli.app import MOST_FAULTS, fault_line, lines_of
from pacewatch.words.errors import SettingsError


def test_an_error_is_printed_without_what_would_move_a_cursor():
    assert lines_of(SettingsError('"\x1b[2J\u202eend": unknown key')) == [
        '"\ufffd[2J\ufffdend": unknown key'
    ]


def test_of_thousands_of_faults_the_first_are_printed_and_the_rest_counted():
    said = lines_of(SettingsError([f"fault {n}" for n in range(2_000 + MOST_FAULTS)]))

    assert said[:2] == ["fault 0", "fault 1"]
    assert said[MOST_FAULTS:] == ["and 2,000 more"]


def test_a_fault_of_our_own_is_told_by_its_place():
    def fail() -> None:
        raise KeyError("x")

    try:
        fail()
    except KeyError as error:
        said = fault_line(error)

    assert said.startswith("a fault of Pacewatch itself: KeyError in test_app.py, line ")
    assert said.endswith(" (PACEWATCH_DEBUG=1 shows all of it)")
