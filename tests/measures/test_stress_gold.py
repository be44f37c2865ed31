"""Verdicts against gold labels: by hand and against other people's software, in whole items and in shares of them."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    matthews_corrcoef,
    mean_absolute_error,
)

from tests.cases import each
from umpirical.domain.measures import Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import GoldTally, Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.agreement import Ratings, krippendorff_alpha
from umpirical.stats.intervals import cluster_wilson, wilson

ORDINAL = GradeScale("ordinal", tuple("123456"))
GOLD = [spec.name for spec in MEASURES if spec.name in {
    "accuracy", "within-one", "mean-absolute-error", "grade-bias", "weighted-kappa", "agreement-ccc", "pearson",
    "spearman", "krippendorff-alpha", "severity", "compression", "false-positive-rate", "false-negative-rate",
    "balanced-accuracy", "mcc",
}]  # fmt: skip


def tally(cluster, gold, given, items=1.0, *, scale=ORDINAL, test=Family.ORIGINAL, group=""):
    scored = scale.score(given) if given else None
    return GoldTally(cluster, "baseline", test, group, gold, given, scale.score(gold), scored, items)


def run(rows, *, scale=ORDINAL, positive=()) -> Tallies:
    """One item per row, each by itself."""
    golds = tuple(tally(f"c{n}", gold, given, scale=scale) for n, (gold, given) in enumerate(rows))
    return Tallies(golds=golds, scale=scale, positive=tuple(positive))


def result(name, tallies, stratum=Family.ORIGINAL):
    (found,) = [m.result for m in MEASURES.get(name).compute(tallies, "baseline") if m.stratum == stratum]
    return found


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 6, 90)
    given = np.clip(np.rint(2.5 + 0.8 * (gold - 2.5) + 0.3 + 0.9 * rng.standard_normal(90)), 0, 5).astype(int)
    return gold, given


def rows_of(drawn):
    return [(ORDINAL.labels[x], ORDINAL.labels[y]) for x, y in zip(*drawn, strict=True)]


# Other people's software.


def test_they_are_those_of_scikit_learn_scipy_and_statsmodels(drawn):
    gold, given = drawn
    tallies = run(rows_of(drawn))
    fit = sm.OLS(given, sm.add_constant(gold - 2.5)).fit()
    expected = {
        "accuracy": accuracy_score(gold, given),
        "within-one": np.mean(np.abs(gold - given) <= 1),
        "mean-absolute-error": mean_absolute_error(gold, given),
        "grade-bias": np.mean(given - gold),
        "weighted-kappa": cohen_kappa_score(gold, given, weights="quadratic"),
        "pearson": pearsonr(gold, given).statistic,
        "spearman": spearmanr(gold, given).statistic,
        "severity": fit.params[0] - 2.5,
        "compression": fit.params[1],
        "balanced-accuracy": balanced_accuracy_score(gold, given),
        "mcc": matthews_corrcoef(gold, given),
    }
    for name, value in expected.items():
        assert result(name, tallies).value == pytest.approx(value), name
        assert result(name, tallies).denominator == 90


def test_with_named_labels_there_are_two_classes(drawn):
    gold, given = drawn
    tallies = run(rows_of(drawn), positive=("5", "6"))
    assert result("balanced-accuracy", tallies).value == pytest.approx(balanced_accuracy_score(gold >= 4, given >= 4))
    assert result("mcc", tallies).value == pytest.approx(matthews_corrcoef(gold >= 4, given >= 4))
    false_positive, false_negative = (result(f"false-{side}-rate", tallies) for side in ("positive", "negative"))
    assert false_positive.value == pytest.approx(np.mean(given[gold < 4] >= 4))
    assert false_negative.value == pytest.approx(np.mean(given[gold >= 4] < 4))
    assert false_positive.denominator + false_negative.denominator == 90
    balanced = 1 - (false_positive.value + false_negative.value) / 2
    assert result("balanced-accuracy", tallies).value == pytest.approx(balanced)
    # Exact agreement does not depend on what is called positive.
    assert result("accuracy", tallies).value == result("accuracy", run(rows_of(drawn))).value


def test_a_plain_rate_of_items_is_wilsons_with_students_t(drawn):
    found = result("accuracy", run(rows_of(drawn)))
    right = int(found.numerator)
    hits = [1] * right + [0] * (90 - right)
    reference = cluster_wilson(hits, np.ones(90))
    assert (found.interval.low, found.interval.high) == pytest.approx((reference.low, reference.high))
    low, high = wilson(right, 90)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=0.01)


# By hand.


BY_HAND = Tallies(
    golds=(
        tally("a", "1", "1"),
        tally("a", "2", "4"),
        tally("b", "3", "3", 0.5),
        tally("b", "3", "4", 0.5),
        tally("c", "6", "5"),
        tally("c", "6", "", 2.0),
    ),
    scale=ORDINAL,
    positive=("4", "5", "6"),
)


def test_rates_by_hand():
    accuracy, near = result("accuracy", BY_HAND), result("within-one", BY_HAND)
    assert (accuracy.numerator, accuracy.denominator, accuracy.clusters) == (1.5, 4, 3)
    assert (near.numerator, near.denominator) == (3.0, 4)
    assert accuracy.excluded == {"without a verdict": 2}
    assert accuracy.bounds == pytest.approx((1.5 / 6, 3.5 / 6))
    false_positive, false_negative = (result(f"false-{side}-rate", BY_HAND) for side in ("positive", "negative"))
    # Three items deserve less than 4: one got 4, one in half of its answers.
    assert (false_positive.numerator, false_positive.denominator) == (1.5, 3)
    assert false_positive.excluded == {}
    assert false_positive.bounds is None
    # The only positive item with a verdict belongs to one cluster.
    assert isinstance(false_negative, Undefined)
    assert false_negative.excluded == {"without a verdict": 2}


def test_distances_by_hand():
    error, bias = result("mean-absolute-error", BY_HAND), result("grade-bias", BY_HAND)
    assert (error.value, error.numerator) == (3.5 / 4, 3.5)
    assert (bias.value, bias.numerator) == (1.5 / 4, 1.5)
    assert error.excluded == bias.excluded == {"without a verdict": 2}


def test_the_line_by_hand():
    # Gold 0, 1, 2, 5 gets 0, 3, 2.5, 4 on average: (-1·3 + 3·4) / (4 + 1 + 9), and mean 2.375 at 2.
    slope = 9 / 14
    assert result("compression", BY_HAND).value == pytest.approx(slope)
    assert result("severity", BY_HAND).value == pytest.approx(2.375 + slope * 0.5 - 2.5)


def test_balanced_accuracy_by_hand():
    found = result("balanced-accuracy", BY_HAND)
    # Below 4: 1.5 of 3; from 4 on: 1 of 1, and two without a verdict.
    assert found.value == pytest.approx((0.5 + 1) / 2)
    assert found.bounds == pytest.approx(((0.5 + 1 / 3) / 2, (0.5 + 1) / 2))
    assert found.numerator == pytest.approx(0.75 * 4)


def test_a_judge_with_one_favourite_is_found_out_by_balance():
    rows = [("1", "1")] * 45 + [("2", "1")] * 5
    tallies = run(rows, scale=GradeScale("binary", ("1", "2")))
    assert result("accuracy", tallies).value == 0.9
    assert result("balanced-accuracy", tallies).value == 0.5
    assert isinstance(result("mcc", tallies), Undefined)
    assert result("weighted-kappa", tallies).value == 0
    assert result("weighted-kappa", tallies).interval.low < 0 < result("weighted-kappa", tallies).interval.high


# Shares of items.


def in_shares(tallies: Tallies) -> Tallies:
    """Every item answered three times alike, and counted by answer."""
    parts = (replace(t, items=t.items / 3) for t in tallies.golds for _ in range(3))
    return replace(tallies, golds=tuple(parts))


@pytest.mark.parametrize("name", GOLD)
def test_an_item_in_thirds_is_an_item(name, drawn):
    whole = run(rows_of(drawn), positive=("4", "5", "6"))
    one, other = result(name, whole), result(name, in_shares(whole))
    assert other.value == pytest.approx(one.value)
    assert (other.denominator, other.clusters) == (one.denominator, one.clusters)
    assert [other.interval.low, other.interval.high] == pytest.approx([one.interval.low, one.interval.high])


@pytest.mark.parametrize("name", ["accuracy", "balanced-accuracy", "within-one"])
@pytest.mark.parametrize("right", [True, False])
def test_all_right_and_all_wrong_are_whole_numbers_in_thirds_too(name, right):
    labels = ORDINAL.labels
    rows = [(labels[n % 6], labels[n % 6 if right else (n + 3) % 6]) for n in range(60)]
    found = result(name, in_shares(run(rows)))
    assert found.value == (1 if right else 0)
    assert found.interval.high - found.interval.low > 0.03
    assert (found.interval.high if right else found.interval.low) == (1 if right else 0)
    if name != "balanced-accuracy":
        assert found.design_effect is None
        assert found.planning_interval is not None


@each("name", GOLD)
def test_perfect_agreement_is_one_and_not_certain(name):
    rows = [(label, label) for label in ORDINAL.labels * 8]
    found = result(name, run(rows, positive=("5", "6")))
    best = {
        "mean-absolute-error": 0,
        "grade-bias": 0,
        "severity": 0,
        "false-positive-rate": 0,
        "false-negative-rate": 0,
    }
    assert found.value == pytest.approx(best.get(name, 1), abs=1e-12)
    assert found.interval.high - found.interval.low > 0.01


# Scales.


@pytest.mark.parametrize(
    ("scale", "metric"),
    [
        (ORDINAL, "ordinal"),
        (GradeScale("nominal", tuple("123456")), "nominal"),
        (GradeScale("interval", low=1.0, high=6.0), "interval"),
    ],
)
def test_alpha_has_the_metric_of_its_scale(scale, metric, drawn):
    found = result("krippendorff-alpha", run(rows_of(drawn), scale=scale))
    assert found.value == pytest.approx(krippendorff_alpha(Ratings.of(*drawn), metric=metric).value)


def test_on_an_interval_scale_a_number_counts_and_not_how_it_is_written():
    scale = GradeScale("interval", low=0.0, high=10.0)
    rows = [("7", "7.0"), ("7.50", "7.5"), ("3", "4"), ("9", "9.5")]
    tallies = run(rows, scale=scale)
    assert result("accuracy", tallies).value == 0.5
    assert result("within-one", tallies).value == 1
    assert result("mean-absolute-error", tallies).value == 1.5 / 4
    for name in ("weighted-kappa", "balanced-accuracy", "mcc"):
        assert "interval scale has no labels" in result(name, tallies).reason
    # The study file takes no positive labels there, so none are asked for.
    for name in ("balanced-accuracy", "mcc", "false-positive-rate", "false-negative-rate"):
        assert result(name, tallies).reason == "an interval scale has no labels"


def test_on_a_binary_scale_everything_is_within_one_step():
    tallies = run([("1", "2"), ("2", "2"), ("1", "1")], scale=GradeScale("binary", ("1", "2")))
    assert "only one step" in result("within-one", tallies).reason
    assert result("mean-absolute-error", tallies).value == pytest.approx(1 / 3)


def test_concordance_and_kappa_are_one_number_and_below_the_correlation(drawn):
    tallies = run(rows_of(drawn))
    kappa, ccc, pearson = (result(name, tallies) for name in ("weighted-kappa", "agreement-ccc", "pearson"))
    assert kappa == ccc
    assert ccc.value < pearson.value


# Where nothing can be said.


def test_without_gold_labels_every_measure_says_so():
    for name in GOLD:
        (measure,) = MEASURES.get(name).compute(Tallies(scale=ORDINAL), "baseline")
        assert measure.result == Undefined("no item has a gold label")


def test_error_rates_need_labels_that_count_as_positive(drawn):
    for side in ("positive", "negative"):
        found = result(f"false-{side}-rate", run(rows_of(drawn)))
        assert isinstance(found, Undefined)
        assert "name the labels that count as positive" in found.reason


def test_error_rates_need_items_of_that_kind():
    assert (
        "every gold label is positive"
        in result("false-positive-rate", run([("6", "6"), ("5", "1")], positive=("5", "6"))).reason
    )
    assert (
        "no gold label is positive"
        in result("false-negative-rate", run([("1", "6"), ("2", "1")], positive=("5", "6"))).reason
    )


@pytest.mark.parametrize("name", ["pearson", "spearman", "severity", "compression", "balanced-accuracy", "mcc"])
def test_one_gold_label_for_all_items_tells_nothing(name):
    found = result(name, run([("3", label) for label in "123456"]))
    assert isinstance(found, Undefined)
    assert "same" in found.reason


@pytest.mark.parametrize("name", ["weighted-kappa", "agreement-ccc", "krippendorff-alpha"])
def test_one_label_everywhere_leaves_nothing_to_agree_on(name):
    assert "agreement is undefined" in result(name, run([("3", "3")] * 8)).reason


def test_a_score_that_is_missing_on_a_scale_with_order_is_an_error_and_no_zero():
    broken = Tallies(golds=(replace(tally("a", "1", "2"), given_score=None), tally("b", "1", "1")), scale=ORDINAL)
    with pytest.raises(ValueError, match="without its score"):
        MEASURES.get("accuracy").compute(broken, "baseline")


def test_a_label_that_is_not_on_the_scale_is_an_error():
    scale = GradeScale("nominal", ("cat", "dog"))
    strange = run([("cat", "cat"), ("dog", "bird")], scale=scale)
    with pytest.raises(ValueError, match="expected labels of the scale, cat, dog; got bird"):
        MEASURES.get("mcc").compute(strange, "baseline")


# Several tests.


def test_every_test_with_gold_has_its_own_the_originals_first():
    several = Tallies(
        golds=(
            *(tally(c, "1", "1", test="format") for c in "abc"),
            *(tally(c, "1", "2") for c in "abc"),
            *(tally(c, "1", "2", test="case") for c in "abc"),
            *(tally(c, "1", "1", group="age=8") for c in "abc"),
        ),
        scale=ORDINAL,
    )
    found = {(m.stratum, m.group): m.result.value for m in MEASURES.get("accuracy").compute(several, "baseline")}
    assert list(found) == [(Family.ORIGINAL, ""), (Family.ORIGINAL, "age=8"), ("case", ""), ("format", "")]
    assert list(found.values()) == [0, 1, 0, 1]
