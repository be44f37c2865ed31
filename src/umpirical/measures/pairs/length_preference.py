"""Length preference: more words, no more content."""

from collections.abc import Sequence
from dataclasses import replace

from umpirical.domain.measures import Measure, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.differences import difference_result, paired_by_task
from umpirical.measures.estimates.pairs import NO_VERDICTS, incomplete_pairs, named, only_stratum
from umpirical.measures.estimates.rates import Counted


def length_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of calls that name the longer answer minus share that name the shorter, at equal content.

    Formula: (longer named - shorter named) / calls, ties in the denominator; pooled, and by the amount of extra
    length. Content u is the longer one. Level: call, analysed per task. Bounds: -1 to 1; 0 is no preference.
    Not given if the design has no pairs of unequal length. Undefined without one that has a verdict in both orders:
    pairs with an abstention are left out, and the bounds count every pair left out as naming the longer or the shorter.
    Interval: cluster-Wilson limits of both shares, joined over tasks (Newcombe's square-and-add).
    """
    chosen = [tally for tally in tallies.outcomes if tally.arm == arm and tally.family == Family.LENGTH]
    if not any(tally.arm == arm and tally.family == Family.LENGTH for tally in tallies.pairs):
        return []
    amounts = sorted({tally.stratum for tally in chosen}, key=lambda amount: (len(amount), amount))
    return [
        Measure(SPEC.name, _preference(chosen, tallies, arm), arm),
        *(
            Measure(
                SPEC.name, _preference([t for t in chosen if t.stratum == a], only_stratum(tallies, a), arm), arm, a
            )
            for a in amounts
        ),
    ]


def _preference(chosen: Sequence[OutcomeTally], tallies: Tallies, arm: str) -> Result:
    answers = [(tally.cluster, named(tally)) for tally in chosen]
    missing = {reason: 2 * pairs for reason, pairs in incomplete_pairs(tallies, arm, [Family.LENGTH]).items()}
    found = difference_result(
        paired_by_task(
            [Counted(task, calls.u, calls.calls) for task, calls in answers],
            [Counted(task, calls.v, calls.calls) for task, calls in answers],
        ),
        unit="call",
        empty=NO_VERDICTS,
        left_out=missing,
    )
    if isinstance(found, Undefined) or not missing:
        return found
    absent = sum(missing.values())
    total = found.denominator + absent
    return replace(found, bounds=((found.numerator - absent) / total, (found.numerator + absent) / total))


SPEC = MeasureSpec(
    name="length-preference",
    title="Length preference",
    about="How much more often it names the longer of two answers with the same content than the shorter.",
    worse="depends",
    compute=length_preference,
    scale="difference",
)
