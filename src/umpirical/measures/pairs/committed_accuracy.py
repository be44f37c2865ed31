"""Accuracy among committed calls: how good a named winner is."""

from collections.abc import Sequence

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import UNANSWERED, by_step, ladder_pairs
from umpirical.measures.estimates.rates import Counted, clustered_rate


def committed_accuracy(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the better answer is named, given that one is named), one measure per ladder step.

    Formula: correct calls / (correct + wrong calls). Read it beside the tie rate: a judge that commits only when it is
    sure is right when it commits. Level: call that named a winner. Bounds: 0 to 1, lower is worse.
    Undefined where no call named a winner. Interval: cluster-Wilson over tasks.
    Reference: the Dark Current paper, equation 9.
    """
    return by_step(SPEC.name, ladder_pairs(tallies, arm), arm, _accuracy)


def _accuracy(step: Sequence[PairTally]) -> Result:
    return clustered_rate(
        [Counted(tally.cluster, tally.correct_calls, tally.correct_calls + tally.wrong_calls) for tally in step],
        unit="call",
        empty="no call named a winner",
        left_out={UNANSWERED: 2 * sum(tally.incomplete for tally in step)},
        lost=2 * sum(tally.lost for tally in step),
    )


SPEC = MeasureSpec(
    name="committed-accuracy",
    title="Accuracy when committed",
    about="How often a winner it names is the right one, by the size of the difference.",
    worse="lower",
    compute=committed_accuracy,
    symbol="Pcorr (non-tie)",
)
