"""The checks, and their words."""

import pytest

from umpirical.domain.errors import UmpiricalError
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.stress.heat_map import FIGURES, HEADLINES
from umpirical.protocols.stress.policy import MARGIN, SHELF, SIGNED, allowed, check_words, policy_words
from umpirical.protocols.stress.protocol import STRESS
from umpirical.protocols.stress.report import scale_record
from umpirical.protocols.stress.verdicts import judge_answers

from .samples import BINARY, NOMINAL, SIX, SPECS, report

CHECKS = [check for check in SHELF.preset().checks if check.at]


def held(kind, scale=SIX, margin=MARGIN):
    return {one.check.measure: one for one in allowed(kind, margin=margin, scale=scale_record(scale))}


def test_the_values_are_those_that_were_agreed():
    assert MARGIN == 0.05
    assert held("flipped-verdict")["flip-detection"].least == 0.80
    assert held("repeats")["flip-rate"].most == 0.10
    assert {check.measure: check.value for check in judge_answers([])} == {"unparsed-rate": 0.02, "failure-rate": 0.02}


def test_the_margin_is_of_a_rate_and_of_the_range():
    six = held("same-verdict", margin=0.1)
    assert (six["excess-change"].least, six["excess-change"].most) == (None, 0.1)
    assert (six["shift-equivalence"].least, six["shift-equivalence"].most) == (-0.5, 0.5)
    assert held("same-verdict", BINARY)["shift-equivalence"].most == pytest.approx(0.05)
    assert list(held("same-verdict", NOMINAL)) == ["excess-change"]


def test_agreement_has_a_check_on_labels_and_none_on_new_texts():
    assert {name: one.least for name, one in held("original").items()} == {
        "weighted-kappa": 0.4,
        "agreement-beyond-length": 0.2,
    }
    assert held("given-label") == {}


def test_every_check_is_on_a_measure_there_is_and_has_a_reason():
    for check in CHECKS:
        assert check.measure in SPECS
        assert len(check.why) > 60
    registered = {spec.name for spec in MEASURES if spec.is_for("grade", "stress")}
    assert {name for check in CHECKS for name in (check.measure, check.instead) if name} <= registered


def test_the_pages_know_the_real_measures_by_name():
    registered = {spec.name: spec for spec in MEASURES if spec.is_for("grade", "stress")}
    shown = {name for figures in FIGURES.values() for names in figures for name in names}
    shown |= {name for names in HEADLINES.values() for name in names} | SIGNED
    assert shown <= set(registered)
    assert {name: spec.scale for name, spec in SPECS.items()} == {name: registered[name].scale for name in SPECS}


def test_the_words_have_every_check_and_its_reason():
    words = policy_words(margin=0.05, scale=scale_record(SIX))
    text = "\n".join(words)
    for check in CHECKS:
        assert check.why in text
    for expected in (
        "at most 5 points",
        "within ±0.25 grades",
        "at least 80%",
        "at most 10%",
        "at least 0.4",
        "never counts as a pass",
    ):
        assert expected in text
    assert "unordered" not in text


def test_a_scale_without_order_is_said():
    text = "\n".join(policy_words(margin=0.05, scale=scale_record(NOMINAL)))
    assert "On an unordered scale" in text
    assert "mean grade shift" not in text


def test_a_check_is_written_to_its_last_digit():
    assert check_words(held("same-verdict", margin=0.025)["excess-change"]) == "at most 2.5 points"
    assert check_words(held("same-verdict", margin=0.03)["shift-equivalence"]) == "within ±0.15 grades"


STRICT = """\
policy: strict
checks:
  - {measure: excess-change, at: same-verdict, at_most: 0.001}
  - {measure: unparsed-rate, at_most: 0.5}
  - {measure: flip-rate, at: repeats, omit: true}
  - {measure: accuracy, at: original, at_least: 0.9}
"""


def test_a_policy_of_ones_own_says_what_differs(tmp_path):
    (tmp_path / "strict.yaml").write_text(STRICT)
    policy = SHELF.chosen("strict.yaml", tmp_path)
    found = {(check.measure, check.at): check for check in policy.checks}
    # The unit goes with the value that it counts.
    assert (found["excess-change", "same-verdict"].at_most, found["excess-change", "same-verdict"].unit) == (0.001, "")
    assert found["excess-change", "same-verdict"].instead == "change-rate"
    assert ("flip-rate", "repeats") not in found
    assert {check.measure: check.value for check in policy.answers} == {"unparsed-rate": 0.5, "failure-rate": 0.02}
    words = "\n".join(policy_words(margin=0.05, scale=scale_record(SIX), policy=policy))
    assert "Agreement with labels: accuracy, at least 90%." in words
    assert "Repeated requests" not in words


def test_a_policy_of_ones_own_makes_a_judge_fail_or_pass():
    sample = report()
    before = {cell.test: cell.verdict for cell in sample.verdicts}
    tight = {"measure": "excess-change", "at": "same-verdict", "at_most": 0.000001}
    wide = [{**tight, "at_most": 1.0}, {"measure": "shift-equivalence", "at": "same-verdict", "within": 100}]
    loose = STRESS.hold(sample, {"policy": "wide", "checks": wide})
    changed = [test.name for test in sample.tests if test.kind == "same-verdict" and before[test.name] != "N/A"]
    assert "FAIL" in {before[name] for name in changed}
    assert {cell.verdict for cell in loose.verdicts if cell.test in changed} <= {"PASS", "INCONCLUSIVE"}
    strict = STRESS.hold(sample, {"policy": "tight", "checks": [tight]})
    assert "PASS" not in {cell.verdict for cell in strict.verdicts if cell.test in changed}
    assert (STRESS.policy_name(sample), STRESS.policy_name(loose)) == ("stress", "wide")
    assert STRESS.parse(STRESS.render(loose)) == loose
    assert "own_policy" not in STRESS.render(sample)
    assert STRESS.as_published(sample, loose) == loose
    assert STRESS.as_published(loose, sample) == sample
    assert "at most 100 points" in STRESS.page(loose)


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("policy: x\nlimit: []\n", "limit", "its keys: policy, about, accepts, refuses, look, checks"),
        ("policy: x\nchecks: [{measure: flip-rate, at: repeats, most: 1}]\n", "most", "its keys: measure, at, at_most"),
        ("policy: x\nchecks: [{measure: flips, at: repeats, at_most: 1}]\n", "unknown measure 'flips'", "measures.md"),
        ("policy: x\nchecks: [{measure: flip-rate, at: repeats, at_most: 1, within: 1}]\n", "needs one of", "keys"),
        ("policy: x\nchecks: [{measure: flip-rate, omit: true}]\n", "cannot omit flip-rate", ""),
    ],
)
def test_what_is_not_known_is_answered_with_what_is(tmp_path, text, problem, fix):
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(UmpiricalError, match=problem) as caught:
        SHELF.chosen("own.yaml", tmp_path)
    assert fix in (caught.value.fix or "")
