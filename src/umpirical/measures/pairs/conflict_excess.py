"""Conflict excess: what length adds to the errors on a difference of one requirement."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.differences import difference_result, paired_by_task
from umpirical.measures.estimates.pairs import conflict_pairs, ladder_pairs
from umpirical.measures.estimates.rates import Counted


def conflict_excess(tallies: Tallies, arm: str) -> list[Measure]:
    """Wrong-choice rate where the lesser answer is longer, minus that at step 1 of the ladder, where lengths match.

    Formula: wrong calls / (2 · pairs) of conflict pairs, less the same at ladder step 1; the quality difference is
    one requirement in both. Level: canonical pair, scoring 0, one half or 1; the denominator is that of the conflict
    pairs. Bounds: -1 to 1, higher is worse. Not given if the design has no conflict pairs.
    Undefined where fewer than two tasks have answered pairs of each kind.
    Interval: cluster-Wilson limits of both rates, joined over tasks (Newcombe's square-and-add).
    """
    conflict = conflict_pairs(tallies, arm)
    if not conflict:
        return []
    ladder = [tally for tally in ladder_pairs(tallies, arm) if tally.delta == 1]
    result = difference_result(
        paired_by_task(
            [Counted(tally.cluster, tally.wrong_calls / 2, tally.pairs) for tally in conflict],
            [Counted(tally.cluster, tally.wrong_calls / 2, tally.pairs) for tally in ladder],
            shared=False,
        ),
        unit="pair",
        empty="no pair has an answer in both orders, among conflict pairs or at step 1",
        left_out={
            "without an answer in both orders, conflict": sum(tally.incomplete for tally in conflict),
            "without an answer in both orders, step 1": sum(tally.incomplete for tally in ladder),
        },
    )
    return [Measure(SPEC.name, result, arm)]


SPEC = MeasureSpec(
    name="conflict-excess",
    title="Conflict excess",
    about="How much more often it names the lesser answer when that one is the longer.",
    worse="higher",
    compute=conflict_excess,
    scale="difference",
)
