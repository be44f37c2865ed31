"""The checks of stress tests, with the reason for each.

They are a policy: the shipped one is a file, and a user's own says what differs. The margin is a setting of the study.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, model_validator

from umpirical.domain.errors import ConfigError
from umpirical.domain.measures import Estimate, Interval
from umpirical.domain.scales import ScaleKind
from umpirical.measures.catalogue import MEASURES
from umpirical.reports import numbers
from umpirical.reports.checks import Levels
from umpirical.reports.policy import Check, NamedPolicy, Shelf, look_share, merged, refuse_unknown
from umpirical.reports.record import MeasureRecord, Strict
from umpirical.store.yaml_files import YamlDocument

MARGIN = 0.05
"""The default margin: a rate for changes, a share of the scale's range for shifts."""

TestKind = Literal["same-verdict", "flipped-verdict", "repeats", "given-label", "original"]
"""What a test asks of the judge: to keep its verdict, to change it, to answer the same again, to give new texts their
label, and to give the user's own texts theirs."""


class ScaleRecord(Strict):
    """The scale of the judge's answers."""

    kind: ScaleKind
    labels: list[str] = Field(default=[])
    range: float | None = Field(description="Steps from the lowest to the highest grade; null if unordered.")


class StressCheck(Strict):
    """One check on one measure, for every test of a kind."""

    measure: str = Field(description="The measure's name, as in docs/measures.md.")
    at: TestKind | Literal[""] = Field(default="", description="The kind of test. Default: all calls together.")
    at_most: float | None = Field(default=None, description="Maximum allowed value.")
    at_least: float | None = Field(default=None, description="Minimum allowed value.")
    within: float | None = Field(default=None, gt=0, description="Largest allowed value, up or down.")
    unit: Literal["", "margin", "margin of the range"] = Field(
        default="",
        description="Unit of the value: the measure itself, margins, or margins times the range of the scale.",
    )
    instead: str = Field(default="", description="Measure to check instead if this one is undefined.")
    why: str = Field(default="", description="The reason for the value, as printed on the page.")

    @model_validator(mode="after")
    def _one_value(self) -> "StressCheck":
        if sum(value is not None for value in (self.at_most, self.at_least, self.within)) != 1:
            raise ValueError(f"{self.measure} needs one of at_most, at_least and within")
        if not self.at and (self.at_most is None or self.unit):
            raise ValueError(f"{self.measure}: a check on all calls together takes at_most and no unit")
        return self

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The least and the most that is allowed, in the check's unit."""
        return (-self.within, self.within) if self.within is not None else (self.at_least, self.at_most)

    @property
    def of_range(self) -> bool:
        """Whether the value is a share of the scale's range; a scale without order then has no check."""
        return self.unit == "margin of the range"


class StressPolicy(NamedPolicy):
    """The checks for every kind of test."""

    policy: str = Field(min_length=1, description="Name of the policy.")
    about: str = Field(default="", description="Intended use.")
    accepts: float = Field(
        default=0.05, gt=0, lt=0.5, description="Maximum share of judges exactly at a threshold that are accepted."
    )
    refuses: float = Field(
        default=0.05, gt=0, lt=0.5, description="Maximum share of judges within every threshold that are rejected."
    )
    look: int = Field(
        default=1, ge=1, description="1 for a first run, more for a follow-up. They share the error rates."
    )
    checks: tuple[StressCheck, ...] = Field(description="Checks. Your own file lists only those that differ.")

    def levels(self, checks: int) -> Levels:
        """Returns how often one of so many checks may err.

        All of them have to pass, so each may pass in error as often as the whole decision. One of them refuses, so they
        share the error of refusing.
        """
        share = look_share(self.look)
        return Levels(self.accepts * share, self.refuses * share / max(1, checks))

    @property
    def answers(self) -> list[Check]:
        """The checks on answers that are no verdict: unreadable ones, and failed calls."""
        return [Check(measure=one.measure, at_most=one.at_most) for one in self.checks if not one.at]


class StressShelf(Shelf[StressPolicy]):
    """Policies that say how they differ from the shipped one."""

    file = StressPolicy

    def resolved(self, document: YamlDocument) -> StressPolicy:
        own: Any = document.data
        entries = own.get("checks", []) if isinstance(own, dict) else None
        if not isinstance(entries, list) or not all(isinstance(one, dict) and "measure" in one for one in entries):
            return StressPolicy.model_validate(own)
        base = {_key(one): dict(one) for one in self.shipped(self.names[0]).data["checks"]}
        for one in entries:
            if one.get("omit") is True and base.pop(_key(one), None) is None:
                raise ConfigError(f"cannot omit {one['measure']}: the policy does not contain it", where=document.name)
        kept = [(_key(one), dict(one)) for one in entries if one.get("omit") is not True]
        checks = merged(base, kept, sides=frozenset({"at_most", "at_least", "within", "unit"}))
        return StressPolicy.model_validate({**own, "checks": list(checks.values())})

    def refuse_unknown(self, document: YamlDocument) -> None:
        refuse_unknown((one["measure"] for one in document.data.get("checks", ())), document)


