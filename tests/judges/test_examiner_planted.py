"""What an examiner's measures should come to: by hand, against brute-force simulation, and on every kind of scale."""

import math

import numpy as np
import pytest

from tests.recovery.examiner_sampling import AGAINST, TESTS, design, draw, ordinal
from umpirical.domain.scales import GradeScale
from umpirical.judges.simulated.examiner import Truth, true_examiner
from umpirical.judges.simulated.profiles import EXAMINER_PROFILES, ExaminerProfile
from umpirical.protocols.stress.design import kind_of
from umpirical.stats.simulation.examiner import LatentExaminer

SIX = ordinal(6)


def test_planted_values_of_a_sharp_judge_by_hand():
    values = true_examiner(ExaminerProfile("", LatentExaminer(noise=0.0)), SIX, design(6))
    for test in ("original", *TESTS):
        for name in ("accuracy", "within-one", "weighted-kappa", "agreement-ccc", "pearson", "compression"):
            assert values[name, test] == pytest.approx(1)
        assert values["mean-absolute-error", test] == values["grade-bias", test] == 0
    assert values["flip-rate", "stability"] == values["flip-rate", "seeds"] == 0
    assert values["flip-detection", "label-flip"] == values["right-on-both", "label-flip"] == pytest.approx(1)
    for test in TESTS[:-1]:
        assert values["change-rate", test] == values["excess-change", test] == values["grade-shift", test] == 0
    assert ("change-rate", "label-flip") not in values
    assert ("flip-detection", "paraphrase") not in values


def test_planted_values_of_a_severe_judge_by_hand():
    values = true_examiner(ExaminerProfile("", LatentExaminer(noise=0.0, severity=-1.0)), SIX, design(6))
    # 0 1 2 3 4 5 are given 0 0 1 2 3 4: one in six is right, and the slope is 15/17.5.
    assert values["accuracy", "original"] == pytest.approx(1 / 6)
    assert values["within-one", "original"] == pytest.approx(1)
    assert values["grade-bias", "original"] == pytest.approx(-5 / 6)
    assert values["compression", "original"] == pytest.approx(15 / 17.5)
    assert values["severity", "original"] == pytest.approx(-5 / 6)
    # Mirrored pairs: 0 and 5 get 0 and 4, 1 and 4 get 0 and 3, 2 and 3 get 1 and 2. All moved, none right on both.
    assert values["flip-detection", "label-flip"] == pytest.approx(1)
    assert values["right-on-both", "label-flip"] == 0


def test_planted_values_of_a_constant_judge_by_hand():
    values = true_examiner(EXAMINER_PROFILES["constant"], SIX, design(6))
    # Always grade 3 of 0 to 5, the higher of the two in the middle.
    assert values["accuracy", "original"] == pytest.approx(1 / 6)
    assert values["mean-absolute-error", "original"] == pytest.approx((3 + 2 + 1 + 0 + 1 + 2) / 6)
    assert values["flip-rate", "stability"] == 0
    for name in ("weighted-kappa", "agreement-ccc", "compression"):
        assert values[name, "original"] == pytest.approx(0)
    assert ("pearson", "original") not in values
    assert values["flip-detection", "label-flip"] == 0


def test_an_arbitrary_judge_never_differs_from_itself_and_knows_nothing():
    values = true_examiner(EXAMINER_PROFILES["arbitrary"], SIX, design(6))
    assert values["flip-rate", "stability"] == pytest.approx(0, abs=1e-9)
    assert values["accuracy", "original"] == pytest.approx(1 / 6)
    assert values["pearson", "original"] == pytest.approx(0, abs=1e-9)


def test_a_repeated_judge_is_as_often_right_however_moody():
    sound, moody = (true_examiner(EXAMINER_PROFILES[name], SIX, design(6)) for name in ("sound-examiner", "moody"))
    assert moody["accuracy", "original"] == pytest.approx(sound["accuracy", "original"])
    assert sound["flip-rate", "stability"] < 0.05
    assert moody["flip-rate", "stability"] > 0.15
    assert moody["excess-change", "paraphrase"] == pytest.approx(0, abs=1e-9)


def test_texts_written_anew_have_gold_and_nothing_to_be_held_against():
    truths = [*design(6, ()), *(Truth(level, level, "synthetic-ordinal", f"s{level}") for level in range(6))]
    values = true_examiner(EXAMINER_PROFILES["sound-examiner"], SIX, truths)
    assert values["accuracy", "synthetic-ordinal"] == values["accuracy", "original"]
    assert {name for name, test in values if test == "synthetic-ordinal"} == {
        name for name, test in values if test == "original"
    }


