"""The charts of one judge's datasheet: the position of every mark."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isfinite, log, sqrt

from umpirical.domain.measures import Estimate
from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.record import GradeRow
from umpirical.reports import numbers
from umpirical.reports.charts import (
    CHAR_WIDTH,
    NotDrawn,
    Picture,
    Plot,
    Span,
    Tick,
    clip,
    found,
    place,
    share,
    span,
    true_value,
    words,
)
from umpirical.reports.record import MeasureRecord


@dataclass(frozen=True, slots=True)
class Box:
    """The part of a picture that its axes enclose."""

    left: float
    right: float
    top: float
    bottom: float

    def x(self, share: float) -> float:
        return self.left + (self.right - self.left) * clip(share, 0, 1)

    def y(self, share: float) -> float:
        return self.bottom - (self.bottom - self.top) * clip(share, 0, 1)

    def ticks(self) -> dict[str, tuple[Tick, ...]]:
        """The ticks of two axes of shares."""
        return {
            "x_ticks": tuple(Tick(place(self.x(share)), label) for share, label in TICKS),
            "y_ticks": tuple(Tick(place(self.y(share)), label) for share, label in TICKS),
        }


TICKS = tuple((quarter / 4, numbers.rate(quarter / 4)) for quarter in range(5))
"""Of an axis of shares."""

BAR_LEFT, BAR_RIGHT, BAR_BOTTOM, ROW_HEIGHT = 4, 416, 44, 19

PARTS = (
    ("stable-cross-sensitivity", "same answer in both orders"),
    ("positional-false-preference", "same position in both orders"),
    ("one-sided-commit", "preference in one order only"),
    ("no-preference", "no preference"),
)


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar. A part with no pairs has a label but no width."""

    part: str
    x: str
    width: str | None
    middle: str
    label: str
    label_x: str
    label_y: str
    leader_end: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack(Picture):
    """The pairs of equal quality, by what the judge did with them."""

    segments: tuple[Segment, ...]
    height: str


@dataclass(frozen=True, slots=True)
class Shares:
    """The parts of a decomposition that adds up: name, words and number of pairs."""

    parts: tuple[tuple[str, str, float], ...]
    total: int


def decomposition(measures: Sequence[MeasureRecord]) -> Stack | NotDrawn:
    """Draws the Δ0 decomposition of one variant; pairs in none of its four parts are shown as a part of their own."""
    shares = equal_quality(measures)
    return shares if isinstance(shares, NotDrawn) else _stack(shares.parts, shares.total)


def equal_quality(measures: Sequence[MeasureRecord]) -> Shares | NotDrawn:
    """Returns the Δ0 decomposition of one variant, or why there is none to draw."""
    parts: list[tuple[str, str, float]] = []
    totals: set[int] = set()
    for name, label in PARTS:
        measure = found(measures, name)
        if measure is None or not isinstance(measure.result, Estimate):
            state = "was not measured" if measure is None else "is undefined"
            return NotDrawn(f"No chart: “{label}” {state}.")
        parts.append((name, label, measure.result.numerator))
        totals.add(measure.result.denominator)
    total = max(totals)
    rest = round(total - sum(size for _, _, size in parts), 6)
    if len(totals) > 1 or total <= 0 or not rest >= 0 or any(size < 0 for _, _, size in parts):
        return NotDrawn("No chart: the parts do not add up to one number of pairs.")
    if rest > 0:
        parts.append(("rest", "none of these", rest))
    return Shares(tuple(parts), total)


def _stack(parts: Sequence[tuple[str, str, float]], total: int) -> Stack:
    labels = [f"{numbers.count(size)} · {numbers.rate(size / total)} {words}" for _, words, size in parts]
    # Labels descend from right to left, so that a label running to the right crosses no other leader line.
    order = sorted(range(len(parts)), key=lambda part: (parts[part][2] == 0, -part))
    segments: list[Segment] = []
    start = float(BAR_LEFT)
    for index, (name, _, size) in enumerate(parts):
        width = (BAR_RIGHT - BAR_LEFT) * size / total
        segments.append(_segment(name, start, width, label=labels[index], row=order.index(index)))
        start += width
    return Stack(
        title="Equal-quality pairs by outcome",
        desc=f"of {numbers.count(total)} pairs: " + "; ".join(labels),
        segments=tuple(segments),
        height=place(BAR_BOTTOM + 12 + ROW_HEIGHT * len(parts)),
    )