def _key(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["measure"], entry.get("at", "")


SHELF = StressShelf("umpirical.protocols.stress", "stress", of="stress tests")

NO_THRESHOLD = "the policy sets no threshold"

NO_MORE = "more items would not make it conclusive"

NO_LABELS = "correctness was not measured because the data has no labels"

NO_CHECK = "correctness was not checked because the policy sets no threshold for agreement with the labels"

RULES = (
    "A test passes if the whole interval of each of its measures meets the threshold. It fails if the whole interval "
    "of any measure misses it. Otherwise it is INCONCLUSIVE. Items without a verdict are excluded but cannot help: a "
    "test passes only if it still would with all of them counted against the judge. A test that was not measured or "
    "has no threshold is N/A, which never counts as a pass."
)

ANY_DIFFERENCE = (
    "On an interval scale, any difference counts as a changed verdict, however small. The shift shows how far grades "
    "move."
)


@dataclass(frozen=True, slots=True)
class Allowed:
    """A check in the unit of its measure."""

    check: StressCheck
    least: float | None
    most: float | None


def allowed(
    kind: TestKind, *, margin: float, scale: ScaleRecord, policy: StressPolicy | None = None
) -> tuple[Allowed, ...]:
    """Returns the checks on a kind of test; empty if none is set. The default is the shipped policy."""
    held = []
    for check in (policy or SHELF.preset()).checks:
        if check.at != kind or (check.of_range and scale.range is None):
            continue
        unit = margin if check.unit else 1.0
        unit *= scale.range if check.of_range and scale.range is not None else 1.0
        held.append(Allowed(check, *(None if end is None else end * unit for end in check.ends)))
    return tuple(held)


def check_words(held: Allowed) -> str:
    return allowed_words(held.check.measure, held.least, held.most)


def policy_words(*, margin: float, scale: ScaleRecord, policy: StressPolicy | None = None) -> list[str]:
    """Returns the rules and checks as printed on the page."""
    kinds: dict[TestKind, str] = {
        "same-verdict": "Verdict should stay the same",
        "flipped-verdict": "Verdict should change",
        "repeats": "Repeated requests",
        "given-label": "New texts",
        "original": "Agreement with labels",
    }
    words = [RULES]
    for kind, title in kinds.items():
        words += [
            f"{title}: {_measure_words(one.check)}, {check_words(one)}. {one.check.why}".rstrip()
            for one in allowed(kind, margin=margin, scale=scale, policy=policy)
        ]
    if scale.range is None:
        words.append("On an unordered scale, grades cannot shift up or down, so only changes are checked.")
    if scale.kind == "interval":
        words.append(ANY_DIFFERENCE)
    return words


def _measure_words(check: StressCheck) -> str:
    known = {
        "excess-change": "verdicts that change beyond the judge's own noise",
        "shift-equivalence": "mean grade shift, 90% interval",
        "flip-detection": "verdicts that change as required",
        "flip-rate": "pairs of answers to the same request that differ",
    }
    return known.get(check.measure) or MEASURES.get(check.measure).title.lower()


# Values and checks in words

SIGNED = frozenset({"grade-shift", "shift-equivalence", "grade-bias", "severity"})
"""Measures in grades whose direction matters."""


def value_words(measure: MeasureRecord, estimate: Estimate) -> str:
    """Formats the value on the scale of its measure."""
    if measure.name in SIGNED and measure.scale == "steps":
        return numbers.shift(estimate.value)
    return numbers.measured_value(measure, estimate)


def interval_words(measure: MeasureRecord, limits: Interval | None) -> str:
    """Formats the ends of the interval, with as many digits as the value."""
    if limits is None or measure.name not in SIGNED or measure.scale != "steps":
        return numbers.measured_interval(measure, limits)
    if limits.low is None or limits.high is None:
        return numbers.scaled_interval(limits.low, limits.high, measure.scale)
    return f"[{numbers.shift(limits.low)}, {numbers.shift(limits.high)}]"


def unit_words(measure: MeasureRecord) -> str:
    """Says what the value counts, if the measure's name does not make it clear."""
    return numbers.unit_of_scale(measure.scale)


def unanswered_words(count: int) -> str:
    """Describes a test that might have been passed by giving no verdict."""
    return f"{numbers.count(count)} missing {numbers.units('verdict', count)} could have changed the result"


def allowed_words(measure: str, least: float | None, most: float | None) -> str:
    """Formats a threshold as it was set, to the last digit.

    >>> allowed_words("change-rate", None, 0.05), allowed_words("shift-equivalence", -0.25, 0.25)
    ('at most 5%', 'within ±0.25 grades')
    """
    scale = MEASURES.get(measure).scale if measure in MEASURES.names() else "ratio"
    times, unit = {"rate": (100, "%"), "difference": (100, " points"), "steps": (1, " grades")}.get(scale, (1, ""))
    low, high = (None if end is None else numbers.setting(_exact(times * end)) for end in (least, most))
    if low is None or high is None:
        return f"at least {low}{unit}" if low else f"at most {high}{unit}" if high else "no threshold"
    return f"within ±{high}{unit}" if least == -(most or 0.0) else f"from {low} to {high}{unit}"


def _exact(value: float) -> float:
    """Removes the rounding error of a product, and the decimal of a whole number."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded
