"""Agreement with labels beyond chance and beyond length: by hand, against other software, and in simulation."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import pearsonr, rankdata
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score

from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import GoldTally, PairTally, PolicyTally, Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.measures.estimates.items import balanced_share, chance_corrected
from umpirical.stats.agreement import (
    Ratings,
    concordance,
    concordance_difference,
    krippendorff_alpha,
    partial_correlation,
)

RUNS = [pytest.param(80, id="small"), pytest.param(2_000, id="whole", marks=pytest.mark.slow)]


def result(name, tallies, **where):
    [found] = [
        measure.result
        for measure in MEASURES.get(name).compute(tallies, "baseline")
        if all(getattr(measure, key) == value for key, value in where.items())
    ]
    return found


# Pairs.


def choices(right, wrong, *, pairs=40):
    """Pairs of as many prompts: of the two calls on each, how many are right and wrong."""

    def tally(number, group, correct, other):
        return PairTally(
            f"p{number}",
            "baseline",
            "natural",
            0.0,
            1,
            correct_calls=correct,
            wrong_calls=other,
            stratum=group,
            stable=float(2 in {correct, other}),
            both_correct=float(correct == 2),
        )

    found = []
    for number in range(pairs):
        group = "longer=chosen" if number < pairs * 3 / 4 else "longer=rejected"
        calls = right(number), wrong(number)
        found += [tally(number, "", *calls), tally(number, group, *calls)]
    return Tallies(pairs=tuple(found))


def agreements(tallies):
    return [result(name, tallies, group="").value for name in ("pair-agreement", "pair-agreement-beyond-length")]


def test_judges_of_pairs_by_hand():
    assert agreements(choices(lambda _: 2, lambda _: 0)) == [1, 1]
    assert agreements(choices(lambda _: 0, lambda _: 2)) == [-1, -1]
    assert agreements(choices(lambda _: 1, lambda _: 1)) == [0, 0]  # always the same position
    assert agreements(choices(lambda _: 0, lambda _: 0)) == [0, 0]  # always a tie
    # Three in four of the chosen answers are the longer ones: the judge of length is right about these and no others.
    assert agreements(choices(lambda n: 2 * (n < 30), lambda n: 2 * (n >= 30))) == [0.5, 0]


def test_a_judge_that_names_both_positions_equally_often_has_cohens_kappa():
    rng = np.random.default_rng(1)
    right = rng.integers(0, 2, 60)
    gold = np.array([1, 2] * 60)
    given = np.where(np.repeat(right, 2), gold, 3 - gold)
    tallies = choices(lambda n: 2 * right[n], lambda n: 2 - 2 * right[n], pairs=60)
    assert agreements(tallies)[0] == pytest.approx(cohen_kappa_score(gold, given))


def test_where_length_is_never_wrong_nobody_knows_what_a_judge_follows():
    one_sided = Tallies(
        pairs=tuple(t for t in choices(lambda _: 2, lambda _: 0).pairs if t.stratum != "longer=rejected")
    )
    found = result("pair-agreement-beyond-length", one_sided)
    assert isinstance(found, Undefined)
    assert "so length cannot be separated" in found.reason
    alike = Tallies(pairs=tuple(t for t in choices(lambda _: 2, lambda _: 0).pairs if not t.stratum))
    assert result("pair-agreement-beyond-length", alike).value == 1


# Agents.


def verdicts(detected, alarmed, *, texts=20):
    return Tallies(
        policies=tuple(
            PolicyTally(f"t{n}", "baseline", "", "", broken=1, detected=detected(n), kept=2, alarmed=alarmed(n))
            for n in range(texts)
        )
    )


def test_judges_of_agents_by_hand_and_against_scikit_learn():
    assert result("policy-agreement", verdicts(lambda _: 1, lambda _: 0)).value == 1
    assert result("policy-agreement", verdicts(lambda _: 0, lambda _: 2)).value == -1
    assert result("policy-agreement", verdicts(lambda _: 1, lambda _: 2)).value == 0  # always violated
    assert result("policy-agreement", verdicts(lambda _: 0, lambda _: 0)).value == 0  # never violated
    some = verdicts(lambda n: n % 4 > 0, lambda n: n % 2)
    gold = [1] * 20 + [0] * 40
    given = [n % 4 > 0 for n in range(20)] + [n < 10 for n in range(40)]
    expected = balanced_accuracy_score(gold, given, adjusted=True)
    assert result("policy-agreement", some).value == pytest.approx(expected)


# Grades, beyond length.

SIX = GradeScale("ordinal", tuple("123456"))


def essays(rng, clusters, per, *, reads, noise=0.8, within=0.3):
    """Gold goes with length; the judge follows length, and reads as much as it is told to."""
    count, cluster = clusters * per, np.repeat(np.arange(clusters), per)

    def drawn():
        return np.sqrt(within) * rng.standard_normal(clusters)[cluster] + np.sqrt(1 - within) * rng.standard_normal(
            count
        )

    length, quality = drawn(), drawn()
    gold = np.clip(np.rint(2.5 + 0.8 * length + 0.8 * quality), 0, 5)
    given = np.clip(np.rint(2.5 + 1.1 * length + reads * quality + noise * reads * drawn()), 0, 5)
    words = np.exp(5 + 0.5 * length)
    return Ratings(gold, given, np.ones(count), cluster), np.column_stack([np.rint(6 * words), np.rint(words)])


def test_it_is_the_correlation_of_what_regressions_leave():
    ratings, lengths = essays(np.random.default_rng(1), 90, 1, reads=0.7)
    ranks = [(2 * rankdata(side) - 1) / 90 - 1 for side in lengths.T]
    fitted = sm.add_constant(np.column_stack([*ranks, *(rank**2 for rank in ranks)]))
    left = [sm.OLS(side, fitted).fit().resid for side in (ratings.gold, ratings.given)]
    assert partial_correlation(ratings, lengths).value == pytest.approx(pearsonr(*left).statistic)


def test_a_judge_of_length_agrees_and_has_nothing_beyond_it():
    ratings, lengths = essays(np.random.default_rng(1), 400, 1, reads=0)
    assert concordance(ratings).low > 0.4
    assert partial_correlation(ratings, lengths).high < 0.25


def golds(ratings, lengths, *, known=True):
    """As counted, one item to a row."""
    return Tallies(
        golds=tuple(
            GoldTally(
                f"c{cluster}", "baseline", "original", "", SIX.labels[int(x)], SIX.labels[int(y)], x, y, 1.0,
                *((int(size[0]), int(size[1])) if known else ()),
            )
            for x, y, cluster, size in zip(ratings.gold, ratings.given, ratings.cluster, lengths, strict=True)
        ),
        scale=SIX,
    )  # fmt: skip


def test_without_lengths_or_without_anything_else_it_is_undefined():
    ratings, lengths = essays(np.random.default_rng(1), 60, 1, reads=0.7)
    assert isinstance(result("agreement-beyond-length", golds(ratings, lengths)), Estimate)
    assert "lengths" in result("agreement-beyond-length", golds(ratings, lengths, known=False)).reason
    constant = Ratings(ratings.gold, np.full(60, 2.0), ratings.weight, ratings.cluster)
    assert isinstance(result("agreement-beyond-length", golds(constant, lengths)), Undefined)
    few = Ratings(*(side[:7] for side in (ratings.gold, ratings.given, ratings.weight, ratings.cluster)))
    assert isinstance(result("agreement-beyond-length", golds(few, lengths[:7])), Undefined)


def test_an_item_without_a_verdict_is_counted_the_worst_way():
    ratings, lengths = essays(np.random.default_rng(1), 60, 1, reads=0.7)
    whole = golds(ratings, lengths)
    missing = GoldTally("c9", "baseline", "original", "", "6", "", 5.0, None, 3.0, 900, 150)
    some = Tallies(golds=(*whole.golds, missing), scale=SIX)
    for name in ("weighted-kappa", "krippendorff-alpha", "agreement-beyond-length"):
        before, after = result(name, whole), result(name, some)
        assert after.value == before.value
        assert before.bounds is None
        assert after.bounds[0] < after.value <= after.bounds[1]


# Two judges on the same items.


def test_two_judges_on_the_same_items():
    rng = np.random.default_rng(1)
    one, _ = essays(rng, 60, 2, reads=0.3)
    other = Ratings(one.gold, np.clip(one.gold + rng.integers(-1, 2, 120), 0, 5), one.weight, one.cluster)
    found = concordance_difference(one, other)
    assert found.value == pytest.approx(concordance(other).value - concordance(one).value)
    same = concordance_difference(one, one)
    assert (same.value, same.low < 0 < same.high) == (0, True)
    constant = Ratings(np.full(120, 2.0), np.full(120, 2.0), one.weight, one.cluster)
    assert concordance_difference(one, constant) is None


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(("clusters", "per"), [(93, 1), (40, 3)])
def test_intervals_of_a_difference_cover(runs, clusters, per):
    rng = np.random.default_rng(7)

    def two(count, each):
        one, _ = essays(rng, count, each, reads=0.3)
        noise = rng.standard_normal(len(one.gold))
        return one, Ratings(one.gold, np.clip(np.rint(one.gold + noise), 0, 5), one.weight, one.cluster)

    true = concordance_difference(*two(50_000, 2)).value
    found = [concordance_difference(*two(clusters, per)) for _ in range(runs)]
    held = sum(one.low <= true <= one.high for one in found) / runs
    assert abs(held - 0.955) < 0.015 + 3 * np.sqrt(0.95 * 0.05 / runs)


# Coverage.


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(("clusters", "per"), [(93, 1), (40, 3)])
@pytest.mark.parametrize("reads", [0, 0.4, 1.1])
def test_intervals_of_grades_cover(runs, clusters, per, reads):
    rng = np.random.default_rng(7)
    kinds = (
        lambda ratings, _: concordance(ratings),
        lambda ratings, _: krippendorff_alpha(ratings, metric="ordinal"),
        partial_correlation,
    )
    large = essays(rng, 30_000 if runs < 1_000 else 200_000, 2, reads=reads)
    true = [kind(*large).value for kind in kinds]
    held = np.zeros(len(kinds))
    for _ in range(runs):
        drawn = essays(rng, clusters, per, reads=reads)
        for place, kind in enumerate(kinds):
            found = kind(*drawn)
            held[place] += found.low <= true[place] <= found.high
    slack = 3 * np.sqrt(0.95 * 0.05 / runs)
    assert (held / runs > 0.945 - slack).all(), held / runs
    assert (held / runs < 0.985 + slack / 3).all(), held / runs


def shares(rng, clusters, per, rates, within):
    """Right verdicts of two kinds, with a correlation within clusters."""
    units = np.full((clusters, 2), float(per))
    spread = 1 / within - 1 if within else 0
    own = [rng.beta(p * spread, (1 - p) * spread, clusters) if within else np.full(clusters, p) for p in rates]
    return rng.binomial(per, np.column_stack(own)).astype(float), units


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(("clusters", "per"), [(60, 1), (24, 4)])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.85, 0.7), (0.95, 0.35)])
@pytest.mark.parametrize("within", [0, 0.2])
def test_intervals_of_choices_and_of_verdicts_on_agents_cover(runs, clusters, per, rates, within):
    rng = np.random.default_rng(7)
    true, held = sum(rates) - 1, 0
    for _ in range(runs):
        hits, units = shares(rng, clusters, per, rates, within)
        found = chance_corrected(balanced_share(hits, units, [0, 0], unit="pair", excluded={}))
        held += found.interval.low <= true <= found.interval.high
    slack = 3 * np.sqrt(0.95 * 0.05 / runs)
    assert 0.945 - slack < held / runs < 0.985 + slack / 3
