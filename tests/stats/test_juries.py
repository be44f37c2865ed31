"""Verdicts of several judges, held to hand-made values, to another implementation and to true value errors."""

import numpy as np
import pytest

from tests.stats.juries import alike_ballots, phi
from umpirical.stats.juries import (
    NO_VOTE,
    TIE,
    dawid_skene,
    effective_judges,
    error_correlations,
    majority,
    weighted,
)


def votes(*rows) -> np.ndarray:
    return np.array(rows, dtype=np.int64)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ([0, 0, 1], 0),
        ([1, TIE, 1], 1),
        ([0, 1, TIE], TIE),
        ([0, 1, NO_VOTE], TIE),
        ([0, 0, NO_VOTE], 0),
        ([0, NO_VOTE, NO_VOTE], NO_VOTE),
        ([NO_VOTE, NO_VOTE, NO_VOTE], NO_VOTE),
    ],
)
def test_a_majority_of_those_who_vote_decides_and_a_jury_of_two_minds_names_no_winner(given, verdict):
    assert majority(3).verdicts(votes(given)).tolist() == [verdict]


def test_half_of_a_jury_is_no_quorum():
    assert majority(4).verdicts(votes([0, 0, NO_VOTE, NO_VOTE])).tolist() == [NO_VOTE]
    assert majority(4).verdicts(votes([0, 0, 0, NO_VOTE])).tolist() == [0]


def test_a_judge_that_never_answers_changes_no_verdict_of_a_quorum():
    rng = np.random.default_rng(1)
    said = rng.integers(0, 3, (200, 3))
    silent = np.column_stack([said, np.full(200, NO_VOTE)])
    assert (majority(4).verdicts(silent) == majority(3).verdicts(said)).all()


def test_a_vote_weighs_its_log_odds():
    # 7 of 8 right is counted as 8 of 11, 1 of 8 as 2 of 11: the second weighs nothing, and never turns against itself.
    truth = np.zeros(8, dtype=np.int64)
    said = np.array([[0] * 7 + [1], [0] + [1] * 7]).T
    found = weighted(said, truth)
    assert found.support[0, 0, 0] == pytest.approx(np.log(2 * (8 / 11) / (3 / 11)))
    assert not found.support[1].any()


def test_one_good_judge_outweighs_two_that_guess():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 600)
    guesses = rng.integers(0, 3, (600, 2))
    said = np.column_stack([truth, guesses])
    assert (weighted(said, truth).verdicts(said) == truth).all()
    assert (majority(3).verdicts(said) == truth).mean() < 0.9


def plain_dawid_skene(said, rounds=200):
    """The same algorithm in plain loops, as the paper has it, with one imagined vote in every cell."""
    calls, judges = said.shape
    posterior = [[(list(row).count(k) + 1 / 3) / (sum(v >= 0 for v in row) + 1) for k in range(3)] for row in said]
    for _ in range(rounds):
        prior = [(sum(p[k] for p in posterior) + 1) / (calls + 3) for k in range(3)]
        rates = [[[1.0] * 3 for _ in range(3)] for _ in range(judges)]
        for row, p in zip(said, posterior, strict=True):
            for judge, vote in enumerate(row):
                for k in range(3):
                    if vote >= 0:
                        rates[judge][k][vote] += p[k]
        rates = [[[cell / sum(line) for cell in line] for line in table] for table in rates]
        posterior = []
        for row in said:
            chances = [prior[k] * np.prod([rates[j][k][v] for j, v in enumerate(row) if v >= 0]) for k in range(3)]
            posterior.append([chance / sum(chances) for chance in chances])
    return np.array(rates), np.array(prior)


def test_dawid_and_skene_agrees_with_plain_loops():
    rng = np.random.default_rng(3)
    found = alike_ballots(rng, judges=4, calls=150, accuracy=np.array([0.9, 0.7, 0.6, 0.8]))
    said = np.where(rng.random(found.votes.shape) < 0.1, NO_VOTE, found.votes)
    rates, prior = plain_dawid_skene(said)
    rule = dawid_skene(said)
    assert np.exp(rule.support).transpose(0, 2, 1) == pytest.approx(rates, abs=2e-3)
    assert np.exp(rule.start) == pytest.approx(prior, abs=2e-3)


def test_dawid_and_skene_recovers_planted_rates_without_any_label():
    rng = np.random.default_rng(4)
    true_value = np.array(
        [
            [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]],
            [[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.1, 0.1, 0.8]],
            [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.05, 0.05, 0.9]],
            [[0.6, 0.1, 0.3], [0.1, 0.7, 0.2], [0.1, 0.2, 0.7]],
        ]
    )
    truth = rng.choice(3, 4000, p=[0.25, 0.25, 0.5])
    said = np.array([[rng.choice(3, p=true_value[judge, true]) for judge in range(4)] for true in truth])
    rule = dawid_skene(said)
    assert np.exp(rule.support).transpose(0, 2, 1) == pytest.approx(true_value, abs=0.05)
    assert np.exp(rule.start) == pytest.approx([0.25, 0.25, 0.5], abs=0.04)
    better = (rule.verdicts(said) == truth).mean()
    assert better >= (majority(4).verdicts(said) == truth).mean()


# Accuracy of a majority of judges that are right in 85 %, by the correlation of what makes them err.
PLANTED = {0.0: (0.939, 0.995), 0.3: (0.906, 0.946), 0.6: (0.880, 0.898), 0.8: (0.865, 0.872)}


@pytest.mark.parametrize("correlation", PLANTED)
def test_a_majority_is_right_as_often_as_shared_errors_allow(correlation):
    """Two answers, as the figures are about: a wrong vote is always the same one."""
    rng = np.random.default_rng(5)
    for judges, expected in zip((3, 9), PLANTED[correlation], strict=True):
        found = alike_ballots(rng, judges=judges, calls=200_000, correlation=correlation)
        wrong = found.votes != found.truth[:, None]
        said = wrong.astype(np.int64)
        right = (majority(judges).verdicts(said) == 0).mean()
        assert right == pytest.approx(expected, abs=0.004)


@pytest.mark.parametrize("correlation", PLANTED)
def test_the_effective_number_of_judges_is_that_of_the_planted_correlation(correlation):
    rng = np.random.default_rng(6)
    found = alike_ballots(rng, judges=9, calls=60_000, correlation=correlation)
    pairs = error_correlations(found.votes, found.truth)[np.triu_indices(9, 1)]
    true_value = phi(0.15, correlation)
    assert pairs.mean() == pytest.approx(true_value, abs=0.01)
    assert effective_judges(9, float(pairs.mean())) == pytest.approx(9 / (1 + 8 * true_value), rel=0.05)


def test_nine_judges_whose_errors_correlate_by_half_are_worth_less_than_two():
    assert effective_judges(9, 0.5) == pytest.approx(1.8)
    assert effective_judges(9, 0.0) == 9
    assert effective_judges(9, -0.1) == 9
    assert effective_judges(9, 1.0) == 1


def test_a_judge_that_never_errs_has_no_correlation_and_calls_without_a_vote_have_no_part_in_one():
    truth = np.array([0, 0, 1, 1])
    said = votes([0, 1, 1], [0, 0, 0], [1, 0, NO_VOTE], [1, 1, 1])
    found = error_correlations(said, truth)
    assert np.isnan(found[0]).all()
    # Judges 2 and 3 share calls 1, 2 and 4: wrong (1,0,0) and (1,0,0).
    assert found[1, 2] == pytest.approx(1.0)
