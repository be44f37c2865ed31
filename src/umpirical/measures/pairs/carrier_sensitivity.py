"""Carrier sensitivity: whether it sees that verified claims are missing from a real answer, or wrong in it."""

from collections.abc import Iterator

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import carrier_strata, correct_pairs, counted_share, only_stratum, share_by_step

FAMILY = Family.CARRIER_LADDER


def carrier_sensitivity(tallies: Tallies, arm: str) -> list[Measure]:
    """P(a real answer is preferred to itself with claims edited), by edit, and by edit and number of claims.

    Formula: as target sensitivity: correct calls / (2 · pairs), or for a `grade` judge the share of pairs whose
    unedited answer has the higher grade; a tie is not correct. `deleted` takes out the sentences that make the claims,
    which also shortens the answer: a judge that prefers long answers does better there. `corrupted` changes one figure,
    date word or negation in each claim and keeps the length to within a word. The direction is known, the size is only
    ordinal: a claim is not a requirement, and the two edits are not pooled. Level: canonical pair, scoring 0, one half
    or 1; for a `grade` judge 0 or 1. Bounds: 0 to 1, lower is worse. Not given if the study has no carriers. Undefined
    without a pair answered in both orders, or graded on both sides, or with one carrier only.
    Interval: cluster-Wilson over carriers, each of which is a task of its own. Tier 2, never pooled with tier 1.
    """
    return [measure for edit in carrier_strata(tallies, arm, FAMILY) for measure in _edited(tallies, arm, edit)]


def _edited(tallies: Tallies, arm: str, edit: str) -> Iterator[Measure]:
    counts = correct_pairs(only_stratum(tallies, edit), arm, FAMILY)
    yield Measure(SPEC.name, counted_share(counts), arm, edit)
    for measure in share_by_step(SPEC.name, counts, arm):
        yield Measure(SPEC.name, measure.result, arm, f"{edit} {measure.stratum}")


SPEC = MeasureSpec(
    name="carrier-sensitivity",
    title="Carrier sensitivity",
    about=(
        "How often it prefers a real answer to itself with verified claims deleted, which also shortens it, or "
        "corrupted, which does not; by the number of claims."
    ),
    worse="lower",
    compute=carrier_sensitivity,
    kinds=("compare", "grade"),
)
