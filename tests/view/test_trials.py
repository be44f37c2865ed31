"""From every number to the trials behind it: filters, pages, and one trial with its twins."""

import re
from html import unescape
from itertools import chain
from urllib.parse import quote

import pytest

from umpirical.store.parquet import read_rows
from umpirical.view.run_pages import behind, shares_of_audit
from umpirical.view.table import COLUMNS, Filters

from . import studies
from .serving import viewing

SQL = [
    "graded' or '1'='1",
    "graded'; drop view trial; --",
    "x' union select * from read_text('/etc/passwd') --",
    "${jndi:x} %s ? $1 :family",
    "\x00",
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    "W" * 20_000,
]


def counted(page):
    """How many trials a list says that there are."""
    return int(re.search(r"<strong>([\d,]+)</strong> trial", page.text)[1].replace(",", ""))


def listed(page):
    return [int(each) for each in re.findall(r'/trials/(\d+)(?:\?[^"]*)?">', page.text)]


@pytest.fixture(scope="module")
def rows(measured):
    return list(read_rows(measured.folder / "judgments.parquet"))


def every_page(standing, query=""):
    """The positions on each page of a list, by following the links to the next."""
    found, path = [], f"{standing.run}/trials?{query}"
    while path:
        page = standing.get(path)
        assert page.status == 200
        found.append(listed(page))
        following = re.search(r'rel="next" href="([^"]+)"', page.text)
        path = unescape(following[1]).removeprefix(standing.home) if following else None
    return found


def test_all_trials_are_on_the_pages_once_and_in_order(standing, rows):
    pages = every_page(standing)
    assert [len(page) for page in pages[:-1]] == [50] * (len(pages) - 1)
    assert sorted(chain(*pages)) == list(range(len(rows)))


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("family=graded", lambda row: row["family"] == "graded"),
        ("family=graded&step=1", lambda row: (row["family"], row["delta"]) == ("graded", 1.0)),
        ("position=1", lambda row: row["choice"] == "1"),
        ("outcome=failed", lambda row: row["outcome"] == "failed"),
        ("order=ba&position=tie", lambda row: (row["order"], row["choice"]) == ("ba", "tie")),
        ("family=blank&part=empty", lambda row: (row["family"], row["stratum"]) == ("blank", "empty")),
    ],
)
def test_a_filter_shows_its_trials_and_says_how_many(standing, rows, query, holds):
    expected = [place for place, row in enumerate(rows) if holds(row)]
    assert expected
    assert list(chain(*every_page(standing, f"{query}&sort=trial"))) == expected
    assert counted(standing.get(f"{standing.run}/trials?{query}")) == len(expected)


def test_the_counts_in_a_filter_are_those_of_the_list_that_it_leads_to(standing):
    page = standing.get(f"{standing.run}/trials?order=ab")
    options = re.findall(r'<select name="(\w+)">(.*?)</select>', page.text, re.DOTALL)
    assert {name for name, _ in options} >= {"step", "position", "outcome", "order"}
    for name, inside in options:
        value, count = re.search(r'<option value="([^"]+)"[^>]*>[^<]*\(([\d,]+)\)', inside).groups()
        query = f"order=ab&{name}={quote(unescape(value))}" if name != "order" else f"order={value}"
        assert counted(standing.get(f"{standing.run}/trials?{query}")) == int(count.replace(",", ""))


@pytest.mark.parametrize("value", SQL)
def test_sql_in_a_filter_is_a_value_that_no_trial_has(standing, value):
    for column in COLUMNS:
        answer = standing.get(f"{standing.run}/trials?{column}={quote(value)}")
        assert answer.status == 404
        assert "No trial in this run has" in answer.text
        assert "root:" not in answer.text


def test_a_value_is_bound_to_a_query_and_never_part_of_it():
    filters = Filters((("family", SQL[1]), ("step", 1.0)))
    assert filters.where == "true and family is not distinct from ? and delta is not distinct from ?"
    assert filters.values == [SQL[1], 1.0]
    assert SQL[1] not in Filters(search=SQL[1]).where


def test_a_page_is_a_place_in_the_plan_and_nothing_else(standing):
    for value in ("-1", "1e9", "0x10", "٣", "1;2", " 1", "9" * 13, "%00"):
        assert standing.get(f"{standing.run}/trials?page={quote(value)}").status == 400
        assert standing.get(f"{standing.run}/trials/{quote(value)}").status in (400, 404)


