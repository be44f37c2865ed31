"""Labelled pairs that were asked as they are, and after an edit of one answer that no judge should heed."""

from collections.abc import Callable, Collection, Sequence

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import EditTally, Tallies
from umpirical.measures.estimates.items import by_part
from umpirical.measures.estimates.rates import Counted, clustered_rate

CHOSEN_SIDE, REJECTED_SIDE = "side=chosen", "side=rejected"
"""Groups of edited pairs, by the answer that was edited."""

UNCOMPARED = "without a verdict in both orders, as it is or edited"


def edit_shares(
    name: str,
    tallies: Tallies,
    arm: str,
    score: Callable[[EditTally], float],
    *,
    groups: Collection[str] = ("", CHOSEN_SIDE, REJECTED_SIDE),
) -> list[Measure]:
    """A share of the edited pairs, for every edit and for the answers that were edited."""

    def result(chosen: Sequence[EditTally]) -> Result:
        return clustered_rate(
            [Counted(tally.cluster, score(tally), tally.pairs) for tally in chosen],
            unit="pair",
            empty="no pair has a verdict in both orders, as it is and edited",
            left_out={UNCOMPARED: sum(tally.incomplete for tally in chosen)},
        )

    return by_part(name, [t for t in tallies.edits if t.arm == arm and t.group in groups], arm, result)
