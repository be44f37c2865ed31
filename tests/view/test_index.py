"""The list of runs, with what each comes to, and the way from it to a comparison."""

import re
import time
from types import SimpleNamespace

import pytest

from umpirical.protocols.catalogue import read_record
from umpirical.reports.tiles import Tile
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run
from umpirical.view.index_page import Listing, heads_of

from . import studies
from .serving import viewing


@pytest.fixture(scope="module")
def both(measured, tmp_path_factory):
    """The view of a study with two judges: one of all kinds of answers, and one that always picks the first."""
    folder = studies.copied(measured, tmp_path_factory.mktemp("both") / "parcels").parents[1]
    study = parse_study(studies.DATASHEET.replace("name: stub,", "name: first,", 1), folder)
    run = prepare_run(study, study.spec.judges[0], stimuli=study.protocol.stimuli(study))
    studies.sealed(run, text='{"verdict": "1"}')
    study.protocol.write(study.protocol.report(run), run.folder)
    with viewing(folder) as found:
        yield found


def listed(answer):
    return re.findall(r'<th scope="row"><a [^>]*>([^<]+)</a>', answer.text)


def recorded(found):
    """When each file of the runs was written."""
    folders = [run.folder for study in found.view.catalogue.studies() for run in study.runs]
    return {path: path.stat().st_mtime_ns for folder in folders for path in folder.rglob("*") if path.is_file()}


def keys_of(found):
    [study] = found.view.catalogue.studies()
    return [run.key for run in study.runs]


def test_each_judge_has_the_tiles_of_its_record(both):
    page = both.get("/").text
    for run in both.view.catalogue.studies()[0].runs:
        record = read_record(run.folder / "datasheet.json")
        tiles = record.protocol.tiles(record.record)
        row = page.partition(f"/runs/{run.key}")[2].partition("</tr>")[0]
        assert len(tiles) == 6
        assert re.findall(r'<td class="tile (\w+)" data-label="([^"]*)"', row) == [(t.mark, t.name) for t in tiles]
        assert re.findall(r"</span></span> ([^<]+?)(?: <span class=\"quiet\">Δ[\d.]+</span>)?</a>", row) == [
            tile.value or "not measured" for tile in tiles
        ]


def test_the_list_is_filtered_and_sorted(both):
    assert listed(both.get("/?sort=judge")) == ["first", "stub"]
    assert listed(both.get("/?sort=-judge")) == ["stub", "first"]
    assert listed(both.get("/?q=FIRST")) == ["first"]
    assert listed(both.get("/?verdict=do-not-use&sort=judge")) == ["first", "stub"]
    assert listed(both.get("/?verdict=use")) == []
    assert "No run matches" in both.get("/?verdict=use").text
    for sort in ("verdict", "-started", "spent", "tile-0", "-tile-5", "tile-19", "tile-999", "nonsense", "tile-%C2%B2"):
        assert sorted(listed(both.get(f"/?sort={sort}"))) == ["first", "stub"]
    assert 'aria-sort="ascending"><a href="?sort=-judge"' in both.get("/?sort=judge").text


def test_ticked_runs_are_compared(both):
    first, second = keys_of(both)
    path, before = f"/compare?run={first}&run={second}", recorded(both)
    until = time.monotonic() + 120
    while "<title>Comparing" in (answer := both.get(path)).text:
        assert 'http-equiv="refresh"' in answer.text
        assert time.monotonic() < until
        time.sleep(0.2)
    assert answer.status == 200
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "on the same test cases" in answer.text
    assert recorded(both) == before
    # It is kept: the second time nobody waits.
    assert both.get(path).text == answer.text


@pytest.mark.browser
def test_two_ticks_lead_to_the_comparison_in_a_browser(browser, both):
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": 390, "height": 844}, bypass_csp=True)
    page = context.new_page()
    page.goto(f"{both.url}/join/{both.token}")
    for box in page.get_by_role("checkbox").all():
        box.check()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name="Compare the ticked runs").click()
    # While it is made, and once it is there.
    for _ in range(2):
        assert Axe().run(page).response["violations"] == []
        page.get_by_role("heading", name="Side by side").wait_for(timeout=120_000)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
    context.close()


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("run={0}", 400), ("run={0}&run={0}", 400), ("run={0}&run=nowhere", 404), ("run=..%2F..&run=a", 404)],
)
def test_what_cannot_be_compared_is_said(both, query, status):
    answer = both.get(f"/compare?{query.format(*keys_of(both))}")
    assert answer.status == status
    assert answer.text.count("<h1>") == 1


def test_runs_of_other_kinds_are_not_compared(measured, tmp_path):
    studies.copied(measured, tmp_path / "parcels")
    studies.pairs_run(tmp_path / "labels")
    with viewing(tmp_path) as found:
        page = found.get("/").text
        assert page.count('type="checkbox"') == 2
        keys = [run.key for study in found.view.catalogue.studies() for run in study.runs]
        for _ in range(100):
            answer = found.get(f"/compare?run={keys[0]}&run={keys[1]}")
            if answer.status != 200:
                break
            time.sleep(0.2)
        assert answer.status == 409
        assert "To fix it: name runs of one kind" in answer.text


def test_tiles_of_other_protocols_are_not_put_into_columns_of_other_names():
    def line(key, names, mark):
        tiles = tuple(Tile(name, mark, "1%", "", "", "", "", "", "a") for name in names)
        return SimpleNamespace(tiles=tiles, run=SimpleNamespace(key=key), state=SimpleNamespace(created=key))

    own = [
        line("1", ("Blank or equal answers", "Position"), "pass"),
        line("2", ("Blank or equal answers", "Position"), "fail"),
    ]
    lines = [*own, line("3", ("Accuracy", "Position"), "fail"), line("4", (), "none")]
    assert heads_of(lines) == ["Blank or equal answers", "Position"]
    ordered = Listing(sort="tile-0").ordered(lines, heads_of(lines))
    assert [one.run.key for one in ordered[:2]] == ["2", "1"]
    assert heads_of([]) == []
