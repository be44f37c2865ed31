"""Several judges' votes made into one verdict, and how much their errors have in common.

Votes are a matrix with a row for each call and a column for each judge: a class, counted from 0, or on a scale of
numbers the distance from its low end, or `NO_VOTE`. A call that a judge gave no verdict on is no vote, and never one
for a tie.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

TIE = 2
"""Of two candidates, also what a jury says that is of two minds: it names no winner."""

NO_VOTE = -1
"""Also what is right where nobody knows."""

ROUNDS = 500
"""Most steps of expectation and maximisation; a few dozen are the rule."""

SETTLED = 1e-9
"""The largest change of a posterior at which these stop."""

RuleName = Literal["majority", "weighted", "dawid-skene", "median", "mean"]

Votes = NDArray[np.float64] | NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VoteScale:
    """What is voted on."""

    classes: int
    """How many classes there are; 0 on a scale of numbers."""
    tie: int = NO_VOTE
    """What equal support comes to: the class of a tie, or no verdict where there is none."""
    span: float = 0.0
    """The distance between the ends; 0 on a scale without order."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that make sense here, the usual one first."""
        if not self.classes:
            return ("mean",)
        voting = ("majority", "weighted", "dawid-skene")
        return ("median", *voting) if self.span else voting

    def credit(self, verdicts: Votes, truth: Votes) -> Floats:
        """Returns how right verdicts are, from 0 to 1: less by their distance on a scale with order; 0 without one."""
        near = 1 - np.abs(verdicts - truth) / self.span if self.span else (verdicts == truth).astype(float)
        return np.where(verdicts == NO_VOTE, 0.0, near)

    def errors(self, votes: Votes, truth: Votes) -> Floats:
        """Returns how far off votes are, with the direction on a scale with order."""
        return (votes - truth if self.span else votes != truth).astype(float)


TWO_CANDIDATES = VoteScale(3, tie=TIE)
"""Position 1, position 2, tie."""


def quorum(votes: Votes) -> NDArray[np.bool_]:
    """Whether over half of the judges voted, by call."""
    found: NDArray[np.bool_] = 2 * (votes != NO_VOTE).sum(axis=1) > votes.shape[1]
    return found


class JuryRule(Protocol):
    """How votes become a verdict."""

    @property
    def learned(self) -> list[list[float]]:
        """What decides its verdicts besides its name."""
        ...

    def of(self, judges: Sequence[int]) -> "JuryRule":
        """Returns the rule for some of the judges, whose votes count as before."""
        ...

    def verdicts(self, votes: Votes) -> Votes:
        """Returns the verdict on each call; none unless over half of the judges voted."""
        ...


@dataclass(frozen=True, slots=True)
class Support:
    """The class that the votes support most."""

    support: Floats
    """What each vote of each judge adds to each class: judge x vote x class."""
    start: Floats
    """What each class has before anybody has voted."""
    tie: int = TIE

    @property
    def learned(self) -> list[list[float]]:
        return [np.round(part, 9).tolist() for part in (self.support, self.start)]

    def of(self, judges: Sequence[int]) -> "Support":
        return Support(self.support[list(judges)], self.start, self.tie)

    def verdicts(self, votes: Votes) -> Votes:
        """Returns the class that leads in each call; if two lead, a tie, or no verdict where there is none."""
        scores = np.tile(self.start, (len(votes), 1))
        for judge, column in enumerate(votes.T.astype(np.int64)):
            scores += np.where((column != NO_VOTE)[:, None], self.support[judge, column], 0.0)
        best = scores.max(axis=1, keepdims=True)
        leading = scores >= best - 1e-9
        found = np.where(leading.sum(axis=1) > 1, self.tie, scores.argmax(axis=1))
        return np.where(quorum(votes), found, NO_VOTE)


