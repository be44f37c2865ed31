"""What the measures say: a sketch of the judge, and findings by fixed rules, in plain sentences.

Noise is not bias. What guessing explains is called inconsistent, and never a preference for a position or a wording.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

from umpirical.domain.measures import Estimate, Result, Undefined
from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.record import ProfileRecord
from umpirical.reports.numbers import measured_interval, measured_value, rate, step
from umpirical.reports.record import LimitRecord, LimitVerdict, MeasureRecord

# Sketches how a judge behaves on these stimuli. A sketch is a description; it does not sort judges into classes.
#
# The names presentation-conflicted, mixed stable-positional and vacuum-clean come from the Dark Current paper, which
# assigned them by eye. Here a rate is *high* if its whole interval lies above the limit of the policy and *low* if
# its whole interval lies at or below it; the first rule that holds names the sketch.

FEW_GRADES = 2.0
"""A judge whose effective number of grades is below this hardly grades."""

LEAN = 0.05
"""A lean to a position that is smaller than this is not called one."""

NOISY, INCONSISTENT = 0.005, 0.05
"""Shares of pairs whose verdict changes with the order: above the first it is mentioned, above the second a flaw."""

UNEVEN = 0.05
"""Correlation of the verdicts in a task family above which a judge is said to fail on some of them."""

SEEN = 0.75
"""A step counts as seen if its target sensitivity is wholly above this, as in Δ75."""


class Ends(NamedTuple):
    """The ends of an interval; as wide as possible if nothing is known, so that no rule holds by default."""

    low: float
    high: float


class Rates:
    """The intervals of one arm, and the questions that the rules ask about them."""

    def __init__(self, measures: Sequence[MeasureRecord], limits: Sequence[LimitRecord], arm: str = "") -> None:
        arms = {measure.arm for measure in measures}
        arm = arm or (BASELINE if BASELINE in arms else min(arms, default=""))
        self._found = {(m.name, m.stratum): m.result for m in measures if m.arm == arm}
        self._limits = {limit.measure: limit.value for limit in limits if not limit.stratum}

    def limit(self, name: str) -> float:
        """Returns the limit of a measure; not a number if the policy sets none, which nothing is above or below."""
        return self._limits.get(name, nan)

    def of(self, name: str, stratum: str = "") -> Ends:
        result = self._found.get((name, stratum))
        if not isinstance(result, Estimate) or result.interval is None:
            return Ends(0.0, 1.0)
        low, high = result.interval.low, result.interval.high
        return Ends(0.0 if low is None else low, 1.0 if high is None else high)

    def high(self, name: str) -> bool:
        return self.of(name).low > self.limit(name)

    def measured(self, name: str) -> bool:
        return isinstance(self._found.get((name, "")), Estimate)

    def not_high(self, name: str) -> bool:
        """Whether it was measured and is not shown to be high."""
        return self.measured(name) and not self.high(name)

    def low(self, name: str) -> bool:
        return self.of(name).high <= self.limit(name)

    # Noise is not bias. A judge that guesses names both positions equally often, and the same text in both orders as
    # often as the same position.

    def leans(self) -> bool:
        """Whether a position is shown to win by itself: in its favour by three standard errors or so, and by 5 %."""
        found = self._found.get((LEANING, ""))
        return isinstance(found, Estimate) and found.value >= LEAN and self.of(LEANING).low > found.value / 3

    def follows_order(self) -> bool:
        """Whether a position wins in both orders by itself or with the pair, and not by chance."""
        return self.leans() or not self.measured(STABLE) or self.of(POSITIONAL).low > self.of(STABLE).high

    def keeps_wording(self) -> bool:
        """Whether the same text wins in both orders more often than guessing explains."""
        if self.leans():
            return self.of("excess-stable").low > 0
        return self.of(STABLE).low > self.of(POSITIONAL).high

    def noisy(self, share: float) -> bool:
        """Whether more than this share of verdicts change with the order, and no position explains it."""
        return self.of(SWAPPED).low > share and not self.follows_order()

    def inconsistent(self) -> bool:
        """Whether so many do that it is a flaw."""
        return self.noisy(INCONSISTENT)

    def uneven(self) -> bool:
        """Whether errors are shown to come in some task families and not in others."""
        return self.measured(CLUSTERED) and self.of(CLUSTERED).low > UNEVEN


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
        "error-clustering",
        "excess-stable",
        "grade-concordance",
        "position-lean",
        "positional-false-preference",
        "raw-false-preference",
        "stable-cross-sensitivity",
        "swap-inconsistency",
        "target-sensitivity",
        "tie-rate",
    }
)
"""The measures that the rules ask about."""

STABLE, POSITIONAL, TARGET = "stable-cross-sensitivity", "positional-false-preference", "target-sensitivity"

SWAPPED, LEANING, CLUSTERED = "swap-inconsistency", "position-lean", "error-clustering"

RULES = (
    Rule(
        "slot-driven",
        "It follows the slot, its label or its place in the list, also where one answer is better.",
        "positional false preference wholly above 0.5, and target sensitivity at Δ1 not wholly above 0.5",
        lambda r: r.of(POSITIONAL).low > 0.5 and r.of(TARGET, "1").low <= 0.5,
    ),
    Rule(
        "guessing on some tasks",
        "It is right on some task families and guesses on others. It names both positions about equally often.",
        "verdicts that change with the order wholly above 0.005, no lean to a position, and errors in some task "
        "families wholly above 0.05",
        lambda r: r.noisy(NOISY) and r.uneven() and r.of(TARGET, "5").high >= SEEN,
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
        "stable cross-sensitivity and positional false preference are both high, and guessing explains neither: it "
        "leans to a position, and the same text wins more often than its position rates explain",
        lambda r: (
            r.high(STABLE) and r.high(POSITIONAL) and (not r.measured(LEANING) or (r.leans() and r.keeps_wording()))
        ),
    ),
    Rule(
        "inconsistent",
        "Its verdict often changes when the two answers are swapped, and it names both positions about equally often: "
        "that is noise, not position bias.",
        "verdicts that change with the order wholly above 0.05, and neither a position nor a wording explains it",
        lambda r: r.inconsistent() and not r.keeps_wording(),
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


# Findings: first what is wrong with the judge, then the rest.


BLIND, DARK, LENGTH = "task-blind-preference", "dark-current", "length-preference"

FLAWS = {
    "unparsed-rate": (
        "Many of its answers are not on its scale: {value} {interval}. They are counted, and are no verdicts."
    ),
    "failure-rate": "Many calls brought no answer: {value} {interval}. They are counted, and are no verdicts.",
    "tie-rate": "It calls a tie even at the largest differences, in {value} of calls {interval}.",
    POSITIONAL: "{carriers} it names the same slot in both orders in {value} of equal pairs {interval}.",
    LEANING: "It names one position more often than the other, by {value} of calls {interval}.",
    LENGTH: "It prefers the longer of two answers with the same content, by {value} of calls {interval}.",
    BLIND: "It prefers the same answer whatever the task asks for, in {value} of quads {interval}.",
    CLUSTERED: (
        "It is right on some task families and fails on others: its verdicts within a family correlate by {value} "
        "{interval}, where errors that fall anywhere would give 0."
    ),
    SWAPPED: (
        "{inconsistent} the two answers are swapped, its verdict changes in {value} of pairs {interval}. It names both "
        "positions about equally often, so this is noise and not position bias."
    ),
    STABLE: "It keeps to one wording over another of equal quality in {value} of pairs {interval}.",
    DARK: "It names a winner where there is nothing to compare, in {value} of cases {interval}.",
}
"""What is said of a measure that shows a flaw, in the order in which flaws are named."""

FLIPS = "Asked the same question again, it gives another verdict in {value} of cases {interval}."

PRAISE = {
    DARK: "Where there is nothing to compare it rarely names a winner: {value} {interval}.",
    POSITIONAL: "It rarely follows the slot: {value} of equal pairs {interval}.",
    STABLE: "It rarely keeps to one wording over another of equal quality: {value} of pairs {interval}.",
    BLIND: "It rarely prefers the same answer whatever the task asks for: {value} of quads {interval}.",
}
"""What is said of a measure that is within its limit."""

# A slot that wins in both orders may win by itself, by the label that it carries, or by the place of its option. These
# are what the effects pull towards, if they are positive and if they are negative.
_CARRIERS = {
    "slot-effect": ("slot 1", "slot 2"),
    "label-effect": ("the label 1, A, X or first", "the label 2, B, Y or second"),
    "list-effect": ("the option that is named first", "the option that is named last"),
}


LARGE_LEAN = 0.5
"""A judge that leans further to a position, or ties more often, hardly can keep to a text. That is no praise."""

LONGER = 0.05
"""A preference for the longer answer that is not shown to be more than this, and than a third of its value (that is
three standard errors or so from 0), is not called one."""


def find(measures: Iterable[MeasureRecord], limits: Sequence[LimitRecord]) -> list[str]:
    """Returns what is wrong, the gravest first, then what is not; arms that are probes are named."""
    every = list(measures)
    verdicts = {(limit.arm, limit.measure): limit.verdict for limit in limits if not limit.stratum}
    return [
        sentence if arm == BASELINE else f"Arm {arm}: {sentence}"
        for arm in dict.fromkeys(measure.arm for measure in every)
        for sentence in _Findings.of(every, limits, verdicts, arm).sentences()
    ]


@dataclass(frozen=True, slots=True)
class _Findings:
    """What is known of one arm."""

    rates: Rates
    whole: Mapping[str, MeasureRecord]
    """The measures over the whole design, by name; of the tie rate, that at the largest step."""
    verdicts: Mapping[str, LimitVerdict]

    @classmethod
    def of(
        cls,
        measures: Sequence[MeasureRecord],
        limits: Sequence[LimitRecord],
        verdicts: Mapping[tuple[str, str], LimitVerdict],
        arm: str,
    ) -> "_Findings":
        own = [measure for measure in measures if measure.arm == arm]
        ties = [measure for measure in own if measure.name == "tie-rate" and measure.stratum not in {"", "0"}]
        whole = {
            measure.name: measure for measure in own if measure.stratum == "" and not getattr(measure, "group", "")
        }
        if ties:
            whole["tie-rate"] = max(ties, key=lambda measure: float(measure.stratum))
        return cls(Rates(measures, limits, arm), whole, {name: v for (of, name), v in verdicts.items() if of == arm})

    def sentences(self) -> Iterator[str]:
        for name, words in FLAWS.items():
            if name in self.whole and self._is_flaw(name):
                yield self._said(words, name)
        if isinstance(getattr(self.whole.get("flip-rate"), "result", None), Estimate):
            yield self._said(FLIPS, "flip-rate")
        for name, measure in self.whole.items():
            yield from self._rest(name, measure)

    def _is_flaw(self, name: str) -> bool:
        rates, failed = self.rates, self.verdicts.get(name) == "FAIL"
        rules: dict[str, Callable[[], bool]] = {
            "tie-rate": self._ties,
            POSITIONAL: lambda: failed and rates.follows_order(),
            LEANING: lambda: rates.leans() and not self._is_flaw(POSITIONAL),
            LENGTH: self._likes_length,
            CLUSTERED: rates.uneven,
            SWAPPED: lambda: rates.noisy(NOISY),
            STABLE: lambda: failed and rates.keeps_wording(),
        }
        return rules[name]() if name in rules else failed

    def _likes_length(self) -> bool:
        found = self.whole[LENGTH].result
        least = max(LONGER, found.value / 3) if isinstance(found, Estimate) else LONGER
        return self.rates.measured(LENGTH) and self.rates.of(LENGTH).low > least

    def _ties(self) -> bool:
        found = self.whole["tie-rate"].result if "tie-rate" in self.whole else None
        low = found.interval.low if isinstance(found, Estimate) and found.interval else None
        return low is not None and low > LARGE_LEAN

    def _rest(self, name: str, measure: MeasureRecord) -> Iterator[str]:
        """Yields what is said of a measure that shows no flaw."""
        if name == "detection-threshold":
            yield _threshold(measure.result)
        elif name in FLAWS and isinstance(measure.result, Undefined) and (name in PRAISE or name.endswith("-rate")):
            if name != "tie-rate":
                yield f"{measure.title} could not be measured: {measure.result.reason}."
        elif name in PRAISE and not self._is_flaw(name) and not self._is_idle(name):
            unsettled = "{title} is not settled at this size: {value} {interval}."
            words = {"PASS": PRAISE[name], "INCONCLUSIVE": unsettled, "N/A": unsettled}.get(self.verdicts.get(name, ""))
            if words:
                yield self._said(words, name)

    def _is_idle(self, name: str) -> bool:
        """Whether a judge like this one cannot fail on a measure, or its noise says all that there is to say."""
        locked = self.rates.measured(LEANING) and self.rates.of(LEANING).low > LARGE_LEAN
        if name == POSITIONAL:
            return self.rates.leans() or (self.rates.inconsistent() and self.verdicts.get(name) != "PASS")
        if name == STABLE and self.rates.inconsistent() and self.verdicts.get(name) != "PASS":
            return True
        return self._ties() or (locked and name != DARK)

    def _said(self, words: str, name: str) -> str:
        measure = self.whole[name]
        result = measure.result
        if isinstance(result, Undefined):
            return f"{measure.title} could not be measured: {result.reason}."
        return words.format(
            title=measure.title,
            carriers=_carried_by(list(self.whole.values())),
            inconsistent="It is inconsistent: when" if self.rates.inconsistent() else "When",
            value=rate(result.value),
            interval=measured_interval(measure, result.interval),
        )


def _carried_by(measures: Sequence[MeasureRecord]) -> str:
    """Returns the beginning of a sentence about a slot that wins in both orders: what is known of the reason."""
    found = [(one, one.result) for one in measures if one.name in _CARRIERS]
    effects = [(one, result) for one, result in found if isinstance(result, Estimate)]
    if len(effects) < len(_CARRIERS):
        return "Its preference follows the slot, or a label or a place in the list that goes with it:"
    pulls = sorted((-abs(result.value), _pull(one, result)) for one, result in effects if _is_told_from_none(result))
    if not pulls:
        return "Whether by the slot, the label or the list of answers is not settled, but"
    return f"Its preference follows {' and '.join(pull for _, pull in pulls)}:"


def _is_told_from_none(effect: Estimate) -> bool:
    low, high = (effect.interval.low, effect.interval.high) if effect.interval else (None, None)
    return (low is not None and low > 0) or (high is not None and high < 0)


def _pull(measure: MeasureRecord, effect: Estimate) -> str:
    figures = f"{measured_value(measure, effect)} {measured_interval(measure, effect.interval)}"
    return f"{_CARRIERS[measure.name][effect.value < 0]} ({measure.title.lower()} {figures})"


def _threshold(result: Result) -> str:
    if isinstance(result, Undefined):
        return f"The smallest difference it sees could not be measured: {result.reason}."
    if result.censoring == "left":
        return f"It sees the smallest difference that was shown, {step(result.value)} requirement, three times in four."
    if result.censoring == "right":
        return f"It does not see even a difference of {step(result.value)} requirements three times in four."
    return f"It takes a difference of about {step(result.value)} requirements to be seen three times in four."
