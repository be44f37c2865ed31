"""The limits that a judge under stress is held to, with the reason for each.

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
from umpirical.reports.limits import Levels
from umpirical.reports.policy import Limit, NamedPolicy, Shelf, look_share, merged, refuse_unknown
from umpirical.reports.record import MeasureRecord, Strict
from umpirical.store.yaml_files import YamlDocument

MARGIN = 0.05
"""The default margin: a rate for changes, a share of the scale's range for shifts."""

TestKind = Literal["same-verdict", "flipped-verdict", "repeats", "given-label", "original"]
"""What a test asks of the judge: to keep its verdict, to change it, to answer the same again, to give new texts their
label, and to give the user's own texts theirs."""


class ScaleRecord(Strict):
    """What the judge may answer."""

    kind: ScaleKind
    labels: list[str] = Field(default=[])
    range: float | None = Field(description="Steps from the least grade to the greatest; null without order.")


class StressLimit(Strict):
    """One limit on one measure of every test of a kind."""

    measure: str = Field(description="The measure's name, as in docs/measures.md.")
    at: TestKind | Literal[""] = Field(default="", description="The kind of test; by default all calls together.")
    at_most: float | None = Field(default=None, description="The most that is allowed.")
    at_least: float | None = Field(default=None, description="The least that is allowed.")
    within: float | None = Field(default=None, gt=0, description="The most that is allowed, up and down.")
    unit: Literal["", "margin", "margin of the range"] = Field(
        default="",
        description="What the value counts: the measure itself, margins, or margins times the range of the scale.",
    )
    instead: str = Field(default="", description="The measure that is held to the same limit if this is undefined.")
    why: str = Field(default="", description="The reason for the value, as printed on the page.")

    @model_validator(mode="after")
    def _one_value(self) -> "StressLimit":
        if sum(value is not None for value in (self.at_most, self.at_least, self.within)) != 1:
            raise ValueError(f"{self.measure} needs one of at_most, at_least and within")
        if not self.at and (self.at_most is None or self.unit):
            raise ValueError(f"{self.measure}: a limit on all calls together is at_most, and of the measure itself")
        return self

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The least and the most that is allowed, in the limit's unit."""
        return (-self.within, self.within) if self.within is not None else (self.at_least, self.at_most)

    @property
    def of_range(self) -> bool:
        """Whether the value is a share of the scale's range; a scale without order then has no limit."""
        return self.unit == "margin of the range"


class StressPolicy(NamedPolicy):
    """The limits of every kind of test."""

    policy: str = Field(min_length=1, description="Its name.")
    about: str = Field(default="", description="The use that it is for.")
    accepts: float = Field(
        default=0.05, gt=0, lt=0.5, description="At most this share of judges at a limit are accepted."
    )
    refuses: float = Field(
        default=0.05, gt=0, lt=0.5, description="At most this share of judges that meet every limit are refused."
    )
    look: int = Field(default=1, ge=1, description="1, or more for another look. All looks share the error rates.")
    limits: tuple[StressLimit, ...] = Field(description="In a file of your own, those that differ from the shipped.")

    def levels(self, checks: int) -> Levels:
        """Returns how often one of so many checks may err.

        All of them have to pass, so each may pass in error as often as the whole decision. One of them refuses, so they
        share the error of refusing.
        """
        share = look_share(self.look)
        return Levels(self.accepts * share, self.refuses * share / max(1, checks))

    @property
    def answers(self) -> list[Limit]:
        """The limits on answers that are no verdict: unreadable ones, and failed calls."""
        return [Limit(measure=one.measure, at_most=one.at_most) for one in self.limits if not one.at]


class StressShelf(Shelf[StressPolicy]):
    """Policies that say how they differ from the shipped one."""

    file = StressPolicy

    def resolved(self, document: YamlDocument) -> StressPolicy:
        own: Any = document.data
        entries = own.get("limits", []) if isinstance(own, dict) else None
        if not isinstance(entries, list) or not all(isinstance(one, dict) and "measure" in one for one in entries):
            return StressPolicy.model_validate(own)
        base = {_key(one): dict(one) for one in self.shipped(self.names[0]).data["limits"]}
        for one in entries:
            if one.get("omit") is True and base.pop(_key(one), None) is None:
                raise ConfigError(f"{one['measure']} is not there to be omitted", where=document.name)
        kept = [(_key(one), dict(one)) for one in entries if one.get("omit") is not True]
        limits = merged(base, kept, sides=frozenset({"at_most", "at_least", "within", "unit"}))
        return StressPolicy.model_validate({**own, "limits": list(limits.values())})

    def refuse_unknown(self, document: YamlDocument) -> None:
        refuse_unknown((one["measure"] for one in document.data.get("limits", ())), document)


