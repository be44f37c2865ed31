"""Grade concordance: whether two answers that it grades differently are in the right order."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import UNGRADED
from umpirical.measures.estimates.rates import Counted, clustered_rate


def grade_concordance(tallies: Tallies, arm: str) -> list[Measure]:
    """The share of ladder pairs with different grades in which the better answer has the higher grade.

    Formula: better higher / (better higher + lesser higher), all ladder steps together. Pairs of equal grades are left
    to the tie rate: counting them as in order would give full marks to a judge that grades everything alike.
    Level: pair with two different grades. Bounds: 0 to 1, one half is chance, lower is worse. Undefined without such a
    pair. Interval: cluster-Wilson over tasks. Reference: L. A. Goodman and W. H. Kruskal, Measures of association for
    cross classifications, JASA 49 (1954): their gamma, on the ladder, is 2·concordance - 1.
    """
    ladder = [tally for tally in tallies.grade_pairs if tally.arm == arm and tally.family == Family.LADDER]
    result = clustered_rate(
        [Counted(tally.cluster, tally.better_higher, tally.better_higher + tally.lesser_higher) for tally in ladder],
        unit="pair",
        empty="no ladder pair has two different grades",
        left_out={UNGRADED: sum(tally.incomplete for tally in ladder)},
        lost=sum(tally.lost for tally in ladder),
    )
    return [Measure(SPEC.name, result, arm)]


SPEC = MeasureSpec(
    name="grade-concordance",
    title="Grade concordance",
    about="Where it grades two answers of different quality differently, how often the better one gets more.",
    worse="lower",
    compute=grade_concordance,
    kinds=("grade",),
)
