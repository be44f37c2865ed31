"""List effect: the pull of the option that is named first in the list of answers."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.layouts import crossed_effect, layout_measures


def list_effect(tallies: Tallies, arm: str) -> list[Measure]:
    """Option named first minus option named second, whichever slots they stand for.

    Formula: b2 of the least-squares fit d = b0 + b1 a + b2 q, as in `slot-effect`: half the difference between d
    with the option of slot 1 named first and d with that of slot 2 named first. Positive: towards the option named
    first. Level: pair; repeats of a pair are averaged. Also for `identical` answers, of which there is one order.
    Bounds: -1 to 1; 0 is no pull. Undefined where the layout was not varied (a prompt or a function of one's own),
    with one task, and where the answered pairs do not tell the three effects apart. Interval: delete-one-task
    jackknife with Student's t; its standard error is not below that of one pair moved from one end to the other.
    Reference: ours; a 2 x 2 factorial over pairs.
    """
    return layout_measures(SPEC.name, tallies, arm, lambda found: crossed_effect(found, "list"))


SPEC = MeasureSpec(
    name="list-effect",
    title="List effect",
    about="How much more often it names the candidate whose option comes first in the list of answers than the other.",
    worse="depends",
    compute=list_effect,
    scale="difference",
)
