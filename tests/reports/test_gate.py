"""What limits and regressions come to."""

import pytest

from tests.reports.gates import decision, held
from umpirical.reports.gate import own_limits, ruling_of_limits
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
    assert own_limits([below])[0].title == "Dark current at Δ5"


def test_an_open_limit_says_what_its_nearest_way_needs():
    need = ConditionRecord(
        measure="both-orders-sensitivity", title="Both-orders sensitivity", stratum="5", kind="at_least", value=0.9,
        verdict="INCONCLUSIVE", more_needed=327, unit="pair",
    )  # fmt: skip
    cure = CureRecord(way="Ask both orders.", needs=[need], works=False)
    far = limit(verdict="FAIL", state="open", cures=[cure], why="0.453 against ≤ 0.10")
    [found] = own_limits([far])
    assert (found.more_needed, found.unit) == (327, "pair")
    assert found.why.endswith("needs about 327 more pairs for both-orders sensitivity at Δ5)")
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
def test_a_protocol_without_a_decision_is_ruled_on_by_its_limits(effects, verdict):
    ruled = ruling_of_limits([held(effect) for effect in effects])
    assert ruled.verdict == verdict
    assert ruled.exit_code == {"use": 0, "use-with-limits": 0, "do-not-use": 3, "not-enough-data": 4}[verdict]


@pytest.mark.parametrize(
    ("effects", "rows", "enough", "code"),
    [
        (["pass"], (), True, 0),
        (["pass"], ("not shown", "not comparable"), True, 0),
        (["pass"], ("not shown", "worse"), True, 7),
        (["open"], ("worse",), True, 7),
        (["open"], ("not shown",), True, 4),
        (["fail"], ("worse",), True, 3),
        (["fail"], ("worse",), False, 5),
        (["pass"], (), False, 5),
    ],
)
def test_the_exit_codes_come_in_their_order(effects, rows, enough, code):
    found = decision(*effects, rows=rows, enough=enough)
    assert found.exit_code == code
    assert found.passed == (code == 0)
    assert found.line.startswith(found.title)
