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
from umpirical.reports.numbers import measured, step, units
from umpirical.reports.record import CheckRecord, CheckVerdict, MeasureRecord

# Sketches how a judge behaves on these stimuli. A sketch is a description; it does not sort judges into classes.
#
# The names presentation-conflicted, mixed stable-positional and vacuum-clean come from the Dark Current paper, which
# assigned them by eye. Here a rate is *high* if its whole interval lies above the threshold of the policy and *low* if
# its whole interval lies at or below it; the first rule that holds names the sketch.

FEW_GRADES = 2.0
"""A judge whose effective number of grades is below this hardly grades."""

LEAN = 0.05
"""A lean to a position that is smaller than this is not called one."""

NOISY, INCONSISTENT = 0.005, 0.05
"""Shares of pairs whose verdict changes with the order: above the first it is mentioned, above the second a flaw."""

UNEVEN = 0.05
"""Correlation of the verdicts in a task family above which a judge is said to fail on some of them."""

FINE = "fine-sensitivity"
COMPLEXITY = "complexity-shift"

SEEN = 0.75
"""A step counts as seen if its target sensitivity is wholly above this, as in Δ75."""


class Ends(NamedTuple):
    """The ends of an interval; as wide as possible if nothing is known, so that no rule holds by default."""

    low: float
    high: float


class Rates:
    """The intervals of one variant, and the questions that the rules ask about them."""

    def __init__(self, measures: Sequence[MeasureRecord], checks: Sequence[CheckRecord], variant: str = "") -> None:
        variants = {measure.variant for measure in measures}
        variant = variant or (BASELINE if BASELINE in variants else min(variants, default=""))
        self._found = {(m.name, m.stratum): m.result for m in measures if m.variant == variant}
        self._checks = {check.measure: check.value for check in checks if not check.stratum}

    def check(self, name: str) -> float:
        """Returns the check of a measure; not a number if the policy sets none, which nothing is above or below."""
        return self._checks.get(name, nan)

    def of(self, name: str, stratum: str = "") -> Ends:
        result = self._found.get((name, stratum))
        if not isinstance(result, Estimate) or result.interval is None:
            return Ends(0.0, 1.0)
        low, high = result.interval.low, result.interval.high
        return Ends(0.0 if low is None else low, 1.0 if high is None else high)

    def high(self, name: str) -> bool:
        return self.of(name).low > self.check(name)

    def measured(self, name: str) -> bool:
        return isinstance(self._found.get((name, "")), Estimate)

    def not_high(self, name: str) -> bool:
        """Whether it was measured and is not shown to be high."""
        return self.measured(name) and not self.high(name)

    def low(self, name: str) -> bool:
        return self.of(name).high <= self.check(name)

    def missed(self, fine: MeasureRecord) -> Iterator[tuple[str, str]]:
        """Yields the kinds of details that it gets wrong more often than the rest: their intervals do not overlap."""
        for (name, kind), result in self._found.items():
            missed = name == FINE and kind.isalpha() and self.of(FINE, kind).high < self.of(FINE).low
            if missed and isinstance(result, Estimate):
                yield kind, measured(fine, result)

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
        "It follows the position, its label or its place in the list, even if one answer is better.",
        "position bias entirely above 50%, and accuracy at a 1-requirement difference not entirely above 50%",
        lambda r: r.of(POSITIONAL).low > 0.5 and r.of(TARGET, "1").low <= 0.5,
    ),
    Rule(
        "guessing on some tasks",
        "It is right on some task families and guesses on others. It names both positions about equally often.",
        "verdicts that change with the order entirely above 0.5%, no lean to one position, and errors in some task "
        "families entirely above 0.05",
        lambda r: r.noisy(NOISY) and r.uneven() and r.of(TARGET, "5").high >= SEEN,
    ),
    Rule(
        "target-blind",
        "It does not see even the largest difference.",
        "accuracy at a 5-requirement difference entirely below 75%",
        lambda r: r.of(TARGET, "5").high < SEEN,
    ),
    Rule(
        "presentation-conflicted",
        "Between equally good answers it names a winner, and the winner depends on their order.",
        "position bias is high, and entirely above wording bias",
        lambda r: r.high(POSITIONAL) and r.of(POSITIONAL).low > r.of(STABLE).high,
    ),
    Rule(
        "surface-driven",
        "Between equally good answers it prefers one wording, in either order.",
        "wording bias is high, and entirely above position bias",
        lambda r: r.high(STABLE) and r.of(STABLE).low > r.of(POSITIONAL).high,
    ),
    Rule(
        "mixed stable-positional",
        "Between equally good answers it names a winner, partly by wording and partly by position.",
        "wording bias and position bias are both high, and guessing does not explain them: it leans to one position, "
        "and the same text wins more often than the position rates explain",
        lambda r: (
            r.high(STABLE) and r.high(POSITIONAL) and (not r.measured(LEANING) or (r.leans() and r.keeps_wording()))
        ),
    ),
    Rule(
        "inconsistent",
        "Its verdict often changes when the two answers are swapped, but it names both positions about equally often. "
        "This is noise, not position bias.",
        "verdicts that change with the order entirely above 5%, and no position or wording explains it",
        lambda r: r.inconsistent() and not r.keeps_wording(),
    ),
    Rule(
        "conservative",
        "It calls a tie between equally good answers, and also at small differences.",
        "false preference is low, and the tie rate at a 1-requirement difference is entirely above 25%",
        lambda r: r.low("raw-false-preference") and r.of("tie-rate", "1").low > 0.25,
    ),
    Rule(
        "one grade for most",
        "It gives most answers the same grade, good and bad.",
        "effective number of grades entirely below 2",
        lambda r: r.measured("effective-grades") and r.of("effective-grades").high < FEW_GRADES,
    ),
    Rule(
        "vacuum-clean and concordant",
        "It gives blank answers the lowest grade, and better answers a higher grade.",
        "blank-input preference is low, and grade concordance entirely above 90%",
        lambda r: r.low("dark-current") and r.of("grade-concordance").low > r.check("grade-concordance"),
    ),
    Rule(
        "vacuum-clean and target-sensitive",
        "It names no winner between blank answers and sees a 1-requirement difference. It shows no position bias or "
        "wording bias.",
        "blank-input preference is low, accuracy at a 1-requirement difference is entirely above 75%, and wording bias "
        "and position bias are measured and not high",
        lambda r: (
            r.low("dark-current") and r.of(TARGET, "1").low > SEEN and r.not_high(STABLE) and r.not_high(POSITIONAL)
        ),
    ),
)


