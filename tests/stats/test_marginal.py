"""The model for published counts: the paper's figures, a second implementation, and its edges."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr
from scipy.stats import norm
from statsmodels.miscmodels.ordinal_model import OrderedModel

from umpirical.stats.marginal import (
    MarginalCounts,
    add_one_sensitivity,
    compare_marginal,
    sensitivity,
    shared_resolution_interval,
)

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "dark_current.json").read_text())


def published(judge: str) -> MarginalCounts:
    rows = {row["metric"]: row for row in GOLDEN["wilson_rows"] if row["judge"] == judge}

    def outcomes(delta: str) -> tuple[int, int, int]:
        correct, tie = rows[f"target_sensitivity_{delta}"], rows[f"{delta}_tie_rate"]
        count = (correct["numerator"], tie["numerator"])
        return (*count, correct["denominator"] - sum(count))

    equal = rows["raw_delta0_false_preference"]
    named = equal["numerator"]
    return MarginalCounts(named, equal["denominator"] - named, (outcomes("delta1"), outcomes("delta5")))


BASE, STRICT = published("Qwen32B"), published("Qwen32B_strict")


def test_the_published_counts_are_those_of_table_6():
    assert published("Qwen32B") == MarginalCounts(31, 89, ((94, 6, 0), (20, 0, 0)))
    assert published("Qwen32B_strict") == MarginalCounts(0, 120, ((50, 50, 0), (20, 0, 0)))


def test_a_stricter_prompt_keeps_the_resolution():
    """Delta 0 and delta 1 make the figures; delta 5 is at ceiling in both conditions and drops out."""
    found = compare_marginal([BASE, STRICT], share="resolution")
    assert found.test.statistic == pytest.approx(1.43, abs=0.005)
    assert found.test.df == 1
    assert found.test.p == pytest.approx(0.23, abs=0.005)
    assert found.means[:, 0] == pytest.approx([2.78, 2.78], abs=0.005)
    assert np.isnan(found.means[:, 1]).all()
    assert found.criteria == pytest.approx([1.15, 2.81], abs=0.005)
    # Read off a grid of hundredths, as in MEASURES.md, the points inside are 2.41 to 3.20.
    assert shared_resolution_interval([BASE, STRICT]) == pytest.approx((2.4047, 3.2073), abs=1e-3)


def test_and_changes_the_criterion():
    found = compare_marginal([BASE, STRICT], share="criterion")
    assert found.test.statistic == pytest.approx(47.8, abs=0.05)
    assert found.test.p == pytest.approx(5e-12, rel=0.1)
    assert found.criteria[0] == found.criteria[1]


def test_delta_5_makes_no_difference():
    short = [MarginalCounts(condition.named, condition.tied, condition.unequal[:1]) for condition in (BASE, STRICT)]
    for share in ("resolution", "criterion"):
        whole = compare_marginal([BASE, STRICT], share=share).test
        assert compare_marginal(short, share=share).test == pytest.approx(whole, rel=1e-6)


TWO = [
    MarginalCounts(30, 90, ((40, 30, 10), (60, 15, 5), (75, 4, 1))),
    MarginalCounts(12, 108, ((30, 45, 5), (48, 30, 2), (70, 9, 1))),
]


def brute_force(share: str | None) -> float:
    """The same model, written down plainly and climbed without gradients."""

    def cost(x):
        means = np.array([x[:3], x[:3] if share == "resolution" else x[3:6]])
        criteria = np.exp([x[6], x[6] if share == "criterion" else x[7]])
        total = 0.0
        for condition, mean, c in zip(TWO, means, criteria, strict=True):
            miss = 2 * ndtr(-c)
            total += condition.named * np.log(miss) + condition.tied * np.log(1 - miss)
            for mu, (correct, tie, wrong) in zip(mean, condition.unequal, strict=True):
                p, q = ndtr(mu - c), ndtr(-c - mu)
                total += correct * np.log(p) + wrong * np.log(q) + tie * np.log(1 - p - q)
        return -total

    best = [1.0, 1.5, 2.0, 1.0, 1.5, 2.0, 0.1, 0.1]
    for _ in range(2):
        best = minimize(cost, best, method="Powell", options={"xtol": 1e-7, "ftol": 1e-12}).x
    return -cost(best)


@pytest.mark.parametrize(("share", "df"), [("resolution", 3), ("criterion", 1)])
def test_three_differences_agree_with_a_plain_implementation(share, df):
    found = compare_marginal(TWO, share=share).test
    assert found.df == df
    assert found.statistic == pytest.approx(2 * (brute_force(None) - brute_force(share)), abs=1e-4)


def test_one_criterion_for_all_agrees_with_an_ordered_probit():
    """With mirrored answers (each call also told from the worse content's side) its two cut points are -c and c."""
    found = compare_marginal(TWO, share="criterion")
    answers, columns, weights = [], [], []
    for number, condition in enumerate(TWO):
        for step, (correct, tie, wrong) in enumerate(condition.unequal):
            for sign in (1, -1):
                row = np.zeros(6)
                row[3 * number + step] = sign
                answers += [sign, 0, -sign]
                columns += [row] * 3
                weights += [correct, tie, wrong]
        answers += [1, 0, -1]
        columns += [np.zeros(6)] * 3
        weights += [condition.named, 2 * condition.tied, condition.named]
    repeat = np.array(weights)
    model = OrderedModel(np.repeat(answers, repeat), np.repeat(np.array(columns), repeat, axis=0), distr="probit")
    fit = model.fit(method="bfgs", disp=False, gtol=1e-8, maxiter=500)
    assert found.means.ravel() == pytest.approx(fit.params[:6], abs=1e-3)
    assert found.criteria[0] == pytest.approx(fit.params[6] + np.exp(fit.params[7]), abs=1e-3)


def test_the_same_counts_twice_have_nothing_to_tell():
    for share in ("resolution", "criterion"):
        test = compare_marginal([TWO[0], TWO[0]], share=share).test
        assert test.statistic == pytest.approx(0, abs=1e-6)
        assert test.p == pytest.approx(1, abs=1e-3)


def test_a_mean_without_lower_limit_has_an_open_interval():
    """Named as the worse in every call that is not a tie: any mean further down fits as well."""
    backwards = MarginalCounts(31, 89, ((0, 0, 30),))
    low, high = shared_resolution_interval([backwards, backwards])
    assert low == -np.inf
    assert -3 < high < 0


def test_what_cannot_be_compared_is_refused():
    perfect = MarginalCounts(5, 95, ((20, 0, 0),))
    with pytest.raises(ValueError, match="not every call is correct"):
        compare_marginal([perfect, perfect], share="resolution")
    with pytest.raises(ValueError, match="the same differences"):
        compare_marginal([BASE, MarginalCounts(1, 2, ((1, 1, 1),))], share="resolution")
    with pytest.raises(ValueError, match="two conditions"):
        compare_marginal([BASE], share="criterion")
    with pytest.raises(ValueError, match="every call at this difference is correct"):
        shared_resolution_interval([BASE, STRICT], difference=1)


@pytest.mark.parametrize(("correct", "calls", "value"), [(20, 20, 3.381243), (94, 100, 3.819860), (50, 100, 2.333769)])
def test_the_papers_d_prime(correct, calls, value):
    found = add_one_sensitivity(correct, 0, calls)
    assert found.d_prime == pytest.approx(value, abs=1e-6)
    assert found.ceiling


def test_no_ceiling_where_errors_were_made():
    found = add_one_sensitivity(15, 5, 20)
    assert found.d_prime == pytest.approx(norm.ppf(16 / 22) - norm.ppf(6 / 22))
    assert found.criterion == pytest.approx(0)
    assert not found.ceiling


def test_tie_aware_sensitivity_by_hand():
    found = sensitivity(94, 100, named=31, equal_calls=120)
    c = -norm.ppf(31.5 / 121 / 2)
    assert found.criterion == pytest.approx(c)
    assert found.d_prime == pytest.approx(norm.ppf(94.5 / 101) + c)
    assert not found.ceiling


def test_tie_aware_sensitivity_recovers_what_was_true_value():
    mu, c, calls = 2.0, 1.2, 10_000_000
    hits, alarms = round(norm.sf(c - mu) * calls), round(2 * norm.sf(c) * calls)
    found = sensitivity(hits, calls, named=alarms, equal_calls=calls)
    assert (found.d_prime, found.criterion) == pytest.approx((mu, c), abs=1e-4)


@pytest.mark.parametrize(("correct", "named"), [(100, 31), (0, 31), (94, 0), (94, 120)])
def test_rates_of_0_and_1_are_flagged(correct, named):
    assert sensitivity(correct, 100, named=named, equal_calls=120).ceiling


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="are not consistent with 20 calls"):
        add_one_sensitivity(15, 6, 20)
    with pytest.raises(ValueError, match="needs calls"):
        sensitivity(0, 0, named=0, equal_calls=10)
