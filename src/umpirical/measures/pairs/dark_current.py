"""Dark current: a verdict for something where there is nothing."""

from collections.abc import Sequence

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import Tallies, VacuumTally
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.rates import Counted, clustered_rate


def dark_current(tallies: Tallies, arm: str) -> list[Measure]:
    """How often it makes something of nothing: a winner on vacuum inputs, or more than the least grade for a blank.

    Formula: for a `compare` judge the share of distinct vacuum prompts (empty, whitespace, identical candidates)
    answered with slot 1 or slot 2; for a `grade` judge the share of distinct prompts with an empty or blank answer that
    got more than the least grade. A tie, the least grade or an abstention is no preference. A prompt asked several
    times counts once, with the share of its answers that made something of nothing: both orders of an identical pair
    are one prompt, and repeats measure noise, not more vacuum. Pooled, and by vacuum class. Level: prompt.
    Bounds: 0 to 1, higher is worse. Undefined without an answered vacuum prompt. Interval: cluster-Wilson over tasks.
    Reference: the Dark Current paper, equation 1; for grades, ours.
    """
    vacuum = [tally for tally in tallies.vacuum if tally.arm == arm]
    classes = sorted({tally.stratum for tally in vacuum})
    return [
        Measure(SPEC.name, _rate(vacuum), arm),
        *(Measure(SPEC.name, _rate([t for t in vacuum if t.stratum == name]), arm, name) for name in classes),
    ]


def _rate(tallies: Sequence[VacuumTally]) -> Result:
    return clustered_rate(
        [Counted(tally.cluster, tally.false_preferences, tally.prompts) for tally in tallies],
        unit="prompt",
        empty="no vacuum prompt was answered",
        left_out={"without an answer": sum(tally.unanswered for tally in tallies)},
    )


SPEC = MeasureSpec(
    name="dark-current",
    title="Dark current",
    about="How often it names a winner where there is nothing to compare, or gives a blank more than the least grade.",
    worse="higher",
    compute=dark_current,
    kinds=("compare", "grade"),
    symbol="DC",
)
