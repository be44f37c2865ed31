"""States what the measures say, by fixed rules, in plain sentences.

A rate is called high if it fails its limit in the policy, low if it passes, and unsettled otherwise, so that no finding
says other than the table of limits. A judge is not called good because little was measured.
"""

from collections.abc import Iterable, Iterator, Sequence

from umpirical.domain.trials import BASELINE
from umpirical.reports.numbers import measured_interval, measured_value, rate, step
from umpirical.reports.record import EstimateRecord, LimitRecord, LimitVerdict, MeasureRecord, UndefinedRecord

_SENTENCES = {
    "dark-current": (
        "It names a winner where there is nothing to compare, in {value} of cases {interval}.",
        "Where there is nothing to compare it rarely names a winner: {value} {interval}.",
    ),
    "positional-false-preference": (
        "{carriers} it names the same slot in both orders in {value} of equal pairs {interval}.",
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

# A slot that wins in both orders may win by itself, by the label that it carries, or by the place of its option. These
# are what the effects pull towards, if they are positive and if they are negative.
_CARRIERS = {
    "slot-effect": ("slot 1", "slot 2"),
    "label-effect": ("the label 1, A, X or first", "the label 2, B, Y or second"),
    "list-effect": ("the option that is named first", "the option that is named last"),
}


def find(measures: Iterable[MeasureRecord], limits: Sequence[LimitRecord]) -> list[str]:
    """Returns a sentence for each headline measure, in the order of the datasheet; arms that are probes are named."""
    measures = [measure for measure in measures if measure.stratum == ""]
    verdicts = {(limit.arm, limit.measure): limit.verdict for limit in limits if not limit.stratum}
    return [
        sentence if measure.arm == BASELINE else f"Arm {measure.arm}: {sentence}"
        for measure in measures
        for sentence in _say(measure, verdicts.get((measure.arm, measure.name)), measures)
    ]


def _say(measure: MeasureRecord, verdict: LimitVerdict | None, measures: Sequence[MeasureRecord]) -> Iterator[str]:
    if measure.name == "detection-threshold":
        yield _threshold(measure.result)
    elif measure.name in _SENTENCES:
        if isinstance(measure.result, UndefinedRecord):
            yield f"{measure.title} could not be measured: {measure.result.reason}."
            return
        if sentence := _sentence(measure, verdict):
            carriers = _carried_by([one for one in measures if one.arm == measure.arm])
            yield sentence.format(
                carriers=carriers,
                value=rate(measure.result.value),
                interval=measured_interval(measure, measure.result.interval),
            )


def _sentence(measure: MeasureRecord, verdict: LimitVerdict | None) -> str:
    high, low = _SENTENCES[measure.name]
    # A measure that is mentioned only when it is high is not reported as "not settled".
    unsettled = f"{measure.title} is not settled at this size: {{value}} {{interval}}." if low else ""
    return {"FAIL": high, "PASS": low, None: ""}.get(verdict, unsettled)


def _carried_by(measures: Sequence[MeasureRecord]) -> str:
    """Returns the beginning of a sentence about a slot that wins in both orders: what is known of the reason."""
    found = [(one, one.result) for one in measures if one.name in _CARRIERS]
    effects = [(one, result) for one, result in found if isinstance(result, EstimateRecord)]
    if len(effects) < len(_CARRIERS):
        return "Its preference follows the slot, or a label or a place in the list that goes with it:"
    pulls = sorted((-abs(result.value), _pull(one, result)) for one, result in effects if _is_told_from_none(result))
    if not pulls:
        return "Whether by the slot, the label or the list of answers is not settled, but"
    return f"Its preference follows {' and '.join(pull for _, pull in pulls)}:"


def _is_told_from_none(effect: EstimateRecord) -> bool:
    low, high = (effect.interval.low, effect.interval.high) if effect.interval else (None, None)
    return (low is not None and low > 0) or (high is not None and high < 0)


def _pull(measure: MeasureRecord, effect: EstimateRecord) -> str:
    figures = f"{measured_value(measure, effect)} {measured_interval(measure, effect.interval)}"
    return f"{_CARRIERS[measure.name][effect.value < 0]} ({measure.title.lower()} {figures})"


def _threshold(result: EstimateRecord | UndefinedRecord) -> str:
    if isinstance(result, UndefinedRecord):
        return f"The smallest difference it sees could not be measured: {result.reason}."
    if result.censoring == "left":
        return f"It sees the smallest difference that was shown, {step(result.value)} requirement, three times in four."
    if result.censoring == "right":
        return f"It does not see even a difference of {step(result.value)} requirements three times in four."
    return f"It takes a difference of about {step(result.value)} requirements to be seen three times in four."