def _segment(part: str, start: float, width: float, *, label: str, row: int) -> Segment:
    middle = start + width / 2 if width else BAR_LEFT - 5
    length = CHAR_WIDTH * len(label)
    label_x, anchor = middle + 5, "start"
    if label_x + length > BAR_RIGHT:
        label_x, anchor = middle - 5, "end"
        if label_x < length:
            # It fits on neither side of its leader line, so it goes below.
            label_x, anchor = clip(middle, BAR_LEFT + length / 2, BAR_RIGHT - length / 2), "middle"
    return Segment(
        part=part,
        x=place(start),
        width=place(width) if width else None,
        middle=place(middle),
        label=label,
        label_x=place(label_x),
        label_y=place(BAR_BOTTOM + 20 + ROW_HEIGHT * row),
        leader_end=place(BAR_BOTTOM + (9 if anchor == "middle" else 16) + ROW_HEIGHT * row),
        anchor=anchor,
    )


CURVE = Box(36, 412, 8, 218)
FARTHEST = 5.0
"""The ladder's last step; the axis reaches at least that far."""
LABEL_GAP = 42.0
"""Least distance between two printed values; values that are closer appear in the table only."""


Axis = Callable[[float], float]
"""From a difference to its place on the horizontal axis."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The sensitivity at one step."""

    step: float
    x: str
    y: str
    label: str
    """Empty if the label would overlap its neighbour."""
    words: str
    interval: Span | None
    true_value: str | None


@dataclass(frozen=True, slots=True)
class ThresholdMark:
    """Where the curve crosses 0.75, or on which side of the ladder it does."""

    x: str
    label: str
    label_x: str
    anchor: str
    censoring: str
    interval: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve(Plot):
    """Sensitivity over the steps of the ladder."""

    points: tuple[CurvePoint, ...]
    segments: tuple[tuple[CurvePoint, CurvePoint], ...]
    bands: tuple[str, ...]
    """Polygons between the ends of the intervals, one for each unbroken stretch of the curve."""
    threshold: ThresholdMark | None
    quarters: tuple[str, ...]
    """Minor ticks, if the ladder has steps below one requirement."""
    goal: str
    """Height of the 0.75 line."""
    small: tuple[CurvePoint, ...] = ()
    """Fine differences, and what joins them."""
    small_segments: tuple[tuple[CurvePoint, CurvePoint], ...] = ()


def psychometric_curve(measures: Sequence[MeasureRecord]) -> Curve | NotDrawn:
    """Draws the curve of one variant, from the accuracy at every step, and at every fine one, and the threshold."""
    at_steps, fine = (dict(sorted(_steps(measures, name))) for name in ("target-sensitivity", "fine-sensitivity"))
    if not at_steps:
        return NotDrawn("No chart: accuracy by size of the difference was not measured.")
    last = max(FARTHEST, ceil(max(at_steps)))
    axis = _log_axis(last) if fine else _axis(last)
    labelled = _labelled([step for step, measure in at_steps.items() if share(measure)], axis)
    points = {step: _curve_point(step, measure, axis, labelled) for step, measure in at_steps.items()}
    small = [point for step in fine if (point := _curve_point(step, fine[step], axis, set()))]
    known = [point for point in points.values() if point]
    if not known:
        return NotDrawn("No chart: accuracy is undefined at every difference.")
    mark = _threshold_mark(found(measures, "detection-threshold"), axis)
    # A line across steps that the design has and that were not asked about would look like a measurement.
    near = 2 if fine else 1
    segments = tuple(
        (one, two) for one, two in pairwise(points.values()) if one and two and two.step - one.step <= near
    )
    said = [f"difference {numbers.step(point.step)}: {point.words}" for point in known]
    said += [f"fine difference {numbers.step(point.step)}: {point.words}" for point in small]
    return Curve(
        title="Accuracy by size of the difference",
        desc="; ".join([*said, mark.label if mark else "no Δ75"]),
        points=tuple(known),
        segments=segments,
        bands=tuple(band for one, two in segments if (band := _band(one, two))),
        threshold=mark,
        x_ticks=tuple(Tick(place(axis(step)), f"{step:g}") for step in (LOG_TICKS if fine else range(int(last) + 1))),
        quarters=tuple(place(axis(quarter / 4)) for quarter in range(1, int(4 * last)) if quarter % 4)
        if any(step % 1 for step in at_steps) and not fine
        else (),
        y_ticks=CURVE.ticks()["y_ticks"],
        goal=place(CURVE.y(0.75)),
        small=tuple(small),
        small_segments=tuple(pairwise(small)),
    )


