"""One-sided commits by content: a check, since neither content of an equal pair is marked."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import one_sided_share


def one_sided_content(tallies: Tallies, arm: str) -> list[Measure]:
    """The share of one-sided commits at equal quality that content u won.

    Formula: one-sided for u / one-sided. Which content is called u is arbitrary, and a coin decides which of the two is
    transformed, so a sound run gives one half: another value shows that the stimuli or the mapping from slots to
    contents are not what they seem. Pooled, and by the transform that makes the two answers differ.
    Level: canonical pair of equal quality with a winner in exactly one order. Bounds: 0 to 1; both ends are bad.
    Undefined without a one-sided commit. Interval: cluster-Wilson over tasks.
    """
    return one_sided_share(SPEC.name, tallies, arm, lambda tally: tally.one_sided_u)


SPEC = MeasureSpec(
    name="one-sided-content",
    title="One-sided commits to content u",
    about="Where it names a winner in one order only, how often that is the first content; a sound run gives one half.",
    worse="depends",
    compute=one_sided_content,
)
