"""`pacewatch` and `python -m pacewatch`."""

import sys

STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command line; Ctrl-C ends it quietly, while it is still being loaded too."""
    try:
        from pacewatch.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