def _steps(measures: Sequence[MeasureRecord], name: str) -> Iterator[tuple[float, MeasureRecord]]:
    for measure in measures:
        if measure.name == name:
            try:
                step = float(measure.stratum)
            except ValueError:
                continue
            if isfinite(step) and 0 <= step < 1000:
                yield step, measure


def _labelled(steps: Sequence[float], axis: Axis) -> set[float]:
    """Returns the steps whose value is printed: whole steps first, as long as there is room."""
    chosen: list[float] = []
    for step in sorted(steps, key=lambda step: (step % 1 != 0, step)):
        if all(abs(axis(step) - axis(other)) >= LABEL_GAP for other in chosen):
            chosen.append(step)
    return set(chosen)


def _curve_point(step: float, measure: MeasureRecord, axis: Axis, labelled: set[float]) -> CurvePoint | None:
    estimate = share(measure)
    if estimate is None:
        return None
    return CurvePoint(
        step=step,
        x=place(axis(step)),
        y=place(CURVE.y(estimate.value)),
        label=numbers.rate(estimate.value) if step in labelled else "",
        words=words(measure, estimate),
        interval=span(estimate.interval, CURVE.y),
        true_value=true_value(measure, CURVE.y),
    )


def _band(one: CurvePoint, two: CurvePoint) -> str | None:
    if one.interval is None or two.interval is None:
        return None
    corners = ((one.x, one.interval.start), (two.x, two.interval.start), (two.x, two.interval.end))
    return " ".join(f"{x},{y}" for x, y in (*corners, (one.x, one.interval.end)))


def _threshold_mark(measure: MeasureRecord | None, axis: Axis) -> ThresholdMark | None:
    estimate = measure.result if measure else None
    if measure is None or not isinstance(estimate, Estimate) or not isfinite(estimate.value):
        return None
    x = axis(estimate.value)
    to_left = x > (CURVE.left + CURVE.right) / 2
    return ThresholdMark(
        x=place(x),
        label=f"Δ75 {'= ' if estimate.censoring == 'none' else ''}{numbers.measured_value(measure, estimate)}",
        label_x=place(x - 8 if to_left else x + 8),
        anchor="end" if to_left else "start",
        censoring=estimate.censoring,
        interval=span(estimate.interval, axis, edges=(-9, 99)),
    )


LOG_TICKS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5)
LEAST = 0.04
"""Where a logarithmic axis begins."""


def _axis(last: float) -> Axis:
    return lambda step: _across(step / last)


def _log_axis(last: float) -> Axis:
    return lambda step: _across(log(max(step, LEAST) / LEAST) / log(last / LEAST))


def _across(part: float) -> float:
    margin = 30
    return clip(CURVE.left + (CURVE.right - CURVE.left - margin) * part, CURVE.left, CURVE.right)


OPERATING = Box(40, 320, 10, 290)
ROW = 14.0
"""Height of a label."""


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """One variant."""

    variant: str
    x: str
    y: str
    across: Span | None
    up: Span | None
    label_x: str
    label_y: str
    anchor: str
    words: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from the judge's own prompt to another."""

    x1: str
    y1: str
    x2: str
    y2: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPlot(Plot):
    """A plot in which each variant is a point with two shares as coordinates."""

    points: tuple[OperatingPoint, ...]
    arrows: tuple[Arrow, ...]


def operating_plot(variants: Mapping[str, Sequence[MeasureRecord]]) -> OperatingPlot | NotDrawn:
    """Draws one point for each variant that has both shares."""
    points: list[OperatingPoint] = []
    for variant, measures in variants.items():
        if point := _operating_point(variant, measures, [float(other.label_y) for other in points]):
            points.append(point)
    if len(points) < 2:
        return NotDrawn("No chart: fewer than two prompt variants have both a false preference and an accuracy at Δ1.")
    start = next((point for point in points if point.variant == BASELINE), points[0])
    return OperatingPlot(
        title="Prompt variants by false preference and accuracy",
        desc="; ".join(f"{point.variant}: {point.words}" for point in points),
        points=tuple(points),
        arrows=tuple(
            Arrow(start.x, start.y, end.x, end.y)
            for end in points
            if end is not start and (end.x, end.y) != (start.x, start.y)
        ),
        **OPERATING.ticks(),
    )


