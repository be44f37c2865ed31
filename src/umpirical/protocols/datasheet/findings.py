"""States what the measures say, by fixed rules, in plain sentences.

A rate is called high if it fails its limit in the policy, low if it passes, and unsettled otherwise, so that no finding
says other than the table of limits. A judge is not called good because little was measured.
"""

from collections.abc import Iterable, Iterator, Sequence

from umpirical.domain.trials import BASELINE
from umpirical.reports.numbers import measured_interval, rate, step
from umpirical.reports.record import EstimateRecord, LimitRecord, LimitVerdict, MeasureRecord, UndefinedRecord

__all__ = ["find"]

_SENTENCES = {
    "dark-current": (
        "It names a winner where there is nothing to compare, in {value} of cases {interval}.",
        "Where there is nothing to compare it rarely names a winner: {value} {interval}.",
    ),
    "positional-false-preference": (
        "Its preference follows the slot: it names the same slot in both orders in {value} of equal pairs {interval}.",
        "It rarely follows the slot: {value} of equal pairs {interval}.",
    ),
    "stable-cross-sensitivity": (
        "It keeps to one wording over another of equal quality in {value} of pairs {interval}.",
        "It rarely keeps to one wording over another of equal quality: {value} of pairs {interval}.",
    ),
    "task-blind-preference": (
        "It prefers the same answer whatever the task asks for, in {value} of quads {interval}.",
        "It rarely prefers the same answer whatever the task asks for: {value} of quads {interval}.",
    ),
    "unparsed-rate": (
        "Many of its answers are not on its scale: {value} {interval}. They are counted, and are no verdicts.",
        "",
    ),
    "failure-rate": ("Many calls brought no answer: {value} {interval}. They are counted, and are no verdicts.", ""),
}


def find(measures: Iterable[MeasureRecord], limits: Sequence[LimitRecord]) -> list[str]:
    """Returns a sentence for each headline measure, in the order of the datasheet; arms that are probes are named."""
    verdicts = {(limit.arm, limit.measure): limit.verdict for limit in limits if not limit.stratum}
    return [
        sentence if measure.arm == BASELINE else f"Arm {measure.arm}: {sentence}"
        for measure in measures
        if measure.stratum == ""
        for sentence in _say(measure, verdicts.get((measure.arm, measure.name)))
    ]


def _say(measure: MeasureRecord, verdict: LimitVerdict | None) -> Iterator[str]:
    if measure.name == "detection-threshold":
        yield _threshold(measure.result)
    elif measure.name in _SENTENCES:
        if isinstance(measure.result, UndefinedRecord):
            yield f"{measure.title} could not be measured: {measure.result.reason}."
            return
        if sentence := _judge_rate(measure, measure.result, verdict):
            yield sentence


def _judge_rate(measure: MeasureRecord, result: EstimateRecord, verdict: LimitVerdict | None) -> str:
    high, low = _SENTENCES[measure.name]
    # A measure that is mentioned only when it is high is not reported as "not settled".
    unsettled = f"{measure.title} is not settled at this size: {{value}} {{interval}}." if low else ""
    sentence = {"FAIL": high, "PASS": low, None: ""}.get(verdict, unsettled)
    return sentence.format(value=rate(result.value), interval=measured_interval(measure, result.interval))


def _threshold(result: EstimateRecord | UndefinedRecord) -> str:
    if isinstance(result, UndefinedRecord):
        return f"The smallest difference it sees could not be measured: {result.reason}."
    if result.censoring == "left":
        return f"It sees the smallest difference that was shown, {step(result.value)} requirement, three times in four."
    if result.censoring == "right":
        return f"It does not see even a difference of {step(result.value)} requirements three times in four."
    return f"It takes a difference of about {step(result.value)} requirements to be seen three times in four."
