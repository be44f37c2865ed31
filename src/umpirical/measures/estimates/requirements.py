"""Weights of requirements, from comparisons of answers that meet different ones."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from umpirical.domain.measures import Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, Tallies
from umpirical.measures.estimates.pairs import NO_VERDICTS, incomplete_pairs, named
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.stats.bradley_terry import Weights, estimate_weights

FAMILY = Family.SUBSET


@dataclass(frozen=True, slots=True)
class Weighed:
    """Weights of the requirements' places in a task's list, and what they come from."""

    places: tuple[int, ...]
    weights: Weights
    tasks: int
    calls: int
    named: float
    """Calls that named a winner."""
    left_out: dict[str, int]


def weigh(tallies: Tallies, arm: str) -> Weighed | Undefined | None:
    """The weights in one arm, or why there are none; None if the design has no such pairs."""
    if not any(tally.arm == arm and tally.family == FAMILY for tally in tallies.pairs):
        return None
    chosen = tuple(t for t in tallies.outcomes if t.arm == arm and t.family == FAMILY)
    missing = incomplete_pairs(tallies, arm, [FAMILY])
    found = _weigh(chosen)
    return Undefined(found, left_out=missing) if isinstance(found, str) else replace(found, left_out=missing)


@lru_cache(maxsize=8)
def _weigh(chosen: tuple[OutcomeTally, ...]) -> Weighed | str:
    """Weights, or why there are none."""
    tasks = sorted({tally.cluster for tally in chosen})
    if len(tasks) < 2:
        return ONE_TASK if tasks else NO_VERDICTS
    places = sorted({place for tally in chosen for place in _places(tally)})
    wins, ties = (np.zeros((len(tasks), len(places), len(places))) for _ in range(2))
    for tally in chosen:
        i, j = (places.index(place) for place in _places(tally))
        task, calls = tasks.index(tally.cluster), named(tally)
        wins[task, i, j] += calls.u
        wins[task, j, i] += calls.v
        ties[task, i, j] += calls.tie
    if wins.sum() == 0:
        return "no call named a winner"
    weights = estimate_weights(wins, ties)
    if (weights.high - weights.low).min() < 1e-6:
        return "every task answered alike, as a judge does that looks at the slot alone: there is no spread to go by"
    return Weighed(tuple(places), weights, len(tasks), round((wins + ties).sum()), float(wins.sum()), {})


def _places(tally: OutcomeTally) -> tuple[int, int]:
    """Reads a stratum: in `2-5`, content u meets the second requirement and not the fifth, and v the fifth only."""
    one, other = tally.stratum.split("-")
    return int(one), int(other)
