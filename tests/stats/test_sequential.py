"""Tests that hold at every look: by hand, against scipy's beta-binomial, and in simulated judges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from umpirical.stats.sequential import CORRELATION, FAR, NEAR, anytime_bound, by_family, log_evidence, settling_factor

counts = st.lists(
    st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=20
)


def split(pairs):
    return [y for y, _ in pairs], [n for _, n in pairs]


def test_one_right_answer_by_hand():
    """One unit that is no hit is (1 - rate) / (1 - threshold) times as likely at a rate as at the threshold."""
    rates = {0.001: 0.5, 0.005: 0.2, 0.0125: 0.2, 0.025: 0.1}
    expected = sum(weight * (1 - rate) for rate, weight in rates.items()) / 0.95
    assert np.exp(log_evidence([0], [1], 0.05, "below")) == pytest.approx(expected)
    # And one that is a hit speaks for a rate above: (1 - 0.95 share) / 0.05.
    expected = sum(weight * (1 - 0.95 * share) for share, weight in FAR.items()) / 0.05
    assert np.exp(log_evidence([1], [1], 0.05, "above")) == pytest.approx(expected)


@given(counts, st.sampled_from([0.05, 0.1, 0.25]), st.floats(0.01, 0.5))
def test_it_is_a_ratio_of_beta_binomials(pairs, threshold, correlation):
    y, n = split(pairs)
    weight = 1 / correlation - 1

    def likelihood(rate):
        return sum(betabinom.logpmf(y, n, rate * weight, (1 - rate) * weight))

    ratios = [np.log(w) + likelihood(threshold * share) - likelihood(threshold) for share, w in NEAR.items()]
    found = log_evidence(y, n, threshold, "below", correlation=correlation)
    assert found == pytest.approx(np.logaddexp.reduce(ratios), rel=1e-6, abs=1e-6)


@given(counts, st.sampled_from([0.05, 0.5, 0.9]))
def test_both_sides_are_mirror_images(pairs, threshold):
    y, n = split(pairs)
    misses = [units - hits for hits, units in pairs]
    if threshold != 0.5:
        assert log_evidence(y, n, threshold, "below") == pytest.approx(log_evidence(misses, n, 1 - threshold, "above"))
    assert anytime_bound(y, n, "low", 0.05) == pytest.approx(1 - anytime_bound(misses, n, "high", 0.05), abs=1e-4)


@given(counts)
def test_one_more_error_never_gives_a_better_bound(pairs):
    y, n = split(pairs)
    before = anytime_bound(y, n, "high", 0.05)
    worse = [hits + (place == y.index(min(y))) for place, hits in enumerate(y)]
    if all(hits <= units for hits, units in zip(worse, n, strict=True)):
        assert anytime_bound(worse, n, "high", 0.05) >= before - 1e-5
    assert anytime_bound([*y, 1], [*n, 1], "high", 0.05) >= before - 1e-5


@given(st.integers(1, 40), st.integers(0, 1))
def test_the_forecast_is_where_the_evidence_is_enough(families, hits):
    y, n = [hits] + [0] * (families - 1), [4] * families
    factor = settling_factor(y, n, 0.2, "below", 0.05)
    if factor is None:
        assert log_evidence(y * 64, n * 64, 0.2, "below") < -np.log(0.05)
        return
    assert log_evidence(y * int(np.ceil(factor)), n * int(np.ceil(factor)), 0.2, "below") >= -np.log(0.05)
    if fewer := int(factor * 0.99):
        assert log_evidence(y * fewer, n * fewer, 0.2, "below") < -np.log(0.05)


def test_without_an_assumption_a_judge_without_errors_needs_62_families_to_show_5_percent():
    # 0.9 (1 + 0.98 · 0.05 / 0.95)^n + 0.1 (1 + 0.4 · 0.05 / 0.95)^n reaches 20 at n = 62.
    assert by_family([0.0] * 61, 0.05, "below") < np.log(20) <= by_family([0.0] * 62, 0.05, "below")
    assert by_family([1.0] * 3, 0.05, "above") >= np.log(20)


def share_that_pass(rate, correlation, *, runs, threshold, side="below", alpha=0.05, families=48, rounds=7):
    """How many runs ever show that the rate is on this side; every family in turn, in rounds that double."""
    rng = np.random.default_rng([int(1000 * rate), int(100 * correlation)])
    weight = 1 / correlation - 1 if correlation else 0
    own = rng.beta(rate * weight, (1 - rate) * weight, (runs, families)) if weight else np.full((runs, families), rate)
    y, n, passed, first = np.zeros((runs, families)), np.zeros(families), np.zeros(runs, bool), 0
    for turn in range(rounds):
        size = 4 * 2**turn
        added = np.bincount((first + np.arange(size)) % families, minlength=families)
        first, n = first + size, n + added
        y += rng.binomial(added.astype(int), own)
        passed |= log_evidence(y, n, threshold, side) >= -np.log(alpha)
    return passed.mean()


@pytest.mark.parametrize("threshold", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("correlation", [0.0, 0.05, 0.1])
def test_a_rate_at_the_threshold_is_rarely_shown_to_be_below_or_above(threshold, correlation):
    """At any of the looks together. Two standard errors of 1,000 runs are 1.4 points."""
    for side in ("below", "above"):
        assert share_that_pass(threshold, correlation, runs=1000, threshold=threshold, side=side) <= 0.064


def test_what_the_assumed_correlation_costs_if_it_is_higher():
    """With .3 within families instead of the .1 assumed, a rate of 5% passes as lower in about one run in fifteen."""
    assert CORRELATION == 0.1
    assert 0.03 < share_that_pass(0.05, 0.3, runs=1000, threshold=0.05) < 0.12


def test_a_good_judge_passes_and_a_bad_one_is_refused():
    assert share_that_pass(0.0, 0.0, runs=20, threshold=0.05) == 1
    assert share_that_pass(0.01, 0.05, runs=200, threshold=0.05) > 0.8
    assert share_that_pass(0.3, 0.05, runs=200, threshold=0.05, side="above", alpha=0.004) == 1


@pytest.mark.parametrize(("rate", "correlation"), [(0.02, 0.05), (0.1, 0.1), (0.3, 0.0)])
def test_the_interval_covers_at_whatever_look_it_is_read(rate, correlation):
    """Read where it is worst: at every look of a run, all of which have to hold the true rate."""
    rng, held, runs, weight = np.random.default_rng(11), 0, 150, 1 / correlation - 1 if correlation else 0
    for _ in range(runs):
        own = rng.beta(rate * weight, (1 - rate) * weight, 48) if weight else np.full(48, rate)
        y, n, right = np.zeros(48), np.zeros(48), True
        for size in (24, 24, 48, 96):
            added = np.bincount(np.arange(n.sum(), n.sum() + size).astype(int) % 48, minlength=48)
            y, n = y + rng.binomial(added, own), n + added
            low, high = (anytime_bound(y[n > 0], n[n > 0], side, 0.025) for side in ("low", "high"))
            right &= low <= rate <= high
        held += right
    assert held / runs >= 0.93
