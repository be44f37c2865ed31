"""Label effect: the pull of a name, apart from the slot that carries it."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.layouts import crossed_effect, layout_measures


def label_effect(tallies: Tallies, arm: str) -> list[Measure]:
    """First label minus second label, whichever slots carry them.

    Formula: b1 of the least-squares fit d = b0 + b1 a + b2 q, as in `slot-effect`: half the difference between d
    with the first label in slot 1 and d with the second there. Positive: towards the first label (1, A, X, first).
    Level: pair; repeats of a pair are averaged. Also for `identical` answers, of which there is one order. Bounds:
    -1 to 1; 0 is no pull. Undefined where the layout was not varied (a prompt or a function of one's own), with one
    task, and where the answered pairs do not tell the three effects apart. Interval: delete-one-task jackknife with
    Student's t; its standard error is not below that of one pair moved from one end to the other.
    Reference: ours; a 2 x 2 factorial over pairs.
    """
    return layout_measures(SPEC.name, tallies, arm, lambda found: crossed_effect(found, "label"))


SPEC = MeasureSpec(
    name="label-effect",
    title="Label effect",
    about="How much more often it names the candidate called 1, A, X or first than the other, whichever slot that is.",
    worse="depends",
    compute=label_effect,
    scale="difference",
)
