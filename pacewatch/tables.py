"""A checked look at a TOML table: typed values out, every fault noted with its key path.

Nothing here knows what a key means. A fault never repeats a value that may be a secret.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from typing import Any

MOST_KNOWN = 24
"""Known words that a fault lists at most."""

_SECRET_NAME = re.compile(
    r"(^|[_-])(api_?keys?|keys?|token|secrets?|passw(or)?ds?|auth|authorization|bearer|cookies?"
    r"|credentials?)$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"(?:Bearer\s+\S+|\b(?:sk|pk|rk|csk|gsk|xai|nvapi|hf|fw|tgp|r8|pplx|ghp|dsk)[-_][A-Za-z0-9_\-]{12,}"
    r"|\bAIza[A-Za-z0-9_\-]{20,}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\beyJ[A-Za-z0-9_\-]{20,}"
    r"|-----BEGIN)"
)
_FREE = frozenset({"model", "id"})
"""Keys whose values may be long and look random, as a server's name of a model."""

_LONG_RANDOM = re.compile(r"(?=[A-Za-z0-9]*[0-9])(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{32,}")


def looks_secret(text: str) -> bool:
    """Tell whether a text may be a key, by its form."""
    return bool(_SECRET_VALUE.search(text) or _LONG_RANDOM.search(text))


def shown(value: object) -> str:
    """Return a value as a fault may show it: short, and never one that may be a secret."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "(not shown)" if looks_secret(value) else f'"{value[:80]}"'
    if isinstance(value, int | float | date):
        return str(value)[:40]
    return "a table" if isinstance(value, Mapping) else "a list"


def unprintable(text: str) -> str | None:
    """Return the code point of the first character that cannot be printed; None without one."""
    return next((f"U+{ord(sign):04X}" for sign in text if not sign.isprintable()), None)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean "x"?)` for the nearest known word; else what is known, or nothing."""
    words = sorted(set(known))
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    if near:
        return f' (did you mean "{near[0]}"?)'
    return f" (known: {', '.join(words)})" if 0 < len(words) <= MOST_KNOWN else ""


def secrets_in(raw: Mapping[str, Any], place: str, path: str = "") -> list[str]:
    """Take every value that may be a key out of a table; return a fault for each, without it."""
    faults: list[str] = []
    for key in list(raw):
        where = join(path, key)
        if _holds_secret(key, raw[key]):
            faults.append(
                f"{place}: {where}: a key must not stand in the file "
                '(allowed: key_env = "NAME" of an environment variable, or a file that '
                "NAME_FILE names)"
            )
            del raw[key]  # type: ignore[attr-defined]
        else:
            faults += _secrets_below(raw[key], place, where)
    return faults


def _secrets_below(value: object, place: str, where: str) -> list[str]:
    if isinstance(value, dict):
        return secrets_in(value, place, where)
    if isinstance(value, list):
        pairs = enumerate(value)
        return [f for n, item in pairs for f in _secrets_below(item, place, f"{where}[{n}]")]
    return []


def _holds_secret(key: str, value: object) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, str) and looks_secret(item) for item in value)
    if not isinstance(value, str):
        return False
    if _SECRET_NAME.search(key):
        return True
    return bool(_SECRET_VALUE.search(value)) if key in _FREE else looks_secret(value)


def join(path: str, key: str) -> str:
    """Return the key path of a key below a path, quoted where TOML quotes it."""
    bare = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else f'"{key[:60]}"'
    if looks_secret(key):
        bare = "(not shown)"
    return f"{path}.{bare}" if path else bare


