import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from pacewatch.catalog import read_catalog
from pacewatch.config import load_fleet
from pacewatch.prices import known_price, look_up
from pacewatch.words.errors import SettingsError

DAY = date(2026, 12, 1)
REFS = {
    "groq/gpt-oss-120b": ("groq", "openai/gpt-oss-120b"),
    "nobody/nothing": ("groq", "no-such-model"),
}


def kept_files(cache: Path) -> list[str]:
    return sorted(file.name for file in (cache / "pacewatch").iterdir())


def test_prices_are_asked_once_a_day_and_kept(tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    asked = look_up(REFS, on=DAY, environment=environment)
    (file,) = (tmp_path / "pacewatch").iterdir()
    file.write_text(json.dumps({"groq/gpt-oss-120b": [7.0, 8.0]}))
    kept = look_up(REFS, on=DAY, environment=environment)

    assert list(asked) == ["groq/gpt-oss-120b"]
    assert asked["groq/gpt-oss-120b"].source.endswith(", 2026-12-01")
    assert kept["groq/gpt-oss-120b"].input_usd == 7.0


def test_a_kept_file_that_is_rubbish_is_asked_again_and_yesterdays_goes(tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    look_up(REFS, on=DAY, environment=environment)
    (file,) = (tmp_path / "pacewatch").iterdir()
    file.write_text("[1, 2")
    (tmp_path / "pacewatch" / "prices-2026-11-30-0123456789abcdef.json").write_text("{}")
    again = look_up(REFS, on=DAY, environment=environment)

    assert again["groq/gpt-oss-120b"].input_usd < 1
    assert kept_files(tmp_path) == [file.name]


def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path):
    (tmp_path / "pacewatch").write_text("a file where the folder would be")

    assert look_up(REFS, on=DAY, environment={"XDG_CACHE_HOME": str(tmp_path)})


def test_nothing_is_asked_about_nothing(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert look_up({}, on=DAY, environment={}) == {}


def test_prices_that_cannot_be_had_are_a_fault_and_not_free(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    with pytest.raises(SettingsError, match="without prices no spending cap would hold"):
        look_up(REFS, on=DAY, environment={})


def test_this_process_does_not_load_the_price_package():
    """It takes some 90 MB, which no process of the fleet has to spare."""
    code = (
        "import sys; from pacewatch.config import load_fleet;"
        "f = load_fleet(None, {'GROQ_API_KEY': 'x'});"
        "assert f.endpoints[0].price; assert 'genai_prices' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_every_shipped_endpoint_has_a_price_but_those_nobody_sells():
    catalog = read_catalog()
    unpriced = {
        key
        for key, endpoint in catalog.endpoints.items()
        if endpoint.price is None
        and (
            (provider := catalog.providers[endpoint.provider].prices) is None
            or known_price(provider, catalog.price_models[key], DAY) is None
        )
    }

    assert unpriced == {"nvidia/gpt-oss-120b", "cerebras/llama-4-maverick"}


def test_a_price_of_the_catalog_fills_a_hole_and_nothing_else():
    catalog = read_catalog()
    twice = [
        key
        for key, endpoint in catalog.endpoints.items()
        if endpoint.price and catalog.providers[endpoint.provider].prices
    ]

    assert twice == []


def test_a_variant_costs_what_it_varies_unless_its_table_says_otherwise(tmp_path):
    file = tmp_path / "pacewatch.toml"
    table = '[[endpoint]]\nprovider = "groq"\nmodel = "llama-3.3-70b"\nvariant = "{}"\n'
    own_price = "price = { input_usd = 7, output_usd = 8 }\n"
    elsewhere = 'base_url = "http://127.0.0.1:9/v1"\n'
    file.write_text(
        table.format("a") + table.format("b") + own_price + table.format("c") + elsewhere
    )
    fleet = load_fleet(file, {"XDG_CACHE_HOME": str(tmp_path)}, today=DAY)
    prices = {e.id.partition("#")[2]: e.price for e in fleet.endpoints}

    assert {key: price and price.input_usd for key, price in prices.items()} == {
        "a": 0.59,
        "b": 7.0,
        "c": None,
    }


def test_a_price_is_of_a_short_request():
    """Some providers charge more for very long prompts."""
    assert known_price("openai", "gpt-5.5", DAY) == (5.0, 30.0)