def sketch(measures: Sequence[MeasureRecord], checks: Sequence[CheckRecord]) -> ProfileRecord:
    """Returns the sketch for the judge's own prompt; `checks` are those of the policy."""
    rates = Rates(measures, checks)
    for rule in RULES:
        if rule.holds(rates):
            return ProfileRecord(name=rule.name, description=f"{rule.description}{_vacuum(rates)}", rule=rule.rule)
    return ProfileRecord(
        name="not sketched",
        description=f"No rule applies to its intervals. This is not a verdict.{_vacuum(rates)}",
        rule="none applies",
    )


def _vacuum(rates: Rates) -> str:
    if rates.high("dark-current"):
        return " Its blank-input preference (dark current) is high."
    return " It rarely prefers a blank answer." if rates.low("dark-current") else ""


# Findings: first what is wrong with the judge, then the rest.


BLIND, DARK, LENGTH = "task-blind-preference", "dark-current", "length-preference"

FOLLOWING = "task-following"

FLAWS = {
    "unparsed-rate": "Many of its replies cannot be used: {found}. They do not count as verdicts.",
    "failure-rate": "Many calls failed: {found}. They do not count as verdicts.",
    "tie-rate": "It calls a tie even at the largest differences, in {found} of calls.",
    POSITIONAL: "{carriers} it picks the same position in both orders in {found} of equally good pairs.",
    LEANING: "It names one position more often than the other. The difference is {found} of calls.",
    LENGTH: "It prefers the longer of two answers with the same content, by {found}.",
    BLIND: "It prefers the same answer no matter what the task asks, in {found} of crossed pairs.",
    CLUSTERED: (
        "It is right on some task families and fails on others. Its verdicts within a family correlate by {found}; "
        "evenly spread errors would give 0."
    ),
    SWAPPED: (
        "{inconsistent} the two answers are swapped, its verdict changes in {found} of pairs. It names both positions "
        "about equally often, so this is noise, not position bias."
    ),
    STABLE: "It prefers one wording over another of equal quality, in {found} of pairs.",
    DARK: "It names a winner between blank or identical answers, in {found} of cases.",
}
"""What is said of a measure that shows a flaw, in the order in which flaws are named."""

