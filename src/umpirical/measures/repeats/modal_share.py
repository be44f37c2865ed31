"""Modal share: how often repeats give the most frequent answer."""

from collections.abc import Sequence
from dataclasses import replace

from umpirical.domain.measures import Estimate, Measure, Result
from umpirical.domain.tallies import RepeatTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.items import by_part, item_rate, shares_by_task
from umpirical.measures.estimates.repeats import NOT_REPEATED, repeat_tallies, repeated
from umpirical.stats.repeats import modal_share as share_of_mode


def modal_share(tallies: Tallies, arm: str) -> list[Measure]:
    """Mean over items of the share of an item's repeats that gave its most frequent verdict.

    Formula: mean of max x / R. 1 for a judge that never changes its mind, right or wrong. With few repeats it is too
    high, since the mode of two answers has at least one half: compare only runs of the same R, which the method names;
    the flip rate has no such bias. Level: item answered at least twice. Bounds: 0 to 1, lower is worse. Not given if
    the study has no repeats. Undefined if no item was answered twice. Interval: cluster-Wilson over clusters of items.
    Reference: L. Shi et al., Judging the judges (2024), repetition stability.
    """
    return by_part(SPEC.name, repeat_tallies(tallies, arm), arm, _share)


def _share(chosen: Sequence[RepeatTally]) -> Result:
    kept, missing, repeats = repeated(chosen)
    shares = ((t.cluster, t.items * share_of_mode([count for _, count in t.answers]), t.items) for t in kept)
    result = item_rate(*shares_by_task(shares), empty=NOT_REPEATED, left_out=missing)
    if isinstance(result, Estimate) and result.interval is not None:
        limits = replace(result.interval, method=f"{result.interval.method}, {repeats}")
        return replace(result, interval=limits)
    return result


SPEC = MeasureSpec(
    name="modal-share",
    title="Modal share",
    about="How often repeats of the same question give its most frequent verdict.",
    worse="lower",
    compute=modal_share,
    kinds=("grade",),
    protocols=("stress",),
)
