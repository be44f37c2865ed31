"""The demo finds what was built in."""

import json
import re
import shutil

import pytest

from tests.browsing import visit
from umpirical.cli import main
from umpirical.judges.simulated.profiles import PROFILES
from umpirical.protocols.datasheet.record import Datasheet


@pytest.fixture(scope="module")
def demo(run_demo):
    return run_demo[0]


def of(demo, judge):
    [folder] = demo.glob(f"runs/{judge}-*")
    return folder


@pytest.mark.parametrize("judge", PROFILES)
def test_each_judge_has_a_folder_with_three_documents(demo, judge):
    for name in ("datasheet.json", "datasheet.html", "datasheet.md"):
        assert (of(demo, judge) / name).stat().st_size > 1000


@pytest.mark.parametrize("judge", [name for name, profile in PROFILES.items() if profile.defects])
def test_each_planted_defect_is_found_with_its_value_in_the_interval(demo, judge):
    datasheet = Datasheet.model_validate_json((of(demo, judge) / "datasheet.json").read_text())
    measures = {(measure.name, measure.stratum): measure for measure in datasheet.measures}
    for defect in PROFILES[judge].defects:
        measure = measures[defect]
        low, high = measure.result.interval.low, measure.result.interval.high
        assert low is None or low <= measure.true_value, defect
        assert high is None or measure.true_value <= high, defect
        # Found means more than covered: the interval keeps clear of what a sound judge would show.
        match defect:
            case ("target-sensitivity", _):
                assert high < 0.75
            case ("detection-threshold", _):
                assert low > 1
            case ("unparsed-rate" | "failure-rate", _):
                assert low > 0.02
            case _:
                assert low > 0.10


DECISIONS = {
    "careful": "use",
    "slot-locked": "do-not-use",
    "something-from-nothing": "do-not-use",
    "coin": "do-not-use",
}
"""What the demo must come to. What is open about the others may change with the stimuli."""


def test_the_sound_judge_passes_and_the_bad_ones_do_not(demo, run_demo):
    texts = {judge: (of(demo, judge) / "datasheet.json").read_text() for judge in PROFILES}
    found = {judge: Datasheet.model_validate_json(text).decision for judge, text in texts.items()}
    assert {judge: found[judge].verdict for judge in DECISIONS} == DECISIONS
    assert [judge for judge, decision in found.items() if decision.verdict in {"use", "use-with-restrictions"}] == [
        "careful"
    ]
    for judge, decision in found.items():
        said = f"\n{judge}: {PROFILES[judge].about}\n  {decision.title} (policy ranking): {decision.sentences[0]}\n"
        assert said in run_demo[1]


def test_most_planted_values_of_all_judges_lie_in_their_intervals(demo):
    inside = total = 0
    for judge in PROFILES:
        for measure in Datasheet.model_validate_json((of(demo, judge) / "datasheet.json").read_text()).measures:
            if measure.true_value is not None and measure.result.kind == "estimate" and measure.result.interval:
                low, high = measure.result.interval.low, measure.result.interval.high
                total += 1
                inside += (low is None or low <= measure.true_value) and (high is None or measure.true_value <= high)
    assert total > 140
    # 95 % intervals, correlated within a judge: five sixths would already be a bug.
    assert inside / total > 0.9


def test_it_ends_at_an_index_with_the_judge_that_passes_first(demo, run_demo):
    index = demo / "gallery" / "index.html"
    assert str(index) in run_demo[1]
    judges = re.findall(r'<h2><a href="[^"]+">([^<]+)</a></h2>', index.read_text())
    assert judges[0] == "careful"
    assert sorted(judges) == sorted(PROFILES)


def test_the_audit_columns_add_up(demo):
    for judge in PROFILES:
        for row in json.loads((of(demo, judge) / "datasheet.json").read_text())["audit"]:
            outcomes = ("position_1", "position_2", "tie", "abstained", "unparsed", "failed", "unasked")
            assert row["planned"] == sum(row[name] for name in outcomes)


def test_a_second_demo_into_the_same_folder_asks_nothing_and_writes_the_same(demo, tmp_path):
    # Other workers read that of the session.
    demo = shutil.copytree(demo, tmp_path / "demo")
    before = {judge: (of(demo, judge) / "datasheet.json").read_bytes() for judge in PROFILES if judge != "mumbling"}
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--out", str(demo), "--no-open"])
    assert stop.value.code == 0
    assert before == {judge: (of(demo, judge) / "datasheet.json").read_bytes() for judge in before}


@pytest.mark.browser
@pytest.mark.parametrize("judge", PROFILES)
def test_the_page_opened_in_a_browser_asks_for_nothing_and_runs_no_script(demo, browser, judge):
    path = of(demo, judge) / "datasheet.html"
    requests, complaints, _, scripts = visit(browser, path, 1200)
    assert requests == [path.as_uri()] or {r.split(":")[0] for r in requests[1:]} == {"data"}
    assert complaints == []
    assert scripts == 0
    assert path.stat().st_size < 300_000
