"""Edit disfavour: a harmless edit of an answer turns the judge against it."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.edits import edit_shares


def edit_disfavour(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of verdicts that moved away from the edited answer, by edit and by the answer that was edited.

    Formula: disfavoured / pairs. With edit favour it sums to the change rate. Level: labelled pair with a verdict in
    both orders, as it is and edited. Bounds: 0 to 1, higher is worse. Not given without edits. Undefined without two
    clusters of such pairs. Interval: cluster-Wilson over tasks.
    """
    return edit_shares(SPEC.name, tallies, arm, lambda tally: tally.disfavoured)


SPEC = MeasureSpec(
    name="edit-disfavour",
    title="Turned away by an edit",
    about="How often its verdict moves away from the answer that was edited without a change of meaning.",
    worse="higher",
    compute=edit_disfavour,
    protocols=("pairs",),
)
