"""Edit overturn: the rejected answer wins once it has been edited."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.edits import REJECTED_SIDE, edit_shares


def edit_overturn(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of verdicts that name the edited rejected answer and did not name it as it was, by edit.

    Formula: overturned / pairs. The number that tells whether who writes a worse answer can win by its form. Level:
    labelled pair with a verdict in both orders, as it is and edited. Bounds: 0 to 1, higher is worse. Not given without
    edits. Undefined without two clusters of such pairs. Interval: cluster-Wilson over tasks.
    """
    return edit_shares(SPEC.name, tallies, arm, lambda tally: tally.overturned, groups=(REJECTED_SIDE,))


SPEC = MeasureSpec(
    name="edit-overturn",
    title="Overturned by an edit",
    about="How often the rejected answer is named after a harmless edit of it, where it was not named as it was.",
    worse="higher",
    compute=edit_overturn,
    protocols=("pairs",),
)