def test_a_page_beyond_the_end_is_empty_and_a_page_is_never_longer(standing):
    answer = standing.get(f"{standing.run}/trials?page=999999999999")
    assert (answer.status, listed(answer)) == (200, [])
    for more in ("size=1000000", "check=1000000", "&".join(f"page={number}" for number in range(40))):
        assert len(listed(standing.get(f"{standing.run}/trials?{more}"))) <= 50
    assert standing.get(f"{standing.run}/trials?{'&'.join(f'x{n}=1' for n in range(100))}").status == 400


def test_every_number_of_the_record_leads_to_trials_behind_it(standing):
    page = standing.get(standing.run)
    lines = re.findall(r'<a href="([^"]+/trials\?[^"]*)">([\d,]+)<span class="unseen"> trials behind', page.text)
    assert len(lines) > 30
    for address, count in sorted(set(lines))[::4]:
        found = standing.ask("GET", unescape(address))
        assert (found.status, counted(found)) == (200, int(count.replace(",", "")))


def test_a_measure_leads_to_its_own_family_step_and_part(measured):
    from umpirical.protocols.catalogue import read_record

    record = read_record(measured.folder).record
    shares = shares_of_audit(record.audit)
    chosen = {(each.name, each.stratum): dict(behind(each, shares).chosen) for each in record.measures}
    assert chosen["dark-current", ""] == {"variant": "baseline", "family": "blank"}
    assert chosen["dark-current", "empty"] == {"variant": "baseline", "family": "blank", "part": "empty"}
    assert chosen["target-sensitivity", "1"] == {"variant": "baseline", "family": "graded", "step": 1.0}
    assert chosen["tie-rate", "0"] == {"variant": "baseline", "family": "equal"}
    assert chosen["failure-rate", ""] == {"variant": "baseline", "outcome": "failed"}


def test_a_trial_shows_prompt_answer_reading_and_both_orders_and_versions(standing, rows):
    wanted = {"choice": "1", "order": "ab", "family": "graded"}
    own = [place for place, row in enumerate(rows) if row["crossed_pair"] and wanted.items() <= row.items()]
    ladder = next(place for place in own if not rows[place]["layout"]["labels_swapped"])
    page = standing.get(f"{standing.run}/trials/{ladder}")
    assert page.status == 200
    text = unescape(page.text)
    assert '{"verdict": "1"}' in text
    assert "position 1, answer A" in text
    assert "[candidate" in text
    assert "This is not the prompt that was sent" not in text
    twins = [each for each in listed(page) if each != ladder]
    other, versions = rows[twins[0]], [rows[place] for place in twins[1:]]
    assert (other["stimulus_id"], other["order"]) == (rows[ladder]["stimulus_id"], "ba")
    assert {each["crossed_pair"] for each in versions} == {rows[ladder]["crossed_pair"]}
    assert {each["version"] for each in versions} == {"a", "b"} - {rows[ladder]["version"]} or len(versions) == 2
    assert [each["order"] for each in versions] == ["ab", "ba"]


def test_outcomes_that_are_no_verdict_are_shown_as_what_they_are(standing, rows):
    places = {row["outcome"]: place for place, row in enumerate(rows)}
    assert "no reply: timeout" in standing.get(f"{standing.run}/trials/{places['failed']}").text
    assert "unusable reply:" in standing.get(f"{standing.run}/trials/{places['unparsed']}").text
    assert "abstained" in standing.get(f"{standing.run}/trials/{places['abstained']}").text


def test_a_changed_text_stands_beside_its_original(tmp_path):
    run = studies.stress_run(tmp_path / "essays", ["alpha", "beta"])
    changed = next(
        place for place, row in enumerate(read_rows(run.folder / "judgments.parquet")) if row["family"] != "original"
    )
    with viewing(tmp_path) as found:
        text = found.get(f"{found.run}/trials/{changed}").text
        assert "The other version" in text
        assert "same verdict as before the change" in text
        assert counted(found.get(f"{found.run}/trials?position=2")) > 0


def test_a_long_text_is_cut_and_there_is_a_way_to_the_whole(tmp_path):
    long = "W" * 50_000 + "the end"
    run = studies.datasheet_run(
        tmp_path / "long", answer=lambda run: studies.journalled(run, 5, texts=[long]), measure=False
    )
    with viewing(tmp_path) as found:
        first = next(
            place for place, (trial, _) in enumerate(run.store.plan_shard(0)) if trial.id == studies.planned(run, 0)[0]
        )
        cut = found.get(f"{found.run}/trials/{first}")
        assert "the end" not in cut.text
        assert len(cut.text) < 80_000
        assert "30,007 more characters" in cut.text
        [whole] = {each for each in cut.links if "whole=1" in each}
        assert "Wthe end" in found.ask("GET", whole).text