class Table:
    """One table of a file, read key by key; `close` refuses the keys nobody asked for."""

    def __init__(self, raw: Mapping[str, Any], *, place: str, path: str, faults: list[str]) -> None:
        """Look at `raw`, which stands at key path `path` of the file `place`."""
        self.raw = raw
        self.place = place
        self.path = path
        self.faults = faults
        self._asked: set[str] = set()

    def fault(self, key: str, text: str, item: int | None = None) -> None:
        """Note a fault of a key, of an item of its list, or, where `key` is empty, of the table."""
        where = join(self.path, key) if key else self.path
        where += "" if item is None else f"[{item}]"
        self.faults.append(f"{self.place}: {where}: {text}" if where else f"{self.place}: {text}")

    def has(self, key: str) -> bool:
        """Tell whether the key is there."""
        self._asked.add(key)
        return key in self.raw

    def _typed(self, key: str, kind: type | tuple[type, ...], name: str) -> Any:
        self._asked.add(key)
        value = self.raw.get(key)
        if value is None:
            return None
        numeric = kind in (int, (int, float))
        if not isinstance(value, kind) or (numeric and isinstance(value, bool)):
            self.fault(key, f"{name} is needed, not {shown(value)}")
            return None
        return value

    def text(self, key: str, *, allowed: Collection[str] = (), needed: bool = False) -> str | None:
        """Return a text; None, with a fault where it is wrong or needed."""
        value: str | None = self._typed(key, str, "a text")
        if value is None:
            if needed and key not in self.raw:
                self.fault(key, "is missing")
            return None
        if allowed and value not in allowed:
            self.fault(key, f"unknown word {shown(value)}{suggestion(value, allowed)}")
            return None
        if not value.strip():
            self.fault(key, "must not be empty")
            return None
        if (odd := unprintable(value)) is not None:
            self.fault(key, f"holds {odd} (allowed: printable characters)")
            return None
        return value

    def texts(self, key: str, *, allowed: Collection[str] = ()) -> tuple[str, ...] | None:
        """Return a list of texts; None where it is absent or wrong."""
        value = self._typed(key, list, "a list of texts")
        if value is None:
            return None
        for n, item in enumerate(value):
            if not isinstance(item, str) or not item:
                self.fault(key, f"a text is needed, not {shown(item)}", n)
                return None
            if (odd := unprintable(item)) is not None:
                self.fault(key, f"holds {odd} (allowed: printable characters)", n)
                return None
            if allowed and item not in allowed:
                self.fault(key, f"unknown word {shown(item)}{suggestion(item, allowed)}", n)
                return None
        return tuple(value)

    def number(self, key: str, *, low: float, high: float) -> float | None:
        """Return a number from `low` to `high`; None where it is absent or wrong."""
        value = self._typed(key, (int, float), "a number")
        if value is None:
            return None
        if not low <= value <= high:
            self.fault(key, f"{shown(value)} is out of bounds (allowed: {low:.10g} to {high:.10g})")
            return None
        return float(value)

    def whole(self, key: str, *, low: int, high: int) -> int | None:
        """Return a whole number from `low` to `high`; None where it is absent or wrong."""
        value = self._typed(key, int, "a whole number")
        if value is None:
            return None
        if not low <= value <= high:
            self.fault(key, f"{value} is out of bounds (allowed: {low} to {high})")
            return None
        return int(value)

    def flag(self, key: str) -> bool | None:
        """Return a yes or no; None where it is absent or wrong."""
        value: bool | None = self._typed(key, bool, "true or false")
        return value

    def day(self, key: str) -> date | None:
        """Return a date; None where it is absent or wrong."""
        value: date | None = self._typed(key, date, "a date (form: 2026-12-31)")
        if isinstance(value, datetime):
            self.fault(key, "a date (form: 2026-12-31) is needed, not a moment")
            return None
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        """Return a table as it stands; empty where it is absent or wrong."""
        return dict(self._typed(key, dict, "a table") or {})

    def table(self, key: str) -> "Table":
        """Return the table under a key; an empty one where it is absent or wrong."""
        raw = self.mapping(key)
        return Table(raw, place=self.place, path=join(self.path, key), faults=self.faults)

    def tables(self, key: str) -> list["Table"]:
        """Return the list of tables under a key."""
        raw = self._typed(key, list, f"a list of tables ([[{key}]])") or []
        if bad := [item for item in raw if not isinstance(item, dict)]:
            self.fault(key, f"a list of tables ([[{key}]]) is needed, not {shown(bad[0])}")
            return []
        path = join(self.path, key)
        return [
            Table(item, place=self.place, path=f"{path}[{n}]", faults=self.faults)
            for n, item in enumerate(raw)
        ]

    def close(self) -> None:
        """Refuse the keys that nobody asked for."""
        for key in self.raw:
            if key not in self._asked:
                self.fault(key, f"unknown key{suggestion(key, self._asked)}")
