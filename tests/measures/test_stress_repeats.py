"""Repeats of one request, by hand."""

from dataclasses import replace
from math import log

import pytest

from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import GradeTally, OutcomeTally, RepeatTally, Tallies
from umpirical.measures.catalogue import MEASURES, measure_all
from umpirical.stats.intervals import cluster_mean, cluster_wilson

SCALE = GradeScale("ordinal", ("low", "mid", "high"))


def asked(cluster, answers, *, items=1, planned=3, test="stability", group=""):
    given = tuple(sorted(answers.items()))
    scores = tuple(SCALE.score(label) for label, _ in given)
    return RepeatTally(cluster, "baseline", test, group, given, scores, items, planned)


BY_HAND = Tallies(
    repeats=(
        asked("a", {"low": 3}, items=2),
        asked("a", {"low": 2, "mid": 1}),
        asked("b", {"mid": 1, "high": 1}),
        asked("c", {"high": 1}),
        asked("c", {}, items=2),
    ),
    scale=SCALE,
)


def result(name, tallies=BY_HAND, stratum="stability"):
    (found,) = [m.result for m in MEASURES.get(name).compute(tallies, "baseline") if m.stratum == stratum]
    return found


def test_the_flip_rate():
    found = result("flip-rate")
    # Two items without a flip, one of 2/3, one of 1.
    assert (found.value, found.numerator) == (pytest.approx(5 / 12), pytest.approx(5 / 3))
    assert (found.denominator, found.unit, found.clusters) == (4, "item", 2)
    assert found.excluded == {"answered less than twice": 3}
    reference = cluster_wilson([2 / 3, 1], [3, 1])
    assert (found.interval.low, found.interval.high) == pytest.approx((reference.low, reference.high))


def test_the_modal_share_names_the_number_of_repeats():
    found = result("modal-share")
    assert found.value == pytest.approx((1 + 1 + 2 / 3 + 1 / 2) / 4)
    assert found.interval.method.endswith("R = 2 to 3")
    even = replace(BY_HAND, repeats=tuple(asked(c, {"low": 2, "mid": 3}) for c in "abc"))
    assert result("modal-share", even).interval.method.endswith("R = 5")


def test_the_entropy():
    found = result("verdict-entropy")
    mixed = (2 / 3 * 1 / 2 + 1 / 3 * 3 / 2) / log(2)
    split = 1 / log(2)
    assert found.value == pytest.approx((mixed + split) / 4)
    reference = cluster_mean([mixed, split], [3, 1])
    assert (found.interval.low, found.interval.high) == pytest.approx((reference.low, min(reference.high, 1.5849625)))
    assert found.interval.method.endswith("R = 2 to 3")
    assert MEASURES.get("verdict-entropy").scale == "bits"


def test_the_entropy_is_never_more_than_there_is():
    """For a judge that always contradicts itself the estimator exceeds one bit by chance, and is cut there."""
    binary = GradeScale("binary", ("no", "yes"))
    split = tuple(
        RepeatTally(f"c{n}", "baseline", "stability", "", (("no", 1), ("yes", 1)), (0.0, 1.0), 1, 2) for n in range(30)
    )
    found = result("verdict-entropy", Tallies(repeats=split, scale=binary))
    assert (found.value, found.interval.high) == (1, 1)
    assert 0 < found.interval.low < 1
    assert found.numerator == pytest.approx(30 / log(2))


def test_the_icc():
    answers = {"a": {"low": 3}, "b": {"mid": 2, "high": 1}, "c": {"high": 3}, "d": {"low": 2, "mid": 1}}
    repeats = tuple(asked(cluster, given) for cluster, given in answers.items())
    found = result("repeat-icc", Tallies(repeats=repeats, scale=SCALE))
    # Means 0, 4/3, 2, 1/3 of three; within 2/3 + 2/3 over 8.
    means = [0, 4 / 3, 2, 1 / 3]
    grand = sum(means) / 4
    between, within = 3 * sum((mean - grand) ** 2 for mean in means) / 3, (2 / 3 + 2 / 3) / 8
    assert found.value == pytest.approx((between - within) / (between + 2 * within))
    assert (found.numerator, found.denominator, found.clusters) == (12, 4, 4)
    assert "R = 3" in found.interval.method


