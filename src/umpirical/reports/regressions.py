"""Regressions: the measures of a judge that are significantly worse than before, by more than a margin.

There is one row for each check of the policy. A row is worse only if its difference is larger than the margin after
Holm's correction over all rows. So a judge that has not changed is called worse in at most one comparison in twenty,
and much more rarely because of the margin. A row that is not shown to be worse is not proven to be as good.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import hypot, isclose
from typing import Literal, Protocol

from pydantic import Field

from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.measures.catalogue import Scale
from umpirical.reports import numbers
from umpirical.reports.record import MeasureRecord, ResultRecord, Strict
from umpirical.reports.significance import LEVEL, beyond_p, holm

MARGIN = 0.05
"""How much worse a measure may be before it counts: the margin that a stress test has for a judge's verdicts."""

JOINED = "intervals of both values, joined as if they were independent"

Standing = Literal["worse", "not shown", "not comparable"]

Key = tuple[str, str]
"""A measure and its stratum."""


class Limited(Protocol):
    """A measure that is checked against a threshold."""

    @property
    def measure(self) -> str: ...
    @property
    def stratum(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def worse(self) -> Literal["higher", "lower"] | None: ...


class RegressionRow(Strict):
    """One measure before and now."""

    measure: str
    stratum: str
    title: str = Field(description="The title of the measure, with its part of the design.")
    scale: Scale
    worse: Literal["higher", "lower"] = Field(description="Which direction is worse.")
    before: ResultRecord
    now: ResultRecord
    worsening: ResultRecord = Field(description="How much worse it is now; below 0 if it is better.")
    p_value: float | None = Field(description="Of being worse by no more than the margin, for this row alone.")
    adjusted_p: float | None = Field(description="The same, corrected for the number of rows (Holm).")
    standing: Standing

    @property
    def words(self) -> str:
        """What the row says, in one line."""
        if not isinstance(self.worsening, Estimate):
            return f"not comparable: {self.worsening.reason}"
        values = " → ".join(_value(result, self.scale) for result in (self.before, self.now))
        ends = self.worsening.interval
        side = "worse" if self.worsening.value >= 0 else "better"
        written = numbers.scaled_interval(ends.low, ends.high, "difference") if ends else ""
        return f"{values}, {numbers.gap(abs(self.worsening.value))} {side} {written}".rstrip()


def regressions(
    limited: Sequence[Limited],
    before: Sequence[MeasureRecord],
    now: Sequence[MeasureRecord],
    *,
    paired: Mapping[Key, ResultRecord],
    margin: float,
) -> list[RegressionRow]:
    """Returns a row for each limited measure that has a worse side.

    `paired` are differences on the same tasks, now less before. Where a measure has none, the bounds of both values are
    joined. That is too cautious where the two answer the same tasks alike, and never too bold.
    """
    earlier, later = ({(one.name, one.stratum): one for one in side} for side in (before, now))
    found = []
    for check in limited:
        if check.worse is None:
            continue
        key = (check.measure, check.stratum)
        first, second = earlier.get(key), later.get(key)
        difference = paired.get(key) or _joined(first, second)
        worsening = _turned(difference) if check.worse == "lower" else difference
        found.append((check.title, check.worse, key, first, second, worsening))
    alone = [beyond_p(row[-1], margin) if isinstance(row[-1], Estimate) else None for row in found]
    return [
        RegressionRow(
            measure=key[0],
            stratum=key[1],
            title=title,
            scale=next((one.scale for one in (second, first) if one), "rate"),
            worse=worse,
            before=_result(first),
            now=_result(second),
            worsening=worsening,
            p_value=p,
            adjusted_p=adjusted,
            standing="not comparable" if p is None else "worse" if _is_shown(adjusted) else "not shown",
        )
        for (title, worse, key, first, second, worsening), p, adjusted in zip(found, alone, holm(alone), strict=True)
    ]


def _is_shown(adjusted: float | None) -> bool:
    return adjusted is not None and adjusted < LEVEL


def _result(measure: MeasureRecord | None) -> ResultRecord:
    return measure.result if measure else Undefined(reason="not measured")


def _value(result: ResultRecord, scale: Scale) -> str:
    return numbers.scaled(result.value, scale) if isinstance(result, Estimate) else "undefined"


def _turned(difference: ResultRecord) -> ResultRecord:
    """Returns a difference with the opposite sign."""
    if not isinstance(difference, Estimate):
        return difference
    ends = difference.interval
    turned = ends and replace(
        ends, low=None if ends.high is None else -ends.high, high=None if ends.low is None else -ends.low
    )
    return replace(difference, value=-difference.value, numerator=-difference.numerator, interval=turned)


def _joined(before: MeasureRecord | None, now: MeasureRecord | None) -> ResultRecord:
    """Returns the difference of two values as if they were independent.

    Reference: R. G. Newcombe, Interval estimation for the difference between independent proportions, Statistics in
    Medicine 17 (1998), method 10, with the bounds that each value has.
    """
    first, second = _result(before), _result(now)
    for result in (first, second):
        if not isinstance(result, Estimate):
            return Undefined(reason=result.reason)
    assert isinstance(first, Estimate)  # noqa: S101  # tested above
    assert isinstance(second, Estimate)  # noqa: S101  # likewise
    one, other = _ends(first), _ends(second)
    if one is None or other is None or not isclose(one.level, other.level):
        return Undefined(reason="a value has no interval on both sides, or its level differs")
    value, count = second.value - first.value, second.denominator
    low = value - hypot(second.value - _known(other.low), _known(one.high) - first.value)
    high = value + hypot(_known(other.high) - second.value, first.value - _known(one.low))
    return Estimate(
        value=value,
        numerator=value * count,
        denominator=count,
        unit=second.unit,
        interval=Interval(low=low, high=high, level=other.level, method=JOINED),
        clusters=min(first.clusters, second.clusters),
    )


def _ends(estimate: Estimate) -> Interval | None:
    """Returns the bounds of a value; at 0 and 1 those that assume a correlation within tasks, which does not show."""
    ends = estimate.planning_interval or estimate.interval
    open_end = ends is None or ends.low is None or ends.high is None
    return None if open_end or estimate.censoring != "none" else ends


def _known(end: float | None) -> float:
    assert end is not None  # noqa: S101  # as `_ends` has found
    return end
