"""What a program of Postgres said, in one line."""

from pacewatch.stack.postgres import reason_of


def test_why_a_program_failed_is_its_first_fault_and_not_how_it_tidied_up():
    said = (
        'FATAL:  could not write to file "pg_wal/1": File too large\n'
        "child process exited with exit code 1\n"
        "initdb: removing data directory\n"
    )

    assert reason_of(said) == 'FATAL:  could not write to file "pg_wal/1": File too large'


def test_without_a_fault_it_is_the_last_line():
    assert reason_of("begun\nended") == "ended"