FLIPS = "Asked the same question again, it changes its verdict in {found} of cases."

PRAISE = {
    DARK: "It rarely names a winner between blank or identical answers: {found} of cases.",
    POSITIONAL: "It shows little position bias: {found} of equally good pairs.",
    STABLE: "It shows little wording bias: {found} of equally good pairs.",
    BLIND: "It almost never ignores the task in favor of one answer: {found} of crossed pairs.",
}
"""What is said of a measure that passes its check."""

# A position that wins in both orders may win by itself, by its label, or by the place of its option. These
# are what the effects pull towards, if they are positive and if they are negative.
_CARRIERS = {
    "slot-effect": ("the first position", "the second position"),
    "label-effect": ("the label 1, A, X or first", "the label 2, B, Y or second"),
    "list-effect": ("the option listed first", "the option listed last"),
}


LARGE_LEAN = 0.5
"""A judge that leans further to a position, or ties more often, can hardly prefer a text. That is not praise."""

LONGER = 0.05
"""A preference for the longer answer that is not shown to be more than this, and than a third of its value (that is
three standard errors or so from 0), is not called one."""


def find(measures: Iterable[MeasureRecord], checks: Sequence[CheckRecord]) -> list[str]:
    """Returns what is wrong, the worst first, then what is not. Prompt variants other than the baseline are named."""
    every = list(measures)
    verdicts = {
        (check.variant, check.measure): check.verdict
        for check in checks
        if not check.stratum or check.measure == FOLLOWING
    }
    return [
        sentence if variant == BASELINE else f"Prompt variant {variant}: {sentence}"
        for variant in dict.fromkeys(measure.variant for measure in every)
        for sentence in _Findings.of(every, checks, verdicts, variant).sentences()
    ]


