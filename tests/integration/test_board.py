import json
import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from statistics import median

import pytest
from fastapi.testclient import TestClient
from support.boards import ENDPOINTS, HOSTILE, board_fleet, fill, filled_pool, samples_of
from support.centre import migrated_pool
from support.pooled import pooled_median
from support.records import NOON
from support.seed import add_series
from support.servers import embedded_postgres, fresh_database

from aggregator.api.app import create_app
from pacewatch.words.slot import Load
from pacewatch.words.text import speed_text


@pytest.fixture(scope="module")
def pool(postgres_url):
    with fresh_database(postgres_url) as url, filled_pool(url) as pool:
        yield pool


def client_at(pool, moment=NOON, fleet=None):
    return TestClient(create_app(pool, fleet or board_fleet(), clock=lambda: moment))


@pytest.fixture
def client(pool):
    return client_at(pool)


def document(client, query=""):
    answer = client.get(f"/api/board{query}")
    assert answer.status_code == 200
    return answer.json()


def endpoints_of(board):
    return {
        endpoint["endpoint"]: endpoint
        for model in board["models"]
        for endpoint in model["endpoints"]
    }


class Page(HTMLParser):
    """What a browser makes of a page: tags with attributes, and the text of each table row."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        self.words.append(data)
        if self.rows:
            self.rows[-1].append(data)


def page_of(client, query=""):
    answer = client.get(f"/{query}")
    assert answer.status_code == 200
    return Page(answer.text)


def test_the_board_reads_as_the_golden_one(client, golden):
    text = json.dumps(document(client), indent=2, ensure_ascii=False)

    golden("api/board.json", text + "\n")


def test_the_status_reads_as_the_golden_one(client, golden):
    text = json.dumps(client.get("/api/status").json(), indent=2, ensure_ascii=False)

    golden("api/status.json", text + "\n")


def test_a_workload_that_is_asked_for_no_longer_is_no_trouble_any_more(pool):
    fleet = board_fleet()
    other = replace(fleet, schedule=replace(fleet.schedule, workloads=("standard",)))
    before, after = (client_at(pool, fleet=f).get("/api/status").json() for f in (fleet, other))

    assert [one["endpoint"] for one in before["failing"]] == ["groq/gpt-oss-120b"]
    assert after["failing"] == []
    assert not any("failing" in problem for problem in after["problems"])


def test_the_page_reads_as_the_golden_one(client, golden):
    text = re.sub(r"style.css\?v=[0-9a-f]+", "style.css?v=HASH", client.get("/").text)

    golden("web/board.html", text)


def test_endpoints_of_a_model_stand_in_the_order_of_their_speed(client):
    (model,) = [m for m in document(client)["models"] if m["model"] == "gpt-oss-120b"]

    assert [endpoint["provider"] for endpoint in model["endpoints"]] == [
        "cerebras",
        "groq",
        "nvidia",
        "own",
        "deepinfra",
    ]


def test_a_pooled_median_gives_each_region_the_same_weight(client):
    endpoint = "deepinfra/gpt-oss-120b"
    speeds = {
        region: [s.tokens_per_s for s in samples_of(endpoint, region, Load.SINGLE)[:used]]
        for region, used in (("eu-west", 20), ("us-east", 11))
    }
    found = endpoints_of(document(client, "?load=single"))[endpoint]["series"][0]

    pooled = found["pooled"]["output_tokens_per_s"]
    assert pooled["runs"] == 31
    expected = pooled_median(speeds)
    assert expected is not None
    assert pooled["median"] == pytest.approx(expected.value, rel=1e-3)
    assert pooled["low"] == pytest.approx(expected.low, rel=1e-3)
    own = found["regions"]["us-east"]["output_tokens_per_s"]
    assert own["median"] == pytest.approx(median(speeds["us-east"]), rel=1e-3)


def test_a_slowdown_over_regions_is_that_of_the_medians_beside_it(client):
    series = endpoints_of(document(client))["own/gpt-oss-120b@fp8#lab"]["series"]
    alone, among = (found["pooled"] for found in series)

    for name, slow, fast in (
        ("output_tokens_per_s", alone, among),
        ("ttft_s", among, alone),
    ):
        over, under = slow[name], fast[name]
        assert among["slowdown"][name] == {
            "times": over["median"] / under["median"],
            "low": over["low"] / under["high"],
            "high": over["high"] / under["low"],
            "interval_percent": 90,
            "runs": among[name]["runs"],
            "runs_alone": alone[name]["runs"],
        }
    only = endpoints_of(document(client, "?load=parallel"))["own/gpt-oss-120b@fp8#lab"]["series"]
    assert only[0]["pooled"] == among


def test_what_one_region_alone_measured_is_its_own_median(client):
    (series,) = endpoints_of(document(client, "?load=single"))["nvidia/gpt-oss-120b"]["series"]

    own = series["regions"]["eu-west"]["output_tokens_per_s"]
    assert series["pooled"]["output_tokens_per_s"] == own
    names = ("median", "low", "high", "interval_percent", "runs", "p5", "p25", "p75", "p95")
    assert set(own) == set(names)
    assert own["interval_percent"] == 95


def test_too_few_runs_are_told_as_such_and_have_no_median(client):
    (series,) = endpoints_of(document(client, "?load=single"))["zai/glm-5.2"]["series"]

    assert tuple(series["pooled"][name] for name in ("state", "runs", "fewest_runs")) == (
        "insufficient",
        4,
        6,
    )
    figures = dict.fromkeys(("median", "low", "high", "interval_percent"))
    assert series["pooled"]["ttft_s"] == {**figures, "runs": 4}


def test_two_failed_runs_are_failing_and_one_is_not(client):
    found = endpoints_of(document(client, "?load=single"))

    failing = found["groq/gpt-oss-120b"]["series"][0]["pooled"]
    once = found["deepinfra/gpt-oss-120b"]["series"][0]["pooled"]
    assert (failing["failing_in"], once["failing_in"]) == (["us-east"], [])
    assert {"ok", "rate_limited"} >= {once["latest"]["outcome"]}


@pytest.mark.parametrize(
    ("query", "endpoints", "regions", "loads"),
    [
        ("?model=glm-5.2", {"zai/glm-5.2"}, {"eu-west", "us-east"}, {"single", "parallel"}),
        (
            "?provider=groq&provider=zai&load=single",
            {"groq/gpt-oss-120b", "zai/glm-5.2"},
            {"eu-west", "us-east"},
            {"single"},
        ),
        ("?region=us-east&provider=groq", {"groq/gpt-oss-120b"}, {"us-east"}, None),
        ("?workload=nothing", set(), set(), set()),
        ("?model=%3Cscript%3E", set(), set(), set()),
    ],
)
def test_a_filter_leaves_what_it_names(client, query, endpoints, regions, loads):
    found = endpoints_of(document(client, query))

    series = [one for endpoint in found.values() for one in endpoint["series"]]
    assert endpoints == set(found)
    assert regions == {region for one in series for region in one["regions"]}
    assert loads is None or loads == {one["load"] for one in series}


def parts_of(client, path, query):
    """All parts of a long answer, from the first to the one without a next."""
    parts, after = [], ""
    while after is not None:
        answer = client.get(path, params={**query, **({"after": after} if after else {})})
        assert answer.status_code == 200
        parts.append(answer.json())
        after = parts[-1]["next"]
    return parts


@pytest.mark.parametrize(("limit", "parts"), [(1, 3), (5, 3), (6, 2), (7, 1), (100, 1)])
def test_a_long_board_comes_in_parts_of_whole_models(client, limit, parts):
    found = parts_of(client, "/api/board", {"limit": limit, "load": "single"})

    assert parts == len(found)
    together = [model for part in found for model in part["models"]]
    assert document(client, "?load=single")["models"] == together


def test_a_further_part_of_the_page_holds_the_models_after_the_one_that_is_named(client):
    rest = page_of(client, "?after=glm-5.2")
    end = page_of(client, "?after=zzz%00&region=%00&workload=%00")

    names = [
        attributes["id"] for tag, attributes in rest.tags if tag == "th" and "id" in attributes
    ]
    assert names == ["gpt-oss-120b", "mercury-2"]
    links = [attributes.get("href") for tag, attributes in rest.tags if tag == "a"]
    assert "/?workload=short&load=single" in links
    assert "No model comes after" in "".join(end.words)


def test_series_stand_one_by_one_with_what_the_board_says_of_their_region(client):
    found = [
        series
        for part in parts_of(client, "/api/series", {"limit": 5})
        for series in part["series"]
    ]

    ids = [series["series"] for series in found]
    assert ids == sorted(set(ids))
    board = {
        (endpoint["endpoint"], region, series["workload"], series["load"]): cell
        for endpoint in endpoints_of(document(client)).values()
        for series in endpoint["series"]
        for region, cell in series["regions"].items()
    }
    listed = {
        tuple(series[name] for name in ("endpoint", "region", "workload", "load")): series
        for series in found
    }
    assert {key for key, series in listed.items() if series["active"]} <= set(board)
    for key, cell in board.items():
        assert cell == {name: listed[key][name] for name in cell}


def test_series_can_be_asked_for_by_all_that_tells_them_apart(client):
    query = "?precision=fp8&region=us-east&load=parallel&workload=short&model=gpt-oss-120b"

    (series,) = client.get(f"/api/series{query}").json()["series"]

    assert series["endpoint"] == "own/gpt-oss-120b@fp8#lab"
    assert series["state"] == "shown"
    tag = client.get(f"/api/series{query}").headers["etag"]
    again = client.get(f"/api/series{query}", headers={"If-None-Match": tag})
    assert again.status_code == 304


def listed_on(client, path, query=""):
    """What tells apart each series of a list, whichever list it is."""
    told = client.get(f"/api/{path}{query}{'&' if query else '?'}limit=500").json()
    if path == "series":
        found = told["series"]
    else:
        found = [
            {**endpoint, "model": model["model"], "region": region, **series}
            for model in told["models"]
            for endpoint in model["endpoints"]
            for series in endpoint["series"]
            for region in series["regions"]
        ]
    names = ("endpoint", "model", "provider", "precision", "region", "workload", "load")
    return [{name: one[name] for name in names} for one in found]


@pytest.mark.parametrize("path", ["board", "series"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("endpoint", "groq/gpt-oss-120b"),
        ("model", "gpt-oss-120b"),
        ("provider", "groq"),
        ("precision", "fp8"),
        ("region", "us-east"),
        ("workload", "long"),
        ("load", "parallel"),
    ],
)
def test_each_filter_alone_leaves_the_series_of_that_value(client, path, name, value):
    everything = listed_on(client, path)

    found = listed_on(client, path, f"?{name}={value}")

    assert len(found) < len(everything)
    assert found == [series for series in everything if series[name] == value]


@pytest.mark.parametrize("path", ["board", "series"])
def test_of_two_workloads_only_the_series_of_the_one_asked_for_are_left(pool, client, path):
    place = ("groq/gpt-oss-120b", "eu-west")
    usual = listed_on(client, path)
    with pool.connection() as connection:
        add_series(connection, *place, workload="long")
    try:
        both = listed_on(client, path)
        short, (long,) = (
            listed_on(client, path, f"?workload={name}") for name in ("short", "long")
        )
    finally:
        with pool.connection() as connection:
            connection.execute(
                "with gone as (delete from series where workload = 'long' returning series_id)"
                " delete from series_stat where series_id in (select series_id from gone)"
            )

    assert len(both) == len(usual) + 1
    assert short == usual
    assert (long["endpoint"], long["region"], long["workload"]) == (*place, "long")


@pytest.mark.parametrize(
    "query", ["series?model=a%00b", "series?after=-1", "series?limit=0", "board?limit=501"]
)
def test_a_question_that_cannot_be_asked_is_a_problem_document(client, query):
    answer = client.get(f"/api/{query}")

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_load_that_is_none_is_refused_with_what_is_allowed(client):
    answer = client.get("/api/board?load=several")

    assert answer.status_code == 422
    assert "'single' or 'parallel'" in answer.json()["detail"]


def test_an_unchanged_board_is_not_sent_again(pool, client):
    tag = client.get("/api/board").headers["etag"]
    later = client_at(pool, NOON + timedelta(seconds=1))

    assert later.get("/api/board", headers={"If-None-Match": tag}).status_code == 304
    aged = client_at(pool, NOON + timedelta(hours=1))
    assert aged.get("/api/board", headers={"If-None-Match": tag}).status_code == 200


def test_a_window_that_has_passed_holds_nothing_though_no_upkeep_ran(pool):
    found = endpoints_of(document(client_at(pool, NOON + timedelta(hours=1))))

    cells = [one["pooled"] for endpoint in found.values() for one in endpoint["series"]]
    assert {"unmeasured"} == {cell["state"] for cell in cells}
    assert {None} == {cell["output_tokens_per_s"]["median"] for cell in cells}
    assert "nvidia/gpt-oss-120b" not in found


def test_the_page_holds_every_figure_without_a_script(client):
    page = page_of(client)
    rows = [" ".join(row) for row in page.rows]

    assert {"script", "iframe", "object", "form"}.isdisjoint(tag for tag, _ in page.tags)
    for endpoint in endpoints_of(document(client, "?load=single")).values():
        speed = endpoint["series"][0]["pooled"]["output_tokens_per_s"]["median"]
        (row,) = [
            row for row in rows if endpoint["provider_name"] in row and speed_text(speed) in row
        ]
        assert endpoint["precision"] in row


def test_trouble_is_said_in_words(client):
    rows = [" ".join(row) for row in page_of(client).rows]

    (groq,) = [row for row in rows if "Groq" in row]
    (zai,) = [row for row in rows if "Z.ai" in row]
    (mercury,) = [row for row in rows if "Inception" in row]
    assert "failing in us-east: server error (5xx); last well 2 min ago" in groq
    assert "4 of 6 runs for a median" in zai
    assert "no run yet" in mercury
    text = "".join(page_of(client).words)
    assert "Region us-east is silent: its last heartbeat came 14 min ago." in text


def test_a_name_from_the_file_can_be_anything_and_stays_text(client):
    text = client.get("/").text
    page = Page(text)

    assert "<script" not in text.lower()
    assert "<b>cellar" not in text
    assert HOSTILE in "".join(page.words)
    assert "<b>cellar</b>" in "".join(page.words)
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]


def test_the_page_loads_nothing_from_elsewhere_and_lets_nothing_be_loaded(client):
    answer = client.get("/")
    loaded = [
        value
        for _, attributes in Page(answer.text).tags
        for name, value in attributes.items()
        if name in {"src", "href"}
    ]

    assert {"/", "#"} >= {value[0] for value in loaded}
    assert not [value for value in loaded if value.startswith("//")]
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "style-src 'self'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    for value in [value for value in loaded if value.startswith("/static/")]:
        assert client.get(value).status_code == 200


def test_simulated_is_said_in_a_banner_and_at_every_endpoint(client):
    page = page_of(client)

    assert ("p", {"class": "banner", "role": "note"}) in page.tags
    marked = [row for row in page.rows if "simulated" in row]
    assert len(ENDPOINTS) == len(marked)


def test_bars_say_what_they_show(client):
    bars = [attributes for tag, attributes in page_of(client).tags if tag == "svg"]

    assert {"img"} == {bar["role"] for bar in bars}
    assert bars[0]["aria-label"].endswith("tokens per second, 100% of the fastest")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?region=eu-west", "from eu-west: workload short (100 tokens in, 300 out), one request"),
        ("?load=parallel", "pooled over the regions: workload short"),
        ("?load=many", "one request at a time"),
        ("?region=nowhere", "No region is called “nowhere” here (known: eu-west, us-east)."),
        ("?workload=huge", "No workload is called “huge” here (known: short)."),
        ("?region=%3Cscript%3E", "No region is called “<script>” here"),
    ],
)
def test_a_choice_in_the_address_is_told_back(client, query, sentence):
    assert sentence in "".join(page_of(client, query).words)


def test_the_page_renews_itself_unless_it_is_paused(client):
    def renewals(query):
        return [a for tag, a in page_of(client, query).tags if "http-equiv" in a]

    assert renewals("") == [{"http-equiv": "refresh", "content": "10"}]
    assert renewals("?refresh=off") == []


def test_before_the_first_run_the_page_says_what_is_happening(database_url):
    with migrated_pool(database_url) as pool:
        client = client_at(pool)
        nothing = "".join(page_of(client).words)
        fill(pool, measured=False)
        planned = "".join(page_of(client).words)

    assert "Nothing is planned yet." in nothing
    assert "Nothing measured yet: 6 endpoints in 2 regions." in planned
    assert "no run yet" in planned


def test_a_postgres_that_stops_is_told_and_the_page_tries_again():
    server = embedded_postgres()
    with migrated_pool(server.__enter__()) as pool:
        client = client_at(pool)
        before = client.get("/")
        server.__exit__(None, None, None)
        after = client.get("/")

    assert (before.status_code, after.status_code) == (200, 503)
    assert "The store does not answer" in after.text
    assert ("meta", {"http-equiv": "refresh", "content": "10"}) in Page(after.text).tags


def test_without_a_store_there_is_a_clear_page_and_a_problem_document(database_url):
    with migrated_pool(database_url) as pool:
        client = client_at(pool)
    page, board = client.get("/"), client.get("/api/board")

    assert (page.status_code, board.status_code) == (503, 503)
    assert "The store does not answer" in page.text
    assert "Traceback" not in page.text
    assert page.headers["retry-after"] == "5"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert board.json()["detail"] == "the store does not answer"
    assert client.get("/metrics").status_code == 503
