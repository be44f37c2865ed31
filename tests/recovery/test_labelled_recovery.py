"""TrueValues accuracy, position bias and edits are recovered from labelled pairs, with intervals that cover.

Prompts are easy or hard, and all pairs of a prompt are alike: an interval that takes pairs for independent is narrow.
"""

import numpy as np
import pytest
from scipy.stats import binom, norm

from umpirical.domain.tallies import ChangeTally, EditTally, PairTally, Tallies
from umpirical.measures.catalogue import measure_all
from umpirical.stats.intervals import wilson

EASE = np.array([0.2, 1.0, 2.5])
"""How much better the chosen answer looks, for prompts of three kinds, equally many of each."""

BIAS, CRITERION = 0.4, 0.3

SWAYED = np.array([0.3, 0.1, 0.02])
"""How often an edit of the rejected answer makes it win, by kind of prompt."""

PROMPTS, MOST = 90, 4

FIRST, SECOND = norm.cdf(EASE + BIAS - CRITERION), norm.cdf(EASE - BIAS - CRITERION)
"""How often the chosen answer is named, where it is first and where it is second."""

TO_FIRST, TO_SECOND = norm.cdf(-EASE + BIAS - CRITERION), norm.cdf(-EASE - BIAS - CRITERION)
"""The same for the rejected answer."""

PLANTED = {
    ("both-orders-accuracy", ""): (FIRST * SECOND).mean(),
    ("both-orders-error", ""): (TO_FIRST * TO_SECOND).mean(),
    ("same-slot-rate", ""): (FIRST * TO_FIRST + TO_SECOND * SECOND).mean(),
    ("single-order-accuracy", ""): (FIRST + SECOND).mean() / 2,
    ("chosen-first-accuracy", ""): FIRST.mean(),
    ("chosen-second-accuracy", ""): SECOND.mean(),
    ("named-slot-1-rate", ""): (FIRST + TO_FIRST).mean() / 2,
    ("length-gap", ""): 0.0,
    ("edit-overturn", "side=rejected"): SWAYED.mean(),
    ("change-rate", "side=rejected"): SWAYED.mean(),
}


def sampled(rng):
    """One run: prompts with one to four pairs each, half of which have the longer answer chosen."""
    pairs, changes, edits = [], [], []
    for number in range(PROMPTS):
        kind, count = rng.integers(3), int(rng.integers(1, MOST + 1))
        signal, longer = EASE[kind], rng.random(count) < 0.5
        one, two = (_named(sign * signal, count, rng) for sign in (1, -1))
        swayed = float((rng.random(count) < SWAYED[kind]).sum())
        for group, among in (("", longer | True), ("longer=chosen", longer), ("longer=rejected", ~longer)):
            if among.any():
                pairs.append(_tally(str(number), group, one[among], two[among]))
        edits.append(EditTally(str(number), "baseline", "", "side=rejected", count, swayed, 0.0, swayed))
        changes.append(ChangeTally(str(number), "baseline", "", "side=rejected", "same-verdict", count, changed=swayed))
    return Tallies(pairs=tuple(pairs), changes=tuple(changes), edits=tuple(edits))


def _named(signal, count, rng):
    """1 for position 1, 2 for position 2, 0 for a tie."""
    x = signal + BIAS + rng.standard_normal(count)
    return np.where(x > CRITERION, 1, np.where(x < -CRITERION, 2, 0))


def _tally(cluster, group, one, two):
    """The chosen answer is in position 1 of the first order, and in position 2 of the other."""
    commits = (one > 0).astype(int) + (two > 0)
    both = commits == 2
    counts = {
        "stable": both & (one != two),
        "positional": both & (one == two),
        "one_sided": commits == 1,
        "no_preference": commits == 0,
        "both_correct": (one == 1) & (two == 2),
        "correct_calls": (one == 1).astype(int) + (two == 2),
        "wrong_calls": (one == 2).astype(int) + (two == 1),
        "tie_calls": (one == 0).astype(int) + (two == 0),
        "position_1_calls": (one == 1).astype(int) + (two == 1),
        "position_2_calls": (one == 2).astype(int) + (two == 2),
        "position_1_correct_calls": one == 1,
    }
    sums = {name: int(count.sum()) for name, count in counts.items()}
    return PairTally(cluster, "baseline", "natural", 0.0, len(one), stratum=group, **sums)


@pytest.mark.parametrize("runs", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_planted_values_are_recovered_and_covered(runs):
    rng = np.random.default_rng(7)
    covered, values, naive = dict.fromkeys(PLANTED, 0), {key: [] for key in PLANTED}, 0
    names = {name for name, _ in PLANTED}
    for _ in range(runs):
        tallies = sampled(rng)
        for _, found in measure_all(tallies, kind="compare", protocol="pairs", only=names):
            key = (found.name, found.group)
            if key in PLANTED:
                low, high = found.result.interval.low, found.result.interval.high
                covered[key] += low <= PLANTED[key] <= high
                values[key].append(found.result.value)
                if key == ("both-orders-accuracy", ""):
                    alone = wilson(found.result.numerator, found.result.denominator)
                    naive += alone[0] <= PLANTED[key] <= alone[1]
    # So few would cover with a chance of one in ten thousand, if 0.93 of all did.
    least = binom.ppf(1e-4, runs, 0.93)
    print({key: (round(np.mean(values[key]) - PLANTED[key], 4), count / runs) for key, count in covered.items()})  # noqa: T201
    print("pairs taken for independent:", naive / runs)  # noqa: T201
    assert {key: count for key, count in covered.items() if count < least} == {}
    for key, found in values.items():
        assert np.mean(found) == pytest.approx(PLANTED[key], abs=4 * np.std(found) / np.sqrt(runs) + 1e-3), key
    if runs > 1000:
        assert naive / runs < 0.9
