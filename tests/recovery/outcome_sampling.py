"""Whole runs of a latent judge with every family of pairs, repeats and variants, as pair tallies and outcome
tallies."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from umpirical.domain.tallies import CallTally, OutcomeTally, PairTally, Tallies
from umpirical.stats.simulation.judge import LatentJudge


@dataclass(frozen=True)
class Kind:
    """Pairs of one kind, of which each task has `pairs`."""

    family: str
    stratum: str
    delta: float
    """Quality of u over v."""
    log_length: float
    pairs: int


LENGTHS = {"+25%": 0.22, "+50%": 0.41, "+100%": 0.69}

DESIGN = (
    Kind("equal", "list", 0.0, 0.0, 3),
    Kind("equal", "register", 0.0, 0.0, 3),
    *(Kind("graded", "", step, 0.0, 2) for step in (0.5, 1.0, 2.0, 5.0)),
    Kind("graded", "", -1.0, 0.0, 2),
    *(Kind("length", amount, 0.0, ratio, 2) for amount, ratio in LENGTHS.items()),
    *(Kind("conflict", amount, 1.0, -LENGTHS[amount], 2) for amount in ("+50%", "+100%")),
    Kind("equal-subset", "1-2", 0.0, 0.0, 1),
    Kind("equal-subset", "1-3", 0.0, 0.0, 1),
    Kind("equal-subset", "2-3", 0.0, 0.0, 1),
)


def sample_run(
    judge: LatentJudge, rng, *, tasks: int, design=DESIGN, repeats: int = 1, variants=None, spread: float = 0.0
) -> Tallies:
    """One run. `variants` maps further variants to their judges, who see the same pairs and share the taste for them.

    `spread` is the standard deviation of the criterion between tasks.
    """
    kinds = [(task, kind) for task in range(tasks) for kind in design for _ in range(kind.pairs)]
    delta = np.array([kind.delta for _, kind in kinds])
    length = np.array([kind.log_length for _, kind in kinds])
    taste = rng.standard_normal(len(kinds))
    shift = spread * rng.standard_normal(tasks)[[task for task, _ in kinds]]
    pairs, outcomes, calls = [], [], []
    for variant, sees in {"baseline": judge, **(variants or {})}.items():
        evidence = sees.resolution * delta + sees.length_weight * length + sees.surface * taste
        criterion = np.maximum(0.0, sees.criterion + shift)
        answers = np.stack([_decide(sees, sign * evidence, criterion, repeats, rng) for sign in (1, -1)], axis=1)
        alike = Counter((task, kind, tuple(row)) for (task, kind), row in zip(kinds, _counts(answers), strict=True))
        outcomes += [
            OutcomeTally(
                f"t{task}", variant, kind.family, kind.stratum, kind.delta, 0.0, kind.log_length, counts, count
            )
            for (task, kind, counts), count in alike.items()
        ]
        pairs += _pair_tallies(variant, kinds, answers)
        calls += [
            CallTally(
                f"t{task}",
                variant,
                "graded",
                "",
                1.0,
                20,
                tie=19,
                unparsed=1,
                reasoned=19,
                stated=12,
                contradicted=task % 4,
            )
            for task in range(tasks)
        ]
    return Tallies(pairs=tuple(pairs), calls=tuple(calls), outcomes=tuple(outcomes))


def _decide(judge, evidence, criterion, repeats, rng):
    """Slot answers, +1 and -1, or 0 for a tie: one row per pair, one column per repeat."""
    shape = (len(evidence), repeats)
    x = evidence[:, None] + judge.slot_bias + rng.standard_normal(shape)
    choice = np.where(x > criterion[:, None], 1, np.where(x < -criterion[:, None], -1, 0))
    return np.where(rng.random(shape) < judge.lapse, rng.integers(-1, 2, shape), choice)


def _counts(answers):
    """Slot 1, position 2 and tie in the one order, then in the other, of each pair."""
    return np.stack([answers == answer for answer in (1, -1, 0)], axis=2).sum(axis=3).reshape(-1, 6).tolist()


def _pair_tallies(variant, kinds, answers):
    """A pair counts once, with the mean over its repeats, as the store counts it."""
    keys = [(task, kind.family, abs(kind.delta), kind.stratum) for task, kind in kinds]
    cells = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    place = np.array([cells[key] for key in keys])
    columns = _columns(np.sign([kind.delta for _, kind in kinds])[:, None], answers[:, 0], answers[:, 1])
    sums = {
        name: np.bincount(place, weights=column.mean(axis=1), minlength=len(cells)).tolist()
        for name, column in columns.items()
    }
    sums["pairs"] = [round(count) for count in sums["pairs"]]
    return [
        PairTally(f"t{task}", variant, family, delta, stratum=stratum, **{name: sums[name][row] for name in sums})
        for (task, family, delta, stratum), row in cells.items()
    ]


def _columns(better, one, two):
    """What each pair and repeat adds to a tally. As content, +1 is u, which sits in position 1 of the first order."""
    commits = (one != 0).astype(int) + (two != 0)
    sided, first, second = commits == 1, one, -two
    return {
        "pairs": np.ones_like(one),
        "stable": (commits == 2) & (first == second),
        "positional": (commits == 2) & (one == two),
        "one_sided": sided,
        "no_preference": commits == 0,
        "one_sided_position_1": sided & (one + two == 1),
        "one_sided_a": sided & (first + second == 1),
        "one_sided_a_position_1": sided & (one == 1),
        "correct_calls": (better != 0) * ((first == better).astype(int) + (second == better)),
        "wrong_calls": (better != 0) * ((first == -better).astype(int) + (second == -better)),
        "tie_calls": 2 - commits,
        "position_1_calls": (one == 1).astype(int) + (two == 1),
        "position_2_calls": (one == -1).astype(int) + (two == -1),
        "both_correct": (better != 0) & (first == better) & (second == better),
    }
