"""The decision about a judge of labelled pairs: its limits, and where it is weaker than elsewhere."""

from collections.abc import Iterator, Mapping, Sequence

from umpirical.domain.trials import BASELINE
from umpirical.measures.natural import LONGER_CHOSEN, LONGER_REJECTED
from umpirical.protocols.pairs.policy import PairsPolicy
from umpirical.protocols.pairs.record import PairsData, PairsDecision, PairsMeasure
from umpirical.reports import numbers
from umpirical.reports.limits import limit_record, verdict_of
from umpirical.reports.record import EstimateRecord, LimitRecord

ACCURACY, NAIVE, SAME_SLOT = "both-orders-accuracy", "single-order-accuracy", "same-slot-rate"

EXCESS, CHANGE, OVERTURN = "excess-change", "change-rate", "edit-overturn"

HALF = 0.5
"""Where the longer answer is wrong, a judge of length is right about none, and one that reads about more than half."""

FINDINGS: Mapping[tuple[str, str], str] = {
    (ACCURACY, ""): "Asked in both orders, it names the chosen answer twice in {} of the pairs.",
    (NAIVE, ""): "Asked once, in an order drawn at random, it would name the chosen answer in {}.",
    (SAME_SLOT, ""): "Swapping the two answers leaves it with the same slot in {} of the pairs.",
    (ACCURACY, LONGER_CHOSEN): "Where the longer answer is the chosen one, it is right in both orders in {}.",
    (ACCURACY, LONGER_REJECTED): "Where the longer answer is the rejected one, it is right in both orders in {}.",
    (CHANGE, ""): "A harmless edit of one answer changes {} of its verdicts.",
    (OVERTURN, "side=rejected"): "After a harmless edit, the rejected answer wins where it did not before in {}.",
}
"""What is said of a measure over all pairs, or of a group of them."""


def limits_of(measures: Sequence[PairsMeasure], policy: PairsPolicy) -> list[LimitRecord]:
    """Holds the judge's own prompt against the limits, over all pairs.

    Where every call was made once, the judge's noise is not known, and all changes count. What has no verdict may not
    help to pass: it is counted the worst way, but for the limits that count exactly that.
    """
    whole = {one.name: one for one in measures if not (one.stratum or one.group) and one.arm == BASELINE}
    excess = whole.get(EXCESS)
    changes = EXCESS if excess is not None and isinstance(excess.result, EstimateRecord) else CHANGE
    return [
        limit_record(
            name,
            whole.get(name),
            arm=BASELINE,
            kind="at_least" if name == ACCURACY else "at_most",
            value=value,
            essential=True,
            count_missing=counts,
        )
        for name, value, counts in (
            (ACCURACY, policy.accuracy, True),
            (SAME_SLOT, policy.same_slot, True),
            (changes, policy.changes, True),
            ("unparsed-rate", policy.without_verdict, False),
            ("failure-rate", policy.without_verdict, False),
        )
    ]


def decide(
    limits: Sequence[LimitRecord],
    measures: Sequence[PairsMeasure],
    data: PairsData,
    policy: PairsPolicy,
    *,
    complete: bool,
) -> PairsDecision:
    """Refuses a judge that breaks a limit; uses one that meets them all, with limits where a part is shown to fail."""
    # A study without edits asks nothing of them, and says so.
    held = [limit for limit in limits if data.edits or limit.measure != CHANGE]
    broken = [limit for limit in held if limit.state == "broken"]
    if broken:
        return PairsDecision(verdict="do-not-use", sentences=[_said(limit) for limit in broken])
    weak = list(_weak(measures, policy))
    unsettled = [limit for limit in held if limit.state == "open"]
    if unsettled or not complete:
        said = [_said(limit) for limit in unsettled] or ["The run is incomplete."]
        return PairsDecision(verdict="not-enough-data", sentences=said, weak_at=weak)
    unknown = list(_unknown(measures, data, policy))
    if weak or unknown:
        said = ["It keeps every limit over all pairs, and not in each part of them."] if weak else []
        return PairsDecision(verdict="use-with-limits", sentences=[*said, *unknown], weak_at=weak)
    return PairsDecision(verdict="use", sentences=["It keeps every limit."])


def findings(measures: Sequence[PairsMeasure]) -> list[str]:
    """Returns what was found, in plain sentences."""
    own = {(one.name, one.group): one for one in measures if not one.stratum and one.arm == BASELINE}
    said = []
    for key, words in FINDINGS.items():
        result = own[key].result if key in own else None
        if isinstance(result, EstimateRecord):
            value = f"{numbers.rate(result.value)} {numbers.measured_interval(own[key], result.interval)}"
            said.append(words.format(value))
    return said


def _unknown(measures: Sequence[PairsMeasure], data: PairsData, policy: PairsPolicy) -> Iterator[str]:
    """Yields what these pairs cannot show of a judge that keeps every limit."""
    if not data.edits:
        yield "Not measured: whether harmless edits change its verdicts."
    shown = data.longer_chosen
    if not isinstance(shown, EstimateRecord) or shown.value < policy.accuracy:
        return
    found = [one.result for one in measures if (one.name, one.group, one.arm) == (ACCURACY, LONGER_REJECTED, BASELINE)]
    low = [each.interval.low or 0.0 for each in found if isinstance(each, EstimateRecord) and each.interval]
    if not low or low[0] < HALF:
        yield (
            f"In {numbers.rate(shown.value)} of the pairs the longer answer is the chosen one, so a judge that takes "
            "the longer answer would keep the limit too. Where the longer answer is wrong, this one is not shown to "
            "be right about half of the pairs."
        )


def _weak(measures: Sequence[PairsMeasure], policy: PairsPolicy) -> Iterator[str]:
    """Yields the groups of pairs in which it is shown to be right less often than the limit asks for."""
    for one in measures:
        result = one.result
        if one.name != ACCURACY or one.arm != BASELINE or not one.group:
            continue
        if isinstance(result, EstimateRecord) and result.interval is not None:
            low, high = result.interval.low, result.interval.high
            if low is not None and high is not None and verdict_of((low, high), policy.accuracy, None) == "FAIL":
                yield f"{one.group}: it is right in {numbers.rate(result.value)} {numbers.interval(low, high)}"


def _said(limit: LimitRecord) -> str:
    more = limit.more_needed
    needed = (
        "" if more is None else f"; about {numbers.about(more)} more {numbers.units(str(limit.unit), more)} settle it"
    )
    return f"{limit.title}: {limit.why}{needed}."