def test_a_scale_without_order_has_no_values_that_need_one():
    scale = GradeScale("nominal", ("red", "green", "blue"))
    profile = ExaminerProfile("", LatentExaminer(noise=0.0, flip_blindness=0.25))
    truths = [*design(3, ("typos",)), Truth(0, 2, "label-flip", "i0"), Truth(1, 0, "label-flip", "i1")]
    values = true_examiner(profile, scale, truths)
    assert values["flip-detection", "label-flip"] == values["right-on-both", "label-flip"] == pytest.approx(0.75)
    assert {name for name, test in values if test == "typos"} == {"accuracy", "change-rate", "excess-change"}


def test_planted_values_are_in_the_steps_of_the_scale():
    latent = LatentExaminer(noise=0.5, frozen=0.5, severity=-0.4, format_shift=0.7)
    unit, ten = (
        true_examiner(
            ExaminerProfile("", latent),
            GradeScale("interval", low=0, high=high),
            [
                Truth(high * n / 10, high * n / 10, test, f"i{n}", kinds=(kind_of(test),))
                for n in range(11)
                for test in ("original", "typos")
            ],
        )
        for high in (1, 10)
    )
    for measure in ("mean-absolute-error", "grade-bias", "severity"):
        assert unit[measure, "original"] == pytest.approx(ten[measure, "original"] / 10)
    assert unit["grade-shift", "typos"] == pytest.approx(ten["grade-shift", "typos"] / 10)
    for measure in ("accuracy", "weighted-kappa", "compression"):
        assert unit[measure, "original"] == pytest.approx(ten[measure, "original"])
    # Eleven grades within one unit, of which one is the whole scale of the first.
    assert unit["within-one", "original"] == pytest.approx(1)
    assert ten["within-one", "original"] < 1


def test_a_gold_label_between_two_grades_is_given_by_none():
    scale = GradeScale("interval", low=0, high=10)
    values = true_examiner(ExaminerProfile("", LatentExaminer(noise=0.0)), scale, [Truth(3.5, 3.5, "original", "i")])
    assert values["accuracy", "original"] == 0
    assert values["grade-bias", "original"] == 0.5


BROKEN = LatentExaminer(
    noise=0.5,
    frozen=0.7,
    severity=-0.4,
    compression=0.75,
    lapse=0.05,
    format_shift=-0.5,
    format_scatter=0.6,
    paraphrase=0.7,
    verbosity=1.0,
    cue=1.0,
    flip_blindness=0.4,
)


@pytest.mark.parametrize("size", [2, 6])
@pytest.mark.parametrize("name", ["sound-examiner", "middling", "broken"])
def test_planted_values_agree_with_simulation(name, size):
    latent = BROKEN if name == "broken" else EXAMINER_PROFILES[name].latent
    values = true_examiner(ExaminerProfile("", latent), ordinal(size), design(size))
    run = draw(latent, np.random.default_rng(8), items=200_000, grades=size, repeats=2)
    near = 4.5 / math.sqrt(200_000)
    seen = {("flip-rate", "stability"): np.mean(run.originals[:, 0] != run.originals[:, 1])}
    seen |= _gold("original", run.level, run.originals[:, 0], size)
    for test in TESTS:
        seen |= _gold(test, run.required[test], run.changed[test][:, 0], size)
        seen |= _changes(test, run)
    assert set(seen) == set(values) - {
        ("flip-rate", "seeds"),
        ("flip-rate", "sampling"),
        ("unparsed-rate", ""),
        ("failure-rate", ""),
    }
    for found, value in seen.items():
        assert value == pytest.approx(values[found], abs=near * (1 if size == 2 else 2)), found


def _gold(test, gold, given, size):
    error = given - gold
    slope, intercept = np.polyfit(gold, given, 1)
    apart = gold.var() + given.var() + error.mean() ** 2
    together = 2 * np.cov(gold, given, bias=True)[0, 1] / apart
    middle = (size - 1) / 2
    found = {
        "accuracy": np.mean(error == 0),
        "mean-absolute-error": np.abs(error).mean(),
        "grade-bias": error.mean(),
        "weighted-kappa": together,
        "agreement-ccc": together,
        "pearson": np.corrcoef(gold, given)[0, 1],
        "compression": slope,
        "severity": intercept + slope * middle - middle,
    }
    if size > 2:
        found["within-one"] = np.mean(np.abs(error) <= 1)
    return {(name, test): value for name, value in found.items()}


def _changes(test, run):
    before = run.changed[AGAINST[test]] if test in AGAINST else run.originals
    first, second, required = before[:, 0], run.changed[test][:, 0], run.required[test]
    if test == "label-flip":
        found = {
            "flip-detection": np.mean(np.sign(second - first) == np.sign(required - run.level)),
            "right-on-both": np.mean((first == run.level) & (second == required)),
        }
    else:
        found = {
            "change-rate": np.mean(first != second),
            "excess-change": np.mean(first != second)
            - np.mean(first != before[:, 1]) / 2
            - np.mean(second != run.changed[test][:, 1]) / 2,
            "grade-shift": np.mean(second - first),
            "shift-equivalence": np.mean(second - first),
        }
    return {(name, test): value for name, value in found.items()}
