"""Whole runs of a latent judge, drawn as arrays: the same rule as the simulated judges, thousands of runs a minute."""

import numpy as np

from umpirical.domain.tallies import CallTally, PairTally, Tallies, VacuumTally
from umpirical.stats.simulation.judge import LatentJudge

STEPS = (1.0, 2.0, 3.0, 4.0, 5.0)


def sample_choices(judge: LatentJudge, delta, rng, *, resolution=None, criterion=None):
    """+1 for position 1, -1 for position 2, 0 for tie, in both orders of pairs whose content u is better by `delta`."""
    k = judge.resolution if resolution is None else resolution
    c = judge.criterion if criterion is None else criterion
    signal = k * delta + judge.surface * rng.standard_normal(np.shape(delta))
    return tuple(_decide(judge, sign * signal, c, rng) for sign in (1, -1))


def _decide(judge, signal, criterion, rng):
    x = signal + judge.slot_bias + rng.standard_normal(np.shape(signal))
    choice = np.where(x > criterion, 1, np.where(x < -criterion, -1, 0))
    lapsed = rng.random(np.shape(signal)) < judge.lapse
    return np.where(lapsed, rng.integers(-1, 2, np.shape(signal)), choice)


def sample_tallies(judge: LatentJudge, rng, *, tasks: int, spread: float = 0.0, unparsed: float = 0.0) -> Tallies:
    """One run: per task 6 vacuum prompts, 6 equal pairs, and 5, 4, 3, 2, 1 pairs on the ladder.

    `spread` is the standard deviation of the criterion between tasks, which correlates the pairs of one task.
    """
    pairs, vacuum, calls = [], [], []
    for number in range(tasks):
        name, shift = f"t{number}", spread * rng.standard_normal()
        dark = _decide(judge, np.zeros(6), max(0.0, judge.vacuum_criterion + shift), rng)
        vacuum.append(VacuumTally(name, "baseline", "identical", 6, float(np.count_nonzero(dark)), 0))
        for step in (0.0, *STEPS):
            count = 6 if step == 0 else 6 - int(step)
            one, two = sample_choices(judge, np.full(count, step), rng, criterion=max(0.0, judge.criterion + shift))
            pairs.append(pair_tally(name, step, one, two))
        missing = rng.binomial(20, unparsed)
        calls.append(CallTally(name, "baseline", "graded", "", 1.0, 20, tie=20 - missing, unparsed=missing))
    return Tallies(tuple(vacuum), tuple(pairs), tuple(calls))


def pair_tally(task: str, step: float, one, two) -> PairTally:
    commits = (one != 0).astype(int) + (two != 0)
    return PairTally(
        task,
        "baseline",
        "graded" if step else "equal",
        step,
        len(one),
        stable=int(np.sum((commits == 2) & (one == -two))),
        positional=int(np.sum((commits == 2) & (one == two))),
        one_sided=int(np.sum(commits == 1)),
        no_preference=int(np.sum(commits == 0)),
        correct_calls=int(np.sum(one == 1) + np.sum(two == -1)) if step else 0,
        wrong_calls=int(np.sum(one == -1) + np.sum(two == 1)) if step else 0,
        tie_calls=int(np.sum(2 - commits)),
    )
