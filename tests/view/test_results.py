"""Right, wrong or missing: recounted from what is stored; and the list by result, by search and in other orders."""

import re
from collections import Counter
from html import unescape
from itertools import chain
from urllib.parse import quote

import pytest

from tests.hostile import HOSTILE
from umpirical.domain.stimuli import GivenWinner
from umpirical.protocols.datasheet.counting import tally_judgments
from umpirical.store.parquet import read_rows
from umpirical.text.inert import inert
from umpirical.view.trial_words import preview, visible

from . import studies
from .serving import viewing
from .test_hostile import check_inert
from .test_screens import signed_in
from .test_trials import counted, every_page, listed

MISSING = {"unparsed", "failed", "unasked"}


def recounted(run):
    """The result of every trial, from the stored judgments and the stimuli alone."""
    stimuli = {stimulus.id: stimulus for stimulus in run.stimuli}
    return [result_of(row, stimuli[row["stimulus_id"]]) for row in read_rows(run.folder / "judgments.parquet")]


def result_of(row, stimulus):
    if row["outcome"] in MISSING:
        return "missing"
    if isinstance(stimulus.expectation, GivenWinner):
        shown = [0, 1] if row["order"] == "ab" else [1, 0]
        named = {"1": shown[0], "2": shown[1]}.get(row["choice"])
        return "right" if named == stimulus.expectation.candidate else "wrong"
    if stimulus.family == "equal-subset":
        return "unscored"
    return "wrong" if row["choice"] in ("1", "2") else "right"


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    return studies.pairs_run(tmp_path_factory.mktemp("labels") / "labels")


@pytest.mark.parametrize("name", ["measured", "labels"])
def test_results_are_those_of_the_stored_judgments(request, name):
    run = request.getfixturevalue(name)
    results = recounted(run)
    with viewing(run.folder.parents[1]) as found:
        page = found.get(f"{found.run}/trials")
        for result, count in Counter(results).items():
            places = [place for place, each in enumerate(results) if each == result]
            assert sorted([*chain(*every_page(found, f"result={result}"))]) == places
            assert f'result={result}"' in page.text
            assert counted(found.get(f"{found.run}/trials?result={result}")) == count
    assert {"right", "wrong", "missing"} <= {*results}


def test_results_of_a_run_in_progress_are_those_of_its_report(labels, tmp_path):
    studies.pairs_run(tmp_path / "labels", answer=lambda run: studies.journalled(run, 60), measure=False)
    results = recounted(labels)
    with viewing(tmp_path) as found:
        shown = {
            place: result
            for result in ("right", "wrong", "missing")
            for place in chain(*every_page(found, f"result={result}"))
        }
    assert len(shown) >= 60
    assert shown == {place: results[place] for place in shown}


def test_right_trials_are_the_correct_calls_of_the_measures(measured):
    rows, results = list(read_rows(measured.folder / "judgments.parquet")), recounted(measured)
    pairs = {}
    for row, result in zip(rows, results, strict=True):
        if row["family"] == "graded":
            pairs.setdefault((row["stimulus_id"], row["variant"], str(row["layout"])), []).append(result)
    complete = [result for pair in pairs.values() if len(pair) == 2 and "missing" not in pair for result in pair]
    counts = [each for each in tally_judgments(measured.folder / "judgments.parquet").pairs if each.family == "graded"]
    assert complete.count("right") == sum(each.correct_calls for each in counts) > 0
    assert complete.count("wrong") == 2 * sum(each.pairs for each in counts) - complete.count("right")


def test_grades_are_compared_with_the_gold_label(tmp_path):
    run = studies.stress_run(tmp_path / "essays", ["alpha", "beta"])
    rows = list(read_rows(run.folder / "judgments.parquet"))
    right = [place for place, row in enumerate(rows) if row["outcome"] == "verdict" and row["label"] == row["gold"]]
    with viewing(tmp_path) as found:
        assert [*chain(*every_page(found, "result=right"))] == right
        assert len(right) < len(rows)
        assert "expected <b>grade 2" in found.get(f"{found.run}/trials/{right[0]}").text


def test_wrong_trials_come_first_and_the_page_says_so(standing, measured):
    results = recounted(measured)
    first = [*chain(*every_page(standing))]
    ranks = ["wrong", "missing", "unscored", "right"]
    assert [results[place] for place in first] == sorted(results, key=ranks.index)
    assert "wrong ones first" in standing.get(f"{standing.run}/trials").text


def test_missing_answers_are_neither_right_nor_wrong(standing, measured):
    for place, row in enumerate(read_rows(measured.folder / "judgments.parquet")):
        if row["outcome"] in MISSING:
            assert place in [*chain(*every_page(standing, f"result=missing&outcome={row['outcome']}"))]
            strip = re.search(r'<p class="answered ([a-z]+)', standing.get(f"{standing.run}/trials/{place}").text)
            assert strip[1] == "missing"
            break
    for result in ("right", "wrong"):
        for outcome in MISSING - {"unasked"}:
            assert counted(standing.get(f"{standing.run}/trials?result={result}&outcome={outcome}")) == 0