@dataclass(frozen=True, slots=True)
class _Findings:
    """What is known of one variant."""

    rates: Rates
    whole: Mapping[str, MeasureRecord]
    """The measures over the whole design, by name; of the tie rate, that at the largest step."""
    verdicts: Mapping[str, CheckVerdict]

    @classmethod
    def of(
        cls,
        measures: Sequence[MeasureRecord],
        checks: Sequence[CheckRecord],
        verdicts: Mapping[tuple[str, str], CheckVerdict],
        variant: str,
    ) -> "_Findings":
        # Another prompt is asked about less, and nothing is said of the rest.
        own = [m for m in measures if m.variant == variant and (variant == BASELINE or isinstance(m.result, Estimate))]
        ties = [measure for measure in own if measure.name == "tie-rate" and measure.stratum not in {"", "0"}]
        whole = {
            measure.name: measure for measure in own if measure.stratum == "" and not getattr(measure, "group", "")
        }
        if ties:
            whole["tie-rate"] = max(ties, key=lambda measure: float(measure.stratum))
        whole |= {measure.name: measure for measure in own if (measure.name, measure.stratum) == (COMPLEXITY, "1")}
        return cls(
            Rates(measures, checks, variant), whole, {name: v for (of, name), v in verdicts.items() if of == variant}
        )

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
        elif name == FINE and isinstance(measure.result, Estimate):
            missed = "".join(f"; where {kind} are wrong, in {found}" for kind, found in self.rates.missed(measure))
            said = f"{measured(measure, measure.result)} of calls{missed}"
            yield f"Of two long answers whose details have to be worked out, it picks the better one in {said}."
        elif name == COMPLEXITY and isinstance(measure.result, Estimate):
            yield _complexity(measure, measure.result)
        elif name in FLAWS and isinstance(measure.result, Undefined) and (name in PRAISE or name.endswith("-rate")):
            if name != "tie-rate":
                yield f"{measure.title} was not measured: {measure.result.reason}."
        elif name in PRAISE and not self._is_flaw(name) and not self._is_idle(name):
            unsettled = "{title} is inconclusive at this size: {found}."
            words = {"PASS": PRAISE[name], "INCONCLUSIVE": unsettled, "N/A": unsettled}.get(self.verdicts.get(name, ""))
            if words:
                yield self._said(words, name)

    def _is_idle(self, name: str) -> bool:
        """Whether a judge like this one cannot fail on a measure, or its noise explains it."""
        locked = self.rates.measured(LEANING) and self.rates.of(LEANING).low > LARGE_LEAN
        if name == POSITIONAL:
            return self.rates.leans() or (self.rates.inconsistent() and self.verdicts.get(name) != "PASS")
        if name == STABLE and self.rates.inconsistent() and self.verdicts.get(name) != "PASS":
            return True
        if name == BLIND and self.verdicts.get(FOLLOWING, "PASS") != "PASS":
            return True
        return self._ties() or (locked and name != DARK)

    def _said(self, words: str, name: str) -> str:
        measure = self.whole[name]
        result = measure.result
        if isinstance(result, Undefined):
            return f"{measure.title} was not measured: {result.reason}."
        return words.format(
            title=measure.title,
            carriers=_carried_by(list(self.whole.values())),
            inconsistent="It is inconsistent: when" if self.rates.inconsistent() else "When",
            found=measured(measure, result),
        )


def _carried_by(measures: Sequence[MeasureRecord]) -> str:
    """Returns the beginning of a sentence about a position that wins in both orders: what is known of the reason."""
    found = [(one, one.result) for one in measures if one.name in _CARRIERS]
    effects = [(one, result) for one, result in found if isinstance(result, Estimate)]
    if len(effects) < len(_CARRIERS):
        return "It follows the position, or the label or list place that goes with it:"
    pulls = sorted((-abs(result.value), _pull(one, result)) for one, result in effects if _is_told_from_none(result))
    if not pulls:
        return "Whether position, label or list order causes it is inconclusive, but"
    return f"It follows {' and '.join(pull for _, pull in pulls)}:"


def _is_told_from_none(effect: Estimate) -> bool:
    low, high = (effect.interval.low, effect.interval.high) if effect.interval else (None, None)
    return (low is not None and low > 0) or (high is not None and high < 0)


def _pull(measure: MeasureRecord, effect: Estimate) -> str:
    return f"{_CARRIERS[measure.name][effect.value < 0]} ({measure.title.lower()} {measured(measure, effect)})"


def _complexity(measure: MeasureRecord, shift: Estimate) -> str:
    found = f"{measured(measure, shift)} at a 1-requirement difference"
    if not _is_told_from_none(shift):
        return f"No effect of prompt length on accuracy is shown: {found}, compared with the short prompt."
    how = "more" if shift.value > 0 else "less"
    return f"Guidelines and an example make it {how} accurate than a short prompt: {found}."


def _threshold(result: Result) -> str:
    if isinstance(result, Undefined):
        return f"The smallest difference it sees was not measured: {result.reason}."
    size = f"{step(result.value)} {units('requirement', result.value)}"
    if result.censoring == "left":
        return f"Even at the smallest difference tested ({size}), it picks the better answer at least 75% of the time."
    if result.censoring == "right":
        least = step(result.value)
        return f"Even at a {least}-requirement difference, it picks the better answer less than 75% of the time."
    return f"It picks the better answer 75% of the time once the answers differ by about {size}."
