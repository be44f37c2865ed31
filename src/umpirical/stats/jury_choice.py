"""The best jury under a budget: chosen on one half of the clusters, and measured on the other.

Among many juries, the one that looks best on some calls owes a part of that to luck with those calls. So nothing that
the choice has seen is used to say how good it is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from umpirical.stats.juries import TIE, JuryRule, Votes, dawid_skene, majority, weighted

Floats = NDArray[np.float64]

LEAST, MOST = 3, 7
"""Judges of a jury. Two are of two minds whenever they differ."""


@dataclass(frozen=True, slots=True)
class Ballots:
    """What judges said in the same calls, and what was right."""

    votes: Votes
    """A row for each call, a column for each judge."""
    truth: Votes
    clusters: NDArray[np.int64]
    """The cluster of each call, numbered from 0."""

    def among(self, clusters: Sequence[int]) -> "Ballots":
        """Returns the calls of some clusters, which keep their numbers."""
        kept = np.isin(self.clusters, clusters)
        return Ballots(self.votes[kept], self.truth[kept], self.clusters[kept])

    def of(self, judges: Sequence[int]) -> Votes:
        return self.votes[:, list(judges)]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A jury, with how well it did on the calls that it was chosen by: an optimistic figure."""

    judges: tuple[int, ...]
    rule: str
    accuracy: float
    cost: float


RULES: Mapping[str, Callable[[Votes, Votes], JuryRule]] = {
    "majority": lambda votes, _: majority(votes.shape[1]),
    "weighted": weighted,
    "dawid-skene": lambda votes, _: dawid_skene(votes),
}

LEARNED = frozenset({"weighted", "dawid-skene"})
"""Rules that depend on the calls that they were learned from."""


def fitted(ballots: Ballots, rule: str) -> JuryRule:
    """Returns a rule for all judges, learned from these calls if it is one to be learned.

    A jury of some of them keeps what was learned of each, so that choosing among thousands takes no thousand fits.
    """
    return RULES[rule](ballots.votes, ballots.truth)


def fair_shares(verdicts: Votes, ballots: Ballots) -> tuple[list[float], list[float]]:
    """Right verdicts and calls by cluster, so that both kinds of call weigh the same: one answer better, or neither.

    What is no verdict is not right. Where everything has one right answer alone, a judge that always gives it would
    look perfect.
    """
    directed = ballots.truth != TIE
    weight = np.where(directed, _weight(directed), _weight(~directed))
    size = int(ballots.clusters.max()) + 1 if len(ballots.clusters) else 0
    right = np.bincount(ballots.clusters, weight * (verdicts == ballots.truth), size)
    total = np.bincount(ballots.clusters, weight, size)
    used = total > 0
    return right[used].tolist(), total[used].tolist()


def best_jury(ballots: Ballots, costs: Sequence[float], *, budget: float, rules: Sequence[str]) -> Candidate | None:
    """Returns the jury that does best on these calls for at most the budget; of equals the cheaper, then the smaller.

    None if no jury is as cheap as that.
    """
    found = list(_candidates(ballots, costs, budget=budget, rules=rules))
    return max(found, key=lambda one: (round(one.accuracy, 12), -one.cost, -len(one.judges)), default=None)


def _candidates(
    ballots: Ballots, costs: Sequence[float], *, budget: float, rules: Sequence[str]
) -> Iterator[Candidate]:
    count = ballots.votes.shape[1]
    learned = {rule: fitted(ballots, rule) for rule in rules}
    for size in range(LEAST, min(MOST, count) + 1):
        for judges in combinations(range(count), size):
            cost = sum(costs[judge] for judge in judges)
            if cost > budget:
                continue
            for rule, how in learned.items():
                verdicts = how.of(judges).verdicts(ballots.of(judges))
                right, total = fair_shares(verdicts, ballots)
                yield Candidate(judges, rule, sum(right) / sum(total), cost)


def _weight(kind: NDArray[np.bool_]) -> float:
    """Returns the weight of a call of a kind, so that those of one kind weigh half of all calls."""
    return len(kind) / (2 * np.count_nonzero(kind)) if kind.any() and not kind.all() else 1.0
