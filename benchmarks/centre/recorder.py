"""A connection that notes what is executed on it, by itself or by its cursors."""

from typing import Any

from aggregator import db

Statement = tuple[str, Any]
"""A query with its values."""


class Recorder:
    """Notes each statement, and lets it through."""

    def __init__(self, connection: db.Connection) -> None:
        self._connection = connection
        self.done: list[Statement] = []

    def execute(self, query: str, values: Any = None, **options: Any) -> Any:
        """Execute, and note it."""
        self.done.append((query, values))
        return self._connection.execute(query, values, **options)

    def cursor(self, *words: Any, **options: Any) -> Any:
        """Return a cursor that notes what it executes."""
        return _Cursor(self._connection.cursor(*words, **options), self.done)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class _Cursor:
    def __init__(self, cursor: Any, done: list[Statement]) -> None:
        self._cursor = cursor
        self._done = done

    def execute(self, query: str, values: Any = None, **options: Any) -> Any:
        self._done.append((query, values))
        return self._cursor.execute(query, values, **options)

    def __enter__(self) -> "_Cursor":
        self._cursor.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._cursor.__exit__(*error)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            setattr(self._cursor, name, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)
