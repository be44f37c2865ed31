"""What checks and regressions come to."""

import pytest

from tests.reports.gates import decision, held
from umpirical.reports.gate import decide_by_effects, own_checks
from umpirical.reports.record import CheckRecord, ConditionRecord, CureRecord


def check(**given) -> CheckRecord:
    known = {"measure": "dark-current", "title": "Dark current", "stratum": "", "kind": "at_most", "value": 0.05}
    return CheckRecord(
        **{**known, "variant": "baseline", "essential": True, "verdict": "PASS", "state": "met", **given}
    )


@pytest.mark.parametrize(
    ("given", "effect"),
    [
        ({}, "pass"),
        ({"verdict": "FAIL", "state": "broken"}, "fail"),
        ({"verdict": "FAIL", "state": "open"}, "open"),
        ({"verdict": "INCONCLUSIVE", "state": "open"}, "open"),
        ({"verdict": "N/A", "state": "open"}, "open"),
        ({"verdict": "FAIL", "state": "made up for"}, "noted"),
        ({"verdict": "N/A", "state": "made up for"}, "noted"),
        ({"verdict": "FAIL", "state": "broken", "essential": False}, "noted"),
        ({"verdict": "INCONCLUSIVE", "state": "open", "essential": False}, "noted"),
    ],
)
def test_what_a_check_does_follows_from_what_it_comes_to_in_the_decision(given, effect):
    [found] = own_checks([check(**given)])
    assert found.effect == effect


def test_the_checks_of_another_prompt_are_those_of_another_judge():
    checks = [check(variant="strict", verdict="FAIL", state="broken"), check()]
    assert [found.effect for found in own_checks(checks)] == ["pass"]
    assert [found.effect for found in own_checks(checks[:1])] == ["fail"]
    assert own_checks([]) == []


def test_the_worse_side_is_the_one_that_the_check_is_on():
    below = check(kind="at_least", value=0.8, measure="target-sensitivity", stratum="5")
    assert [found.worse for found in own_checks([check(), below])] == ["higher", "lower"]
    assert own_checks([below])[0].title == "Dark current at a 5-requirement difference"


def test_an_open_check_says_what_its_nearest_way_needs():
    need = ConditionRecord(
        measure="both-orders-sensitivity", title="Both-orders sensitivity", stratum="5", kind="at_least", value=0.9,
        verdict="INCONCLUSIVE", more_needed=327, unit="pair",
    )  # fmt: skip
    cure = CureRecord(way="Ask both orders.", needs=[need], works=False)
    far = check(verdict="FAIL", state="open", cures=[cure], why="45% (must be at most 10%)")
    [found] = own_checks([far])
    assert (found.more_needed, found.unit) == (327, "pair")
    assert found.why.endswith("both-orders sensitivity at a 5-requirement difference needs about 327 more pairs)")
    near = check(verdict="INCONCLUSIVE", state="open", cures=[cure], more_needed=12, unit="prompt", why="near")
    [found] = own_checks([near])
    assert (found.more_needed, found.unit, found.why) == (12, "prompt", "near")


@pytest.mark.parametrize(
    ("effects", "verdict"),
    [
        (["pass", "pass"], "use"),
        (["pass", "noted"], "use-with-restrictions"),
        (["pass", "open", "noted"], "not-enough-data"),
        (["open", "fail"], "do-not-use"),
        ([], "not-enough-data"),
    ],
)
def test_checks_decide_by_what_each_of_them_does(effects, verdict):
    checks = [held(effect) for effect in effects]
    assert decide_by_effects("ours", checks, unfinished="").verdict == verdict
    assert decide_by_effects("ours", checks, unfinished="9 of 90 calls failed").verdict == "not-enough-data"
    restricted = decide_by_effects("ours", checks, unfinished="", unknown=["Correctness was not measured."])
    assert restricted.verdict == ("use-with-restrictions" if verdict == "use" else verdict)
    assert restricted.line.startswith(f"{restricted.title} (policy ours): ")


def test_an_open_check_counts_as_inconclusive_whatever_it_looks_like_by_itself():
    checks = [held("pass"), held("open", verdict="FAIL"), held("open", verdict="N/A"), held("noted", verdict="N/A")]
    decided = decide_by_effects("ours", checks, unfinished="")
    assert "1 of 4 checks passed, 1 is inconclusive and 2 were not measured." in decided.sentences[0]
    assert decided.sentences[1].startswith("1 of them passes or fails on its own, but")


@pytest.mark.parametrize(
    ("effects", "rows", "unfinished", "code"),
    [
        (["pass"], (), "", 0),
        (["pass"], ("not shown", "not comparable"), "", 0),
        (["pass"], ("not shown", "worse"), "", 7),
        (["open"], ("worse",), "", 7),
        (["open"], ("not shown",), "", 4),
        (["fail"], ("worse",), "", 3),
        (["fail"], ("worse",), "9 of 90 calls failed", 5),
        (["pass"], (), "9 of 90 calls failed", 5),
    ],
)
def test_the_exit_codes_come_in_their_order(effects, rows, unfinished, code):
    found = decision(*effects, rows=rows, unfinished=unfinished)
    assert found.exit_code == code
    assert found.passed == (code == 0)
    assert found.line.startswith(found.title)
