"""Flip rate: the same prompt asked twice, answered differently."""

from collections.abc import Collection, Sequence

from umpirical.domain.measures import Result, Undefined
from umpirical.domain.stimuli import TIER_2
from umpirical.domain.tallies import OutcomeTally, RepeatTally, Tallies
from umpirical.measures.catalogue import BY_PART, Part
from umpirical.measures.estimates.items import by_part, item_rate, shares_by_task
from umpirical.measures.estimates.pairs import ABSTAINED, NO_VERDICTS, incomplete_pairs
from umpirical.measures.estimates.rates import Counted, clustered_rate
from umpirical.measures.repeats import NOT_REPEATED, repeat_tallies, repeated
from umpirical.stats.repeats import flip_chance


@BY_PART.measure(
    "Flip rate",
    "How often it answers the same prompt differently when asked again.",
    worse="higher",
    kinds=("compare", "grade"),
    protocols=("datasheet", "stress"),
)
def flip_rate(tallies: Tallies, variant: str) -> list[Part]:
    """Share of pairs of replies to one prompt that differ: the noise of the judge, without any effect of order.

    Formula: mean over prompts of 1 - sum x(x - 1) / (R(R - 1)), with x how often each of the first position, the second
    position and the tie was the verdict in R repeats; it is unbiased for any R. Repeats with an abstention in either
    order are excluded. Pooled over tier 1, and by family of pairs. A prompt is a pair in one order. On your own data x
    counts verdicts, a prompt is an item, and there is one rate for repeats of the same request and one for those with
    other seeds. Not given for a judge that grades built-in test cases, or if the study has no repeats. Level: prompt or
    item, of those answered at least twice. Bounds: 0 to 1, higher is worse. Undefined if everything was asked only
    once. Interval: cluster-Wilson over tasks, or clusters of items.
    """
    if tallies.scale is not None:
        return by_part(repeat_tallies(tallies, variant), _item_rate)
    if tallies.grade_pairs or tallies.grades:
        return []
    chosen = [tally for tally in tallies.outcomes if tally.variant == variant]
    if not chosen:
        missing = incomplete_pairs(tallies, variant)
        return [Part(Undefined(NO_VERDICTS, excluded=missing))]
    families = sorted({tally.family for tally in chosen})
    pooled = Part(_pair_rate(tallies, variant, [f for f in families if f not in TIER_2]))
    if isinstance(pooled.result, Undefined):
        return [pooled]
    return [pooled, *(Part(_pair_rate(tallies, variant, [family]), family) for family in families)]


def _pair_rate(tallies: Tallies, variant: str, families: Collection[str]) -> Result:
    chosen = [tally for tally in tallies.outcomes if tally.variant == variant and tally.family in families]
    repeated = [tally for tally in chosen if sum(tally.counts[:3]) > 1]
    abstained = sum(t.abstained_pairs for t in tallies.pairs if t.variant == variant and t.family in families)
    return clustered_rate(
        [Counted(tally.cluster, tally.pairs * _flips(tally), 2 * tally.pairs) for tally in repeated],
        unit="prompt",
        empty="everything was asked once",
        excluded={
            "answered once": 2 * (sum(t.pairs for t in chosen) - sum(t.pairs for t in repeated)),
            ABSTAINED: 2 * abstained,
        },
    )


def _flips(tally: OutcomeTally) -> float:
    """Flip rates of the two orders, added up."""
    return sum(
        1 - sum(x * (x - 1) for x in answers) / (sum(answers) * (sum(answers) - 1))
        for answers in (tally.counts[:3], tally.counts[3:])
    )


def _item_rate(chosen: Sequence[RepeatTally]) -> Result:
    kept, missing, _ = repeated(chosen)
    flips = ((t.cluster, t.items * flip_chance([count for _, count in t.answers]), t.items) for t in kept)
    return item_rate(*shares_by_task(flips), empty=NOT_REPEATED, excluded=missing)