def test_the_icc_does_not_depend_on_the_unit_of_the_scale():
    wide = GradeScale("interval", low=0.0, high=1000.0)
    narrow = GradeScale("interval", low=0.0, high=0.001)
    patterns = [((1.0, 2), (2.0, 1)), ((5.0, 3),), ((3.0, 1), (4.0, 2)), ((9.0, 3),), ((7.0, 2), (8.0, 1))]

    def run(scale, factor):
        repeats = tuple(
            RepeatTally(f"c{n}", "baseline", "stability", "", tuple((f"{s:g}", k) for s, k in pattern),
                        tuple(s * factor for s, _ in pattern), 1, 3)
            for n, pattern in enumerate(patterns)
        )  # fmt: skip
        return result("repeat-icc", Tallies(repeats=repeats, scale=scale))

    one, other = run(wide, 100.0), run(narrow, 0.0001)
    assert one.value == pytest.approx(other.value)
    assert one.interval.low == pytest.approx(other.interval.low)


def test_every_answer_the_same_has_no_icc_and_says_why():
    constant = Tallies(repeats=tuple(asked(c, {"mid": 3}) for c in "abcd"), scale=SCALE)
    found = result("repeat-icc", constant)
    assert isinstance(found, Undefined)
    assert "every answer is the same" in found.reason
    assert result("flip-rate", constant).value == 0
    assert result("modal-share", constant).value == 1


def test_seeds_are_a_test_of_their_own():
    both = replace(
        BY_HAND, repeats=BY_HAND.repeats + tuple(asked(c, {"low": 1, "high": 1}, test="seeds") for c in "ab")
    )
    found = {m.stratum: m.result for m in MEASURES.get("flip-rate").compute(both, "baseline")}
    assert list(found) == ["seeds", "stability"]
    assert found["seeds"].value == 1
    assert found["stability"].value == pytest.approx(5 / 12)


@pytest.mark.parametrize("name", ["flip-rate", "modal-share", "verdict-entropy", "repeat-icc"])
def test_a_study_without_repeats_has_none_of_these(name):
    assert MEASURES.get(name).compute(Tallies(scale=SCALE), "baseline") == []


@pytest.mark.parametrize("name", ["flip-rate", "modal-share", "verdict-entropy", "repeat-icc"])
def test_asked_once_is_undefined(name):
    once = Tallies(repeats=tuple(asked(c, {"low": 1}) for c in "abc"), scale=SCALE)
    found = result(name, once)
    assert isinstance(found, Undefined)
    assert "no item was answered twice" in found.reason
    assert found.excluded == {"answered less than twice": 3}


# Controlled stimuli.


def test_the_flip_rate_of_compared_pairs_counts_prompts():
    outcomes = tuple(OutcomeTally(c, "baseline", Family.EQUAL, "", 0.0, 0.0, 0.0, (1, 1, 0, 2, 0, 0), 1) for c in "ab")
    (pooled, *_) = MEASURES.get("flip-rate").compute(Tallies(outcomes=outcomes), "baseline")
    assert isinstance(pooled.result, Estimate)
    assert (pooled.result.value, pooled.result.denominator, pooled.result.unit) == (0.5, 4, "prompt")
    assert pooled.stratum == ""


def test_a_judge_that_grades_controlled_stimuli_has_no_flip_rate():
    graded = Tallies(grades=tuple(GradeTally(c, "baseline", Family.GRADED, 1.0, 2.0, 3) for c in "ab"))
    assert MEASURES.get("flip-rate").compute(graded, "baseline") == []
    assert "flip-rate" not in {spec.name for spec, _ in measure_all(graded, kind="grade", protocol="datasheet")}