@dataclass(frozen=True, slots=True)
class Middle:
    """The middle of the grades: their mean, or the highest grade that more than half of the votes reach.

    The latter is the median. Between two middle grades it is the lower one, since a scale of labels has none between.
    """

    mean: bool

    @property
    def learned(self) -> list[list[float]]:
        return []

    def of(self, judges: Sequence[int]) -> "Middle":  # noqa: ARG002  # every judge counts alike
        return self

    def verdicts(self, votes: Votes) -> Votes:
        given = votes != NO_VOTE
        count = given.sum(axis=1)
        if self.mean:
            found = np.where(given, votes, 0.0).sum(axis=1) / np.maximum(count, 1)
        else:
            ordered = np.sort(np.where(given, votes, np.inf), axis=1)
            found = ordered[np.arange(len(votes)), np.maximum(count - 1, 0) // 2]
        return np.where(quorum(votes), found, NO_VOTE)


def majority(judges: int, scale: VoteScale = TWO_CANDIDATES) -> Support:
    """Every judge has one vote."""
    return Support(np.tile(np.eye(scale.classes), (judges, 1, 1)), np.zeros(scale.classes), scale.tie)


def weighted(votes: Votes, truth: Votes, scale: VoteScale = TWO_CANDIDATES) -> Support:
    """A vote weighs the log-odds of being right, as measured on calls whose right answer is known.

    That is the best rule if judges err independently and in every direction alike. A judge no better than chance has
    no weight: none has a negative one, since what is wrong today need not be wrong tomorrow.

    Reference: S. Nitzan and J. Paroush, Optimal decision rules in uncertain dichotomous choice situations,
    International Economic Review 23 (1982); for more than two classes, log((K-1)p/(1-p)).
    """
    given, classes = votes != NO_VOTE, scale.classes
    right = ((votes == truth[:, None]) & given).sum(axis=0)
    share = (right + 1) / (given.sum(axis=0) + classes)
    weight = np.maximum(0.0, np.log((classes - 1) * share / (1 - share)))
    return Support(weight[:, None, None] * np.eye(classes), np.zeros(classes), scale.tie)


def dawid_skene(votes: Votes, scale: VoteScale = TWO_CANDIDATES) -> Support:
    """Each judge's rates of saying one class where another is right, learned from agreement alone, without any labels.

    Expectation and maximisation from the majority's shares, with one imagined vote in every cell, so that what was
    never seen is not impossible.

    Reference: A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM
    algorithm, Journal of the Royal Statistical Society C 28 (1979).
    """
    cast = np.stack([votes == label for label in range(scale.classes)], axis=2).astype(float)
    posterior = (cast.sum(axis=1) + 1 / scale.classes) / (cast.sum(axis=(1, 2)) + 1)[:, None]
    rule = _learned(cast, posterior, scale)
    for _ in range(ROUNDS):
        later = _posterior(rule, cast)
        moved = float(np.abs(later - posterior).max())
        rule, posterior = _learned(cast, later, scale), later
        if moved < SETTLED:
            break
    return rule


def _learned(cast: Floats, posterior: Floats, scale: VoteScale) -> Support:
    """Returns the rule whose rates are those of the votes, if the classes have these probabilities."""
    rates = np.einsum("nk,njl->jlk", posterior, cast) + 1
    prior = posterior.sum(axis=0) + 1
    return Support(np.log(rates / rates.sum(axis=1, keepdims=True)), np.log(prior / prior.sum()), scale.tie)


def _posterior(rule: Support, cast: Floats) -> Floats:
    logs = rule.start + np.einsum("njl,jlk->nk", cast, rule.support)
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: Floats = odds / odds.sum(axis=1, keepdims=True)
    return found


def error_correlations(votes: Votes, truth: Votes, scale: VoteScale = TWO_CANDIDATES) -> Floats:
    """Correlation of the errors of every two judges, on the calls that both voted on; NaN if those of one are alike."""
    judges = votes.shape[1]
    given, wrong = votes != NO_VOTE, scale.errors(votes, truth[:, None])
    found = np.full((judges, judges), np.nan)
    for one in range(judges):
        for other in range(one + 1, judges):
            both = given[:, one] & given[:, other]
            found[one, other] = found[other, one] = _correlation(wrong[both, one], wrong[both, other])
    return found


def effective_judges(judges: int, correlation: float) -> float:
    """How many judges with independent errors would be worth as much: J / (1 + (J - 1) r); no more than there are."""
    return judges / (1 + (judges - 1) * max(0.0, correlation))


def _correlation(one: Floats, other: Floats) -> float:
    if not len(one) or np.ptp(one) == 0 or np.ptp(other) == 0:
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
    scale: VoteScale = TWO_CANDIDATES

    def where(self, kept: NDArray[np.bool_]) -> "Ballots":
        return Ballots(self.votes[kept], self.truth[kept], self.clusters[kept], self.scale)

    def among(self, clusters: Sequence[int]) -> "Ballots":
        """Returns the calls of some clusters, which keep their numbers."""
        return self.where(np.isin(self.clusters, clusters))

    def of(self, judges: Sequence[int]) -> Votes:
        return self.votes[:, list(judges)]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A jury, with how well it did on the calls that it was chosen by: an optimistic figure."""

    judges: tuple[int, ...]
    rule: str
    accuracy: float
    cost: float


RULES: Mapping[str, Callable[[Ballots], JuryRule]] = {
    "majority": lambda ballots: majority(ballots.votes.shape[1], ballots.scale),
    "weighted": lambda ballots: weighted(ballots.votes, ballots.truth, ballots.scale),
    "dawid-skene": lambda ballots: dawid_skene(ballots.votes, ballots.scale),
    "median": lambda _: Middle(mean=False),
    "mean": lambda _: Middle(mean=True),
}

LEARNED = frozenset({"weighted", "dawid-skene"})
"""Rules that depend on the calls that they were learned from."""


def fitted(ballots: Ballots, rule: str) -> JuryRule:
    """Returns a rule for all judges, learned from these calls if it is one to be learned.

    A jury of some of them keeps what was learned of each, so that choosing among thousands takes no thousand fits.
    """
    return RULES[rule](ballots)


def fair_shares(verdicts: Votes, ballots: Ballots) -> tuple[list[float], list[float]]:
    """Right verdicts and calls by cluster. Of two candidates, calls with a better one weigh as much as those without.

    What is no verdict is not right. Where everything has one right answer alone, a judge that always gives it would
    look perfect.
    """
    weight = call_weights(ballots)
    right, total = (by_cluster(weight * each, ballots) for each in (ballots.scale.credit(verdicts, ballots.truth), 1.0))
    return right.tolist(), total.tolist()


def call_weights(ballots: Ballots) -> Floats:
    """Returns the weight of each call, so that both kinds weigh the same where there are both."""
    directed = ballots.truth != ballots.scale.tie
    return np.where(directed, _weight(directed), _weight(~directed))


def by_cluster(amounts: Floats, ballots: Ballots) -> Floats:
    """Adds up an amount of each call, in the clusters that have any."""
    size = int(ballots.clusters.max()) + 1 if len(ballots.clusters) else 0
    used = np.bincount(ballots.clusters, minlength=size) > 0
    return np.bincount(ballots.clusters, amounts, size)[used].astype(float)


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
