"""Sketches how a judge behaves on these stimuli. A sketch is a description; it does not sort judges into classes.

The names presentation-conflicted, mixed stable-positional and vacuum-clean come from the Dark Current paper,
which assigned them by eye. Here a rate is *high* if its whole interval lies above the limit of the policy and *low* if
its whole interval lies at or below it; the first rule that holds names the sketch.
"""

from collections.abc import Callable, Sequence
from math import nan
from typing import NamedTuple

from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.record import ProfileRecord
from umpirical.reports.record import EstimateRecord, LimitRecord, MeasureRecord

FEW_GRADES = 2.0
"""A judge whose effective number of grades is below this hardly grades."""

SEEN = 0.75
"""A step counts as seen if its target sensitivity is wholly above this, as in Δ75."""


class Ends(NamedTuple):
    """The ends of an interval; as wide as possible if nothing is known, so that no rule holds by default."""

    low: float
    high: float


class Rates:
    """The intervals of one arm, and the questions that the rules ask about them."""

    def __init__(self, measures: Sequence[MeasureRecord], limits: Sequence[LimitRecord]) -> None:
        arms = {measure.arm for measure in measures}
        arm = BASELINE if BASELINE in arms else min(arms, default="")
        self._found = {(m.name, m.stratum): m.result for m in measures if m.arm == arm}
        self._limits = {limit.measure: limit.value for limit in limits if not limit.stratum}

    def limit(self, name: str) -> float:
        """Returns the limit of a measure; not a number if the policy sets none, which nothing is above or below."""
        return self._limits.get(name, nan)

    def of(self, name: str, stratum: str = "") -> Ends:
        result = self._found.get((name, stratum))
        if not isinstance(result, EstimateRecord) or result.interval is None:
            return Ends(0.0, 1.0)
        low, high = result.interval.low, result.interval.high
        return Ends(0.0 if low is None else low, 1.0 if high is None else high)

    def high(self, name: str) -> bool:
        return self.of(name).low > self.limit(name)

    def measured(self, name: str) -> bool:
        return isinstance(self._found.get((name, "")), EstimateRecord)

    def not_high(self, name: str) -> bool:
        """Whether it was measured and is not shown to be high."""
        return self.measured(name) and not self.high(name)

    def low(self, name: str) -> bool:
        return self.of(name).high <= self.limit(name)


class Rule(NamedTuple):
    """A sketch and the condition under which it applies."""

    name: str
    description: str
    rule: str
    holds: Callable[[Rates], bool]


SKETCHED = frozenset(
    {
        "dark-current",
        "effective-grades",
        "grade-concordance",
        "positional-false-preference",
        "raw-false-preference",
        "stable-cross-sensitivity",
        "target-sensitivity",
        "tie-rate",
    }
)
"""The measures that the rules ask about."""

STABLE, POSITIONAL, TARGET = "stable-cross-sensitivity", "positional-false-preference", "target-sensitivity"

RULES = (
    Rule(
        "slot-driven",
        "It follows the slot, its label or its place in the list, also where one answer is better.",
        "positional false preference wholly above 0.5, and target sensitivity at Δ1 not wholly above 0.5",
        lambda r: r.of(POSITIONAL).low > 0.5 and r.of(TARGET, "1").low <= 0.5,
    ),
    Rule(
        "target-blind",
        "It does not see even the largest difference, whatever else it does.",
        "target sensitivity at Δ5 wholly below 0.75",
        lambda r: r.of(TARGET, "5").high < SEEN,
    ),
    Rule(
        "presentation-conflicted",
        "Between equal answers it names winners, and which one depends on the order they are shown in.",
        "positional false preference is high, and wholly above stable cross-sensitivity",
        lambda r: r.high(POSITIONAL) and r.of(POSITIONAL).low > r.of(STABLE).high,
    ),
    Rule(
        "surface-driven",
        "Between equal answers it keeps to one wording, in whichever order they are shown.",
        "stable cross-sensitivity is high, and wholly above positional false preference",
        lambda r: r.high(STABLE) and r.of(STABLE).low > r.of(POSITIONAL).high,
    ),
    Rule(
        "mixed stable-positional",
        "Between equal answers it names winners, partly by their wording and partly by their slot.",
        "stable cross-sensitivity and positional false preference are both high",
        lambda r: r.high(STABLE) and r.high(POSITIONAL),
    ),
    Rule(
        "conservative",
        "It ties on equal answers, and on small differences too.",
        "raw false preference is low, and the tie rate at Δ1 wholly above 0.25",
        lambda r: r.low("raw-false-preference") and r.of("tie-rate", "1").low > 0.25,
    ),
    Rule(
        "one grade for most",
        "It gives the same grade to most answers, good and bad.",
        "effective number of grades wholly below 2",
        lambda r: r.measured("effective-grades") and r.of("effective-grades").high < FEW_GRADES,
    ),
    Rule(
        "vacuum-clean and concordant",
        "It gives a blank the least grade, and the better of two answers more.",
        "dark current is low, and grade concordance wholly above 0.9",
        lambda r: r.low("dark-current") and r.of("grade-concordance").low > r.limit("grade-concordance"),
    ),
    Rule(
        "vacuum-clean and target-sensitive",
        "It names no winner where there is nothing to compare, sees a difference of one requirement, and neither slot "
        "nor wording is shown to sway it.",
        "dark current is low, target sensitivity at Δ1 wholly above 0.75, stable cross-sensitivity and positional "
        "false preference measured and not high",
        lambda r: (
            r.low("dark-current") and r.of(TARGET, "1").low > SEEN and r.not_high(STABLE) and r.not_high(POSITIONAL)
        ),
    ),
)


def sketch(measures: Sequence[MeasureRecord], limits: Sequence[LimitRecord]) -> ProfileRecord:
    """Returns the sketch for the judge's own prompt; `limits` are those of the policy."""
    rates = Rates(measures, limits)
    for rule in RULES:
        if rule.holds(rates):
            return ProfileRecord(name=rule.name, description=f"{rule.description}{_vacuum(rates)}", rule=rule.rule)
    return ProfileRecord(
        name="not sketched",
        description=f"The intervals meet none of the rules; that is no verdict.{_vacuum(rates)}",
        rule="no rule holds",
    )


def _vacuum(rates: Rates) -> str:
    if rates.high("dark-current"):
        return " Its dark current is high."
    return " It is vacuum-clean." if rates.low("dark-current") else ""
