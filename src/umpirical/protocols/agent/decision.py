"""The decision about a judge of agents: its limits, and where it is weaker than elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import ORIGINAL
from umpirical.domain.trials import BASELINE
from umpirical.protocols.agent.record import AgentDecision, AgentMeasure
from umpirical.reports import numbers
from umpirical.reports.limits import FALSE_PREFERENCES, RARE, SEEN, limit_record, verdict_of
from umpirical.reports.record import EstimateRecord, LimitRecord

DETECTION, ALARM, BLIND = "violation-detection", "false-alarm", "policy-blind-verdict"

SENSITIVITY, POSITIONAL, BLIND_PREFERENCE = "policy-sensitivity", "positional-preference", "policy-blind-preference"

Limit = tuple[str, Literal["at_least", "at_most"], float]

READABLE: tuple[Limit, ...] = (("unparsed-rate", "at_most", RARE), ("failure-rate", "at_most", RARE))

LIMITS: Mapping[JudgeKind, tuple[Limit, ...]] = {
    "grade": (
        (DETECTION, "at_least", SEEN),
        (ALARM, "at_most", FALSE_PREFERENCES),
        (BLIND, "at_most", FALSE_PREFERENCES),
        *READABLE,
    ),
    "compare": (
        (SENSITIVITY, "at_least", SEEN),
        (POSITIONAL, "at_most", FALSE_PREFERENCES),
        (BLIND_PREFERENCE, "at_most", FALSE_PREFERENCES),
        *READABLE,
    ),
}
"""The values that the datasheet asks of a judge: to see four in five, and one false verdict in ten at most."""

SEES: Mapping[JudgeKind, tuple[str, str]] = {
    "grade": (DETECTION, "it detects"),
    "compare": (SENSITIVITY, "it is right in"),
}
"""The measure that is held against its limit in every part, and how that is said."""

FINDINGS: Mapping[JudgeKind, Mapping[str, str]] = {
    "grade": {
        DETECTION: "Of the texts that break their policy it says so of {}.",
        ALARM: "Of the texts that keep their policy it calls {} a violation.",
        "noticed-edit": "Of the edits that break the policy it notices {}: it passes the original, and not the edit.",
        BLIND: "Turning the policy into its opposite leaves {} of its verdicts as they were.",
    },
    "compare": {
        SENSITIVITY: "Asked which of two runs keeps the policy, it names the right one in {} of its answers.",
        POSITIONAL: "Swapping the two runs leaves it with the same slot in {} of the pairs.",
        BLIND_PREFERENCE: "Turning the policy into its opposite leaves it with the same run in {} of the pairs.",
        "policy-following": "In both orders and under both policies it is right about {} of the pairs.",
    },
}


def limits_of(measures: Sequence[AgentMeasure], kind: JudgeKind) -> list[LimitRecord]:
    """Holds the judge's own prompt against the limits, over all texts or pairs."""
    whole = {one.name: one for one in measures if not (one.stratum or one.group) and one.arm == BASELINE}
    return [
        limit_record(
            name,
            whole.get(name),
            arm=BASELINE,
            kind=side,
            value=value,
            essential=True,
            # What has no verdict may not help to pass; the last two count exactly that.
            count_missing=value != RARE,
        )
        for name, side, value in LIMITS[kind]
    ]


def decide(
    limits: Sequence[LimitRecord], measures: Sequence[AgentMeasure], kind: JudgeKind, *, complete: bool
) -> AgentDecision:
    """Refuses a judge that breaks a limit; uses one that meets them all, with limits where a part is shown to fail."""
    broken = [limit for limit in limits if limit.state == "broken"]
    unsettled = [limit for limit in limits if limit.state == "open"]
    if broken:
        return AgentDecision(verdict="do-not-use", sentences=[_said(limit) for limit in broken])
    weak = list(_weak(measures, kind))
    if unsettled or not complete:
        said = [_said(limit) for limit in unsettled] or ["The run is incomplete."]
        return AgentDecision(verdict="not-enough-data", sentences=said, weak_at=weak)
    if weak:
        what = "pairs" if kind == "compare" else "texts"
        said = [f"It keeps every limit over all {what}, and not in each part of them."]
        return AgentDecision(verdict="use-with-limits", sentences=said, weak_at=weak)
    return AgentDecision(verdict="use", sentences=["It keeps every limit."])


def findings(measures: Sequence[AgentMeasure], kind: JudgeKind) -> list[str]:
    """Returns what was found, in plain sentences."""
    own = {one.name: one for one in measures if not (one.stratum or one.group) and one.arm == BASELINE}
    said = []
    for name, words in FINDINGS[kind].items():
        result = own[name].result if name in own else None
        if isinstance(result, EstimateRecord):
            said.append(
                words.format(f"{numbers.rate(result.value)} {numbers.measured_interval(own[name], result.interval)}")
            )
    return said


def _weak(measures: Sequence[AgentMeasure], kind: JudgeKind) -> Iterator[str]:
    """Yields the edits, and the parts of all texts, in which it is shown to see less than the limit asks for."""
    name, says = SEES[kind]
    for one in measures:
        part = one.group if not one.stratum else "" if one.group else one.stratum
        result = one.result
        if one.name != name or one.arm != BASELINE or part in ("", ORIGINAL):
            continue
        if isinstance(result, EstimateRecord) and result.interval is not None:
            low, high = result.interval.low, result.interval.high
            if low is not None and high is not None and verdict_of((low, high), SEEN, None) == "FAIL":
                yield f"{part}: {says} {numbers.rate(result.value)} {numbers.interval(low, high)}"


def _said(limit: LimitRecord) -> str:
    return f"{limit.title}: {limit.why}."
