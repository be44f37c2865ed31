"""What limits and regressions come to."""

import pytest

from tests.reports.gates import decision, held
from umpirical.reports.gate import decide_by_effects, own_limits
from umpirical.reports.record import ConditionRecord, CureRecord, LimitRecord


def limit(**given) -> LimitRecord:
    known = {"measure": "dark-current", "title": "Dark current", "stratum": "", "kind": "at_most", "value": 0.05}
    return LimitRecord(**{**known, "arm": "baseline", "essential": True, "verdict": "PASS", "state": "met", **given})


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
def test_what_a_limit_does_follows_from_what_it_comes_to_in_the_decision(given, effect):
    [found] = own_limits([limit(**given)])
    assert found.effect == effect


def test_the_limits_of_another_prompt_are_those_of_another_judge():
    limits = [limit(arm="strict", verdict="FAIL", state="broken"), limit()]
    assert [found.effect for found in own_limits(limits)] == ["pass"]
    assert [found.effect for found in own_limits(limits[:1])] == ["fail"]
    assert own_limits([]) == []


def test_the_worse_side_is_the_one_that_the_limit_is_on():
    below = limit(kind="at_least", value=0.8, measure="target-sensitivity", stratum="5")
    assert [found.worse for found in own_limits([limit(), below])] == ["higher", "lower"]
    assert own_limits([below])[0].title == "Dark current at a 5-requirement difference"


def test_an_open_limit_says_what_its_nearest_way_needs():
    need = ConditionRecord(
        measure="both-orders-sensitivity", title="Both-orders sensitivity", stratum="5", kind="at_least", value=0.9,
        verdict="INCONCLUSIVE", more_needed=327, unit="pair",
    )  # fmt: skip
    cure = CureRecord(way="Ask both orders.", needs=[need], works=False)
    far = limit(verdict="FAIL", state="open", cures=[cure], why="45% (must be at most 10%)")
    [found] = own_limits([far])
    assert (found.more_needed, found.unit) == (327, "pair")
    assert found.why.endswith("needs about 327 more pairs for both-orders sensitivity at a 5-requirement difference)")
    near = limit(verdict="INCONCLUSIVE", state="open", cures=[cure], more_needed=12, unit="prompt", why="near")
    [found] = own_limits([near])
    assert (found.more_needed, found.unit, found.why) == (12, "prompt", "near")


@pytest.mark.parametrize(
    ("effects", "verdict"),
    [
        (["pass", "pass"], "use"),
        (["pass", "noted"], "use-with-limits"),
        (["pass", "open", "noted"], "not-enough-data"),
        (["open", "fail"], "do-not-use"),
        ([], "not-enough-data"),
    ],
)
def test_limits_decide_by_what_each_of_them_does(effects, verdict):
    limits = [held(effect) for effect in effects]
    assert decide_by_effects("ours", limits, unfinished="").verdict == verdict
    assert decide_by_effects("ours", limits, unfinished="9 of 90 calls failed").verdict == "not-enough-data"
    restricted = decide_by_effects("ours", limits, unfinished="", unknown=["Correctness was not measured."])
    assert restricted.verdict == ("use-with-limits" if verdict == "use" else verdict)
    assert restricted.line.startswith(f"{restricted.title} (policy ours): ")


def test_an_open_limit_counts_as_inconclusive_whatever_it_looks_like_by_itself():
    limits = [held("pass"), held("open", verdict="FAIL"), held("open", verdict="N/A"), held("noted", verdict="N/A")]
    decided = decide_by_effects("ours", limits, unfinished="")
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
