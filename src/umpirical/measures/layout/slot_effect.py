"""Slot effect: the pull of the place itself, apart from its label and from the list of answers."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.layouts import crossed_effect, layout_measures


def slot_effect(tallies: Tallies, arm: str) -> list[Measure]:
    """Slot 1 minus slot 2, freed of what their labels and the list of answers do.

    Formula: b0 of the least-squares fit d = b0 + b1 a + b2 q over pairs of equal quality, where d is the share of a
    pair's calls that named slot 1 minus the share that named slot 2, a is 1 if slot 1 carries the first label and
    -1 if the second, and q is 1 if the option of slot 1 is named first and -1 if last. Positive: towards the
    candidate shown first. Level: pair; repeats of a pair are averaged. Also for `identical` answers, of which there
    is one order. Bounds: -1 to 1; 0 is no pull. Undefined where the layout was not varied (a prompt or a function
    of one's own), with one task, and where the answered pairs do not tell the three effects apart. Interval:
    delete-one-task jackknife with Student's t; its standard error is not below that of one pair moved from one end
    to the other.
    Reference: ours; a 2 x 2 factorial over pairs.
    """
    return layout_measures(SPEC.name, tallies, arm, lambda found: crossed_effect(found, "slot"))


SPEC = MeasureSpec(
    name="slot-effect",
    title="Slot effect",
    about="How much more often it names slot 1 than slot 2 between two equally good answers, whatever they are called.",
    worse="depends",
    compute=slot_effect,
    scale="difference",
)
