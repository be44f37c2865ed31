"""Edit favour: a harmless edit of an answer wins the judge over."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.edits import edit_shares


def edit_favour(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of verdicts that moved towards the edited answer, by edit and by the answer that was edited.

    Formula: favoured / pairs. With edit disfavour it sums to the change rate. A judge that answers the same question
    differently moves both ways without any edit: read the excess change beside it. Level: labelled pair with a verdict
    in both orders, as it is and edited. Bounds: 0 to 1, higher is worse. Not given without edits. Undefined without two
    clusters of such pairs. Interval: cluster-Wilson over tasks.
    """
    return edit_shares(SPEC.name, tallies, arm, lambda tally: tally.favoured)


SPEC = MeasureSpec(
    name="edit-favour",
    title="Won over by an edit",
    about="How often its verdict moves towards the answer that was edited without a change of meaning.",
    worse="higher",
    compute=edit_favour,
    protocols=("pairs",),
)
