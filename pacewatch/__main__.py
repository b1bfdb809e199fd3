"""python -m pacewatch"""

from pacewatch.cli.app import main

if __name__ == "__main__":
    main()