def test_a_search_finds_the_trials_whose_task_or_answers_have_the_words(standing, measured):
    rows = list(read_rows(measured.folder / "judgments.parquet"))
    stimuli = {stimulus.id: stimulus for stimulus in measured.stimuli}
    results = recounted(measured)
    for words in ("the", "Nadia", "100%", "_", "'; drop view trial; --", "\x00", "W" * 3000):
        texts = {name: "\n".join([each.task, *each.candidates]).lower() for name, each in stimuli.items()}
        expected = [place for place, row in enumerate(rows) if words[:500].lower() in texts[row["stimulus_id"]]]
        page = standing.get(f"{standing.run}/trials?q={quote(words)}")
        assert (page.status, counted(page)) == (200, len(expected))
        assert sorted([*chain(*every_page(standing, f"q={quote(words)}"))]) == expected
        wrong = [place for place in expected if results[place] == "wrong"]
        if wrong:
            assert re.search(rf"wrong <span[^>]*>{len(wrong)}</span>", page.text)
    assert check_inert(standing.get(f"{standing.run}/trials?q={quote(HOSTILE[0])}").text)


@pytest.mark.parametrize("sort", ["trial", "-trial", "tested", "-tested", "said", "-said", "-result"])
def test_every_order_has_all_trials_once(standing, measured, sort):
    rows = list(read_rows(measured.folder / "judgments.parquet"))
    key = {
        "trial": lambda _: 0,
        "tested": lambda row: row["family"],
        "said": lambda row: (row["choice"] or "", row["choice"] is None),
        "result": lambda _: 0,
    }[sort.removeprefix("-")]
    places = [*chain(*every_page(standing, f"sort={sort}"))]
    assert sorted(places) == list(range(len(rows)))
    values = [key(rows[place]) for place in places]
    assert values == sorted(values, reverse=sort.startswith("-"))
    page = standing.get(f"{standing.run}/trials?sort={sort}")
    assert f'aria-sort="{"descending" if sort.startswith("-") else "ascending"}"' in page.text


@pytest.mark.parametrize("query", ["", "result=wrong&family=graded", "sort=-tested", "q=the&sort=said", "sort=-trial"])
def test_next_and_previous_keep_the_filter_and_the_order(standing, query):
    places = [*chain(*every_page(standing, query))]
    for at in (0, 1, 49, 50, len(places) - 1):
        page = standing.get(f"{standing.run}/trials/{places[at]}?{query}")
        found = {rel: re.search(rf'href="([^"]+)" rel="{rel}"', page.text) for rel in ("prev", "next")}
        for rel, place in (("prev", at - 1), ("next", at + 1)):
            link = found[rel] and unescape(found[rel][1])
            if not 0 <= place < len(places):
                assert link is None
            else:
                assert re.search(r"/trials/(\d+)", link)[1] == str(places[place])
                assert {*query.split("&")} <= {*link.partition("?")[2].split("&")}


def test_blank_answers_are_described(standing, measured):
    rows = list(read_rows(measured.folder / "judgments.parquet"))
    empty = next(place for place, row in enumerate(rows) if row["stratum"] == "empty")
    text = standing.get(f"{standing.run}/trials/{empty}").text
    assert text.count("(empty)") == 2
    assert "(empty)" in standing.get(f"{standing.run}/trials?family=blank&part=empty").text
    assert visible("\n\n\t") == "2 line breaks, 1 tab"
    assert preview("word " * 100).endswith("…")


def test_hostile_texts_are_text_in_the_preview_and_in_the_diff(tmp_path):
    run = studies.stress_run(tmp_path / "essays", HOSTILE[:6])
    rows = list(read_rows(run.folder / "judgments.parquet"))
    with viewing(tmp_path) as found:
        page = check_inert(found.get(f"{found.run}/trials").text)
        assert any(preview(inert(text)).rstrip("…")[:20] in page.words for text in HOSTILE[:6])
        for place, row in enumerate(rows):
            if row["family"] != "original":
                one = found.get(f"{found.run}/trials/{place}")
                check_inert(one.text)
                assert "<ins>" in one.text or "<del>" in one.text


@pytest.mark.browser
def test_arrow_keys_move_and_enter_opens(browser, standing):
    context = signed_in(browser.new_context(), standing)
    page = context.new_page()
    address = f"{standing.url}{standing.home}{standing.run}/trials"
    page.goto(address)
    places = listed(standing.get(f"{standing.run}/trials"))
    for key, place in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.pathname").endswith(f"/trials/{places[place]}")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/trials/{places[1]}")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**/trials/{places[2]}")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"**/trials/{places[1]}")
    context.close()