def _operating_point(variant: str, measures: Sequence[MeasureRecord], taken: Sequence[float]) -> OperatingPoint | None:
    false, seen = found(measures, "raw-false-preference"), found(measures, "target-sensitivity", "1")
    across, up = share(false), share(seen)
    if false is None or seen is None or across is None or up is None:
        return None
    x, y = OPERATING.x(across.value), OPERATING.y(up.value)
    to_left = x + 10 + CHAR_WIDTH * len(variant) > OPERATING.right + 70
    label_y = clip(y + 18, OPERATING.top + ROW, OPERATING.bottom - 6)
    while any(abs(label_y - other) < ROW for other in taken):
        label_y += ROW
    return OperatingPoint(
        variant=variant,
        x=place(x),
        y=place(y),
        across=span(across.interval, OPERATING.x),
        up=span(up.interval, OPERATING.y),
        label_x=place(x - 10 if to_left else x + 10),
        label_y=place(label_y),
        anchor="end" if to_left else "start",
        words=f"false preference {numbers.measured(false, across)}, accuracy at Δ1 {numbers.measured(seen, up)}",
    )


GRADES = Box(40, 412, 16, 226)
MOST_TICKS = 12


@dataclass(frozen=True, slots=True)
class LevelGrades:
    """The answers of one quality."""

    level: float
    answers: int
    mean: float
    shares: dict[float, float]
    """Shares of the answers, by grade."""


@dataclass(frozen=True, slots=True)
class Bubble:
    """A share of the answers of one quality; its area is the share."""

    x: str
    y: str
    r: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeChart(Plot):
    """Grades over quality, with a line through the mean of each quality."""

    bubbles: tuple[Bubble, ...]
    means: str
    """The line through the means, as points."""


def levels(rows: Sequence[GradeRow]) -> list[LevelGrades]:
    """Returns the grades by quality, lowest first. Blank answers have no quality to grade; dark current covers them."""
    grades: dict[float, dict[float, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        if row.family != "blank" and row.answers > 0 and isfinite(row.level) and isfinite(row.score):
            grades[row.level][row.score] += row.answers
    return [_level(level, grades[level]) for level in sorted(grades)]


def grade_chart(rows: Sequence[GradeRow]) -> GradeChart | NotDrawn:
    """Draws the chart of one variant."""
    found = levels(rows)
    if not found:
        return NotDrawn("No chart: the record has no grades by quality.")
    top_level, top_score = max(1.0, found[-1].level), max(1.0, *(score for one in found for score in one.shares))
    least = min(0.0, *(score for one in found for score in one.shares))

    def x(level: float) -> float:
        return GRADES.left + 14 + (GRADES.right - GRADES.left - 28) * level / top_level

    def y(score: float) -> float:
        return GRADES.bottom - 12 - (GRADES.bottom - GRADES.top - 24) * (score - least) / (top_score - least)

    step = max(1, ceil((top_score - least) / MOST_TICKS))
    ticks = range(ceil(least), int(top_score) + 1, step)
    return GradeChart(
        title="Grades by quality",
        desc="; ".join(f"{numbers.step(one.level)} met: mean grade {numbers.latent(one.mean)}" for one in found),
        bubbles=tuple(
            Bubble(place(x(one.level)), place(y(score)), place(11 * sqrt(part)), _grade_words(one, score, part))
            for one in found
            for score, part in one.shares.items()
        ),
        means=" ".join(f"{place(x(one.level))},{place(y(one.mean))}" for one in found),
        x_ticks=tuple(Tick(place(x(level)), str(level)) for level in range(int(top_level) + 1)),
        y_ticks=tuple(Tick(place(y(score)), str(score)) for score in ticks),
    )


def _level(level: float, grades: dict[float, int]) -> LevelGrades:
    answers = sum(grades.values())
    mean = sum(score * count for score, count in grades.items()) / answers
    return LevelGrades(level, answers, mean, {score: grades[score] / answers for score in sorted(grades)})


def _grade_words(one: LevelGrades, score: float, part: float) -> str:
    return f"{numbers.step(one.level)} met, grade {numbers.step(score)}: {numbers.rate(part)} of answers"
