"""Your own answers, edited or with a new layout. Tier 2, never pooled with pairs from templates."""

from collections.abc import Iterator

from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import GradePairTally, PairTally, QuadTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, Part, by_itself
from umpirical.measures.estimates.pairs import (
    correct_pairs,
    count_pairs,
    counted_share,
    different_grades,
    false_preference,
    only_stratum,
    share_by_step,
)
from umpirical.measures.quads import quad_shares

PAIRS = MeasureFamily(by_itself, kinds=("compare", "grade"))

QUADS = MeasureFamily(
    quad_shares(Family.OWN_FIGURES),
    contract=(
        "Tier 2, never pooled with tier 1. Level: crossed pair, asked in both orders of both versions; repeats are "
        "averaged. Bounds: 0 to 1, {worse}. Not given if none of your own answers is crossed with contexts. Undefined "
        "without a crossed pair answered in both orders of both versions. Interval: cluster-Wilson over tasks."
    ),
)


def carrier_strata(tallies: Tallies, variant: str, family: str) -> list[str]:
    """The strata of a family of carrier pairs, whichever kind of judge was asked."""
    asked: list[PairTally | GradePairTally] = [*tallies.pairs, *tallies.grade_pairs]
    return sorted({tally.stratum for tally in asked if tally.variant == variant and tally.family == family})


@PAIRS.measure(
    "Accuracy on your own answers",
    "How often it prefers your own answer to the same answer with verified facts deleted (which also shortens it) or "
    "corrupted (which does not), by the number of facts.",
    worse="lower",
)
def carrier_sensitivity(tallies: Tallies, variant: str) -> list[Part]:
    """Share of calls that prefer one of your own answers to the same answer with facts edited.

    Formula: as for accuracy: correct calls / (2 · pairs), or for a `grade` judge the share of pairs whose unedited
    answer has the higher grade; a tie is not correct. By edit, and by edit and number of facts. `deleted` removes the
    sentences that state the facts, which also shortens the answer, so a judge that prefers long answers does better
    there. `corrupted` changes one figure, date word or negation in each fact and keeps the length to within a word. The
    direction is known, but the size is only ordinal: a fact is not a requirement, and the two edits are not pooled.
    Level: canonical pair, scoring 0, one half or 1; for a `grade` judge 0 or 1. Bounds: 0 to 1, lower is worse. Not
    given if the study has no answers of your own. Undefined without a pair answered in both orders, or graded on both
    sides, or with only one answer. Interval: cluster-Wilson over answers, each of which is a task. Tier 2, never pooled
    with tier 1.
    """
    edits = carrier_strata(tallies, variant, Family.OWN_GRADED)
    return [part for edit in edits for part in _edited(tallies, variant, edit)]


def _edited(tallies: Tallies, variant: str, edit: str) -> Iterator[Part]:
    counts = correct_pairs(only_stratum(tallies, edit), variant, Family.OWN_GRADED)
    yield Part(counted_share(counts), edit)
    for part in share_by_step(counts):
        yield Part(part.result, f"{edit} {part.stratum}")


@PAIRS.measure(
    "False preference on your own answers",
    "How often it prefers one of two layouts of one of your answers, or gives them different grades.",
    worse="higher",
)
def carrier_false_preference(tallies: Tallies, variant: str) -> list[Part]:
    """Share of pairs of two layouts of the same answer in which one layout is preferred.

    Formula: as for false preference: (stable + positional + one-sided / 2) / pairs, or for a `grade` judge the share of
    pairs with different grades. All words are the same; blank lines, list marks or paragraphs differ. Pooled, and by
    layout. Level: canonical pair, scoring 0, one half or 1; for a `grade` judge 0 or 1. Bounds: 0 to 1, higher is worse
    if the task does not ask for a layout. Not given if the study has no answers of your own. Undefined without a pair
    answered in both orders, or graded on both sides, or with only one answer. Interval: cluster-Wilson over answers,
    each of which is a task. Tier 2, never pooled with tier 1.
    """
    layouts = carrier_strata(tallies, variant, Family.OWN_EQUAL)
    if not layouts:
        return []
    return [_layout(tallies, variant, ""), *(_layout(only_stratum(tallies, name), variant, name) for name in layouts)]


def _layout(tallies: Tallies, variant: str, stratum: str) -> Part:
    counts = count_pairs(tallies, variant, (Family.OWN_EQUAL,), compared=false_preference, graded=different_grades)
    return Part(counted_share(counts), stratum)


@QUADS.measure(
    "Context following on your own answers",
    "How often it prefers the version of your own answer that agrees with the context, under both of two contexts.",
    worse="lower",
)
def carrier_following(tally: QuadTally) -> float:
    """Share of crossed pairs of your own answers in which the right answer wins under both contexts.

    Formula: following / crossed pairs, pooled and by number of facts. A figure is changed in the context and in the
    answer. A version, here a context, has a winner if the same answer wins in both orders.
    """
    return tally.following


@QUADS.measure(
    "Context-blind preference on your own answers",
    "How often it prefers the same version of your own answer under two contexts, although each context agrees with "
    "a different one.",
    worse="higher",
)
def carrier_blind_preference(tally: QuadTally) -> float:
    """Share of crossed pairs of your own answers in which the same answer wins under both contexts.

    Formula: blind / crossed pairs, pooled and by number of facts. A figure is changed in the context and in the answer.
    A version, here a context, has a winner if the same answer wins in both orders.
    """
    return tally.blind
