"""Several judges' votes made into one verdict, and how much their errors have in common.

Votes are a matrix of whole numbers with a row for each call and a column for each judge: a class from 0 to
`CLASSES` - 1, or `NO_VOTE`. A call that a judge gave no verdict on is no vote, and never one for a tie.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

CLASSES = 3
"""Slot 1, position 2, tie."""

TIE = 2
"""Also what a jury says that is of two minds: it names no winner."""

NO_VOTE = -1

ROUNDS = 500
"""Most steps of expectation and maximisation; a few dozen are the rule."""

SETTLED = 1e-9
"""The largest change of a posterior at which these stop."""

Votes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JuryRule:
    """How votes become a verdict: the class that the votes support most."""

    support: Floats
    """What each vote of each judge adds to each class: judge x vote x class."""
    start: Floats
    """What each class has before anybody has voted."""

    def of(self, judges: Sequence[int]) -> "JuryRule":
        """Returns the rule for some of the judges, whose votes count as before."""
        return JuryRule(self.support[list(judges)], self.start)

    def verdicts(self, votes: Votes) -> Votes:
        """Returns the class that leads in each call, a tie if two lead; none unless over half of the judges voted."""
        given = votes != NO_VOTE
        scores = np.tile(self.start, (len(votes), 1))
        for judge, column in enumerate(votes.T):
            scores += np.where(given[:, judge, None], self.support[judge, column], 0.0)
        best = scores.max(axis=1, keepdims=True)
        leading = scores >= best - 1e-9
        found = np.where(leading.sum(axis=1) > 1, TIE, scores.argmax(axis=1))
        return np.where(2 * given.sum(axis=1) > votes.shape[1], found, NO_VOTE)


def majority(judges: int) -> JuryRule:
    """Every judge has one vote."""
    return JuryRule(np.tile(np.eye(CLASSES), (judges, 1, 1)), np.zeros(CLASSES))


def weighted(votes: Votes, truth: Votes) -> JuryRule:
    """A vote weighs the log-odds of being right, as measured on calls whose right answer is known.

    That is the best rule if judges err independently and in every direction alike. A judge no better than chance has
    no weight: none has a negative one, since what is wrong today need not be wrong tomorrow.

    Reference: S. Nitzan and J. Paroush, Optimal decision rules in uncertain dichotomous choice situations,
    International Economic Review 23 (1982); for more than two classes, log((K-1)p/(1-p)).
    """
    given = votes != NO_VOTE
    right = ((votes == truth[:, None]) & given).sum(axis=0)
    share = (right + 1) / (given.sum(axis=0) + CLASSES)
    weight = np.maximum(0.0, np.log((CLASSES - 1) * share / (1 - share)))
    return JuryRule(weight[:, None, None] * np.eye(CLASSES), np.zeros(CLASSES))


def dawid_skene(votes: Votes) -> JuryRule:
    """Each judge's rates of saying one class where another is right, learned from agreement alone, without any labels.

    Expectation and maximisation from the majority's shares, with one imagined vote in every cell, so that what was
    never seen is not impossible.

    Reference: A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM
    algorithm, Journal of the Royal Statistical Society C 28 (1979).
    """
    cast = np.stack([votes == label for label in range(CLASSES)], axis=2).astype(float)
    posterior = (cast.sum(axis=1) + 1 / CLASSES) / (cast.sum(axis=(1, 2)) + 1)[:, None]
    rule = _learned(cast, posterior)
    for _ in range(ROUNDS):
        later = _posterior(rule, cast)
        moved = float(np.abs(later - posterior).max())
        rule, posterior = _learned(cast, later), later
        if moved < SETTLED:
            break
    return rule


def _learned(cast: Floats, posterior: Floats) -> JuryRule:
    """Returns the rule whose rates are those of the votes, if the classes have these probabilities."""
    rates = np.einsum("nk,njl->jlk", posterior, cast) + 1
    prior = posterior.sum(axis=0) + 1
    return JuryRule(np.log(rates / rates.sum(axis=1, keepdims=True)), np.log(prior / prior.sum()))


def _posterior(rule: JuryRule, cast: Floats) -> Floats:
    logs = rule.start + np.einsum("njl,jlk->nk", cast, rule.support)
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: Floats = odds / odds.sum(axis=1, keepdims=True)
    return found


def error_correlations(votes: Votes, truth: Votes) -> Floats:
    """Correlation of the errors of every two judges, on the calls that both voted on; NaN if one of them never errs."""
    judges = votes.shape[1]
    given, wrong = votes != NO_VOTE, votes != truth[:, None]
    found = np.full((judges, judges), np.nan)
    for one in range(judges):
        for other in range(one + 1, judges):
            both = given[:, one] & given[:, other]
            found[one, other] = found[other, one] = _correlation(wrong[both, one], wrong[both, other])
    return found


def effective_judges(judges: int, correlation: float) -> float:
    """How many judges with independent errors would be worth as much: J / (1 + (J - 1) r); no more than there are."""
    return judges / (1 + (judges - 1) * max(0.0, correlation))


def _correlation(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    if not len(one) or one.all() or other.all() or not one.any() or not other.any():
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])


# The best jury under a budget: chosen on one half of the clusters, and measured on the other. Among many juries, the
# one that looks best on some calls owes a part of that to luck with those calls. So nothing that the choice has seen is
# used to say how good it is.

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
