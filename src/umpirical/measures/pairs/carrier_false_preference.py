"""Carrier false preference: a preference between two layouts of one real answer."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import (
    carrier_strata,
    count_pairs,
    counted_share,
    different_grades,
    false_preference,
    only_stratum,
)

FAMILY = Family.CARRIER_DELTA0


def carrier_false_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """How often one of two layouts of the same real answer is preferred.

    Formula: as raw false preference: (stable + positional + one-sided / 2) / pairs, or for a `grade` judge the share of
    pairs with different grades. All words are the same; blank lines, list marks or paragraphs differ. Pooled, and by
    layout. Level: canonical pair, scoring 0, one half or 1; for a `grade` judge 0 or 1. Bounds: 0 to 1, higher is worse
    where the task does not ask for a layout. Not given if the study has no carriers. Undefined without a pair
    answered in both orders, or graded on both sides, or with one carrier only.
    Interval: cluster-Wilson over carriers, each of which is a task of its own. Tier 2, never pooled with tier 1.
    """
    layouts = carrier_strata(tallies, arm, FAMILY)
    if not layouts:
        return []
    return [_measure(tallies, arm, ""), *(_measure(only_stratum(tallies, name), arm, name) for name in layouts)]


def _measure(tallies: Tallies, arm: str, stratum: str) -> Measure:
    counts = count_pairs(tallies, arm, (FAMILY,), compared=false_preference, graded=different_grades)
    return Measure(SPEC.name, counted_share(counts), arm, stratum)


SPEC = MeasureSpec(
    name="carrier-false-preference",
    title="Carrier false preference",
    about="How often it prefers one of two layouts of the same real answer, or grades them differently.",
    worse="higher",
    compute=carrier_false_preference,
    kinds=("compare", "grade"),
)