def _key(entry: dict[str, Any]) -> tuple[str, str]:
    return entry["measure"], entry.get("at", "")


SHELF = StressShelf("umpirical.protocols.stress", "stress", of="stress tests")

NO_LIMIT = "no limit is set by the policy"

NO_LABELS = "correctness was not measured, since the data has no labels"

NO_CHECK = "correctness was not checked, since the policy has no limit on agreement with the labels"

RULES = (
    "A test passes only if the whole interval of each of its measures lies inside its limit, and fails if that of one "
    "of them lies wholly outside. Items without a verdict are left out of the measures, and may not help to pass: a "
    "test passes only if it still would with all of them counted the worst way. What is neither is INCONCLUSIVE; what "
    "was not measured, or has no limit, is N/A, and N/A never counts as a pass."
)

ANY_DIFFERENCE = (
    "On an interval scale a changed verdict is any difference at all, however small; how far grades move is what the "
    "shift says."
)


@dataclass(frozen=True, slots=True)
class Allowed:
    """A limit in the unit of its measure."""

    limit: StressLimit
    least: float | None
    most: float | None


def allowed(
    kind: TestKind, *, margin: float, scale: ScaleRecord, policy: StressPolicy | None = None
) -> tuple[Allowed, ...]:
    """Returns the limits on a kind of test; empty if none is set. The default is the shipped policy."""
    held = []
    for limit in (policy or SHELF.preset()).limits:
        if limit.at != kind or (limit.of_range and scale.range is None):
            continue
        unit = margin if limit.unit else 1.0
        unit *= scale.range if limit.of_range and scale.range is not None else 1.0
        held.append(Allowed(limit, *(None if end is None else end * unit for end in limit.ends)))
    return tuple(held)


def limit_words(held: Allowed) -> str:
    return allowed_words(held.least, held.most, unit="grades" if held.limit.of_range else "")


def policy_words(*, margin: float, scale: ScaleRecord, policy: StressPolicy | None = None) -> list[str]:
    """Returns the rules and limits as printed on the page."""
    kinds: dict[TestKind, str] = {
        "same-verdict": "Should change nothing",
        "flipped-verdict": "Should change the verdict",
        "repeats": "Asked again",
        "given-label": "New texts",
        "original": "Agreement with gold",
    }
    words = [RULES]
    for kind, title in kinds.items():
        words += [
            f"{title}: {_measure_words(one.limit)} {limit_words(one)}. {one.limit.why}".rstrip()
            for one in allowed(kind, margin=margin, scale=scale, policy=policy)
        ]
    if scale.range is None:
        words.append("On a scale without order grades do not shift up or down: only changes are held to a limit.")
    if scale.kind == "interval":
        words.append(ANY_DIFFERENCE)
    return words


def _measure_words(limit: StressLimit) -> str:
    known = {
        "excess-change": "verdicts that change, less those that change on asking again,",
        "shift-equivalence": "the mean shift of the grades, its 90 % interval,",
        "flip-detection": "verdicts that change as required",
        "flip-rate": "pairs of answers to the same request that differ",
    }
    return known.get(limit.measure) or MEASURES.get(limit.measure).title.lower()


# Values and limits in words

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
    return f"{numbers.count(count)} without a verdict might have changed it"


def allowed_words(least: float | None, most: float | None, *, unit: str = "") -> str:
    """Formats a limit as it was set, to the last digit.

    >>> allowed_words(None, 0.05), allowed_words(0.8, None), allowed_words(-0.25, 0.25, unit="grades")
    ('≤ 0.05', '≥ 0.8', 'within ±0.25 grades')
    """
    after = f" {unit}" if unit else ""
    if least is None and most is None:
        return "no limit"
    if least is None or most is None:
        return f"≤ {_exact(most)}{after}" if most is not None else f"≥ {_exact(least or 0.0)}{after}"
    if least == -most:
        return f"within ±{_exact(most)}{after}"
    return f"from {_exact(least)} to {_exact(most)}{after}"


def _exact(value: float) -> str:
    """Formats a value without the rounding error of a product."""
    return numbers.setting(round(value, 6))
