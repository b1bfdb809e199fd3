"""What tokens cost: dated prices of the genai-prices package, where it knows the endpoint.

The package takes some 90 MB and a second to load, so it is loaded in a child process that ends
again, and its answer is kept in a file for the day.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from pacewatch.words.endpoint import Price
from pacewatch.words.errors import SettingsError

Refs = Mapping[str, tuple[str, str]]
"""By endpoint id: the provider's id and the model's name in genai-prices."""

CHILD_LIMIT_S = 120
"""How long the child process may take, seconds."""

SAMPLE_TOKENS = 1_000
"""Prices are asked for a request of this size: some providers charge more for very long ones."""


def look_up(refs: Refs, *, on: date, environment: Mapping[str, str]) -> dict[str, Price]:
    """Return the prices known on a day, by endpoint id; reads and writes the day's file.

    Raises SettingsError where they cannot be had: without them no cap would hold.
    """
    if not refs:
        return {}
    source = f"genai-prices {version('genai-prices')}"
    asked = json.dumps([source, on.isoformat(), sorted((k, *v) for k, v in refs.items())])
    digest = sha256(asked.encode()).hexdigest()[:16]
    kept = _kept(environment, f"{on.isoformat()}-{digest}")
    rows = _read(kept)
    if rows is None:
        rows = _ask_child(refs, on)
        _write(kept, rows)
    return {
        endpoint: Price(input_usd=into, output_usd=out, source=f"{source}, {on.isoformat()}")
        for endpoint, (into, out) in rows.items()
    }


Rows = dict[str, tuple[float, float]]


def _kept(environment: Mapping[str, str], name: str) -> Path | None:
    base = environment.get("XDG_CACHE_HOME") or (
        f"{environment['HOME']}/.cache" if environment.get("HOME") else ""
    )
    return Path(base) / "pacewatch" / f"prices-{name}.json" if base.startswith("/") else None


def _read(kept: Path | None) -> Rows | None:
    if kept is None:
        return None
    try:
        raw = json.loads(kept.read_text(encoding="utf-8"))
        return {str(key): (float(into), float(out)) for key, (into, out) in raw.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return None


def _write(kept: Path | None, rows: Rows) -> None:
    if kept is None:
        return
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        day = kept.name[: len("prices-2026-12-31")]
        for old in kept.parent.glob("prices-*.json"):
            if not old.name.startswith(day):
                old.unlink(missing_ok=True)
        new = kept.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(rows), encoding="utf-8")
        new.replace(kept)
    except OSError:
        return


def _ask_child(refs: Refs, on: date) -> Rows:
    asked = json.dumps({"on": on.isoformat(), "refs": {k: list(v) for k, v in refs.items()}})
    try:
        child = subprocess.run(
            [sys.executable, "-m", "pacewatch.prices"],
            input=asked,
            capture_output=True,
            text=True,
            check=True,
            timeout=CHILD_LIMIT_S,
            env={key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ},
        )
        return {key: (into, out) for key, (into, out) in json.loads(child.stdout).items()}
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        raise SettingsError(
            f"prices: genai-prices could not be asked ({type(error).__name__}); "
            "without prices no spending cap would hold"
        ) from error


def known_price(provider: str, model: str, on: date) -> tuple[float, float] | None:
    """Return US$ per million tokens in and out on a day; None where genai-prices knows none.

    Loads genai-prices into this process.
    """
    from datetime import UTC, datetime, time

    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=SAMPLE_TOKENS, output_tokens=SAMPLE_TOKENS)
    noon = datetime.combine(on, time(12), UTC)
    try:
        found = calc_price(usage, model, provider_id=provider, genai_request_timestamp=noon)
    except LookupError:
        return None
    scale = 1_000_000 / SAMPLE_TOKENS
    return round(float(found.input_price) * scale, 9), round(float(found.output_price) * scale, 9)


def answer() -> None:
    """Answer one question of `look_up` on standard input: the child process."""
    asked = json.load(sys.stdin)
    on = date.fromisoformat(asked["on"])
    found = {
        key: known_price(provider, model, on) for key, (provider, model) in asked["refs"].items()
    }
    json.dump({key: price for key, price in found.items() if price is not None}, sys.stdout)


if __name__ == "__main__":
    answer()
