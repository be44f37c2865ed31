"""What a judge may answer."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

JudgeKind = Literal["compare", "grade"]

ScaleKind = Literal["binary", "nominal", "ordinal", "interval"]


class Choice(StrEnum):
    """The answers of a `compare` judge, by position. The trial knows which content was in the position."""

    POSITION_1 = "1"
    POSITION_2 = "2"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class GradeScale:
    """The scale of a `grade` judge, and of the labels its grades are compared with."""

    # Pydantic reads this when a scale is in a file, without an import here.
    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "use_attribute_docstrings": True}

    kind: ScaleKind
    """`binary`, `nominal` (no order), `ordinal` (in order) or `interval` (numbers)."""
    labels: tuple[str, ...] = ()
    """Every label, lowest first on an ordinal scale; none on an interval scale. A label is text: `yes` stays `yes`."""
    low: float | None = None
    """Lowest value of an interval scale."""
    high: float | None = None
    """Highest value of an interval scale."""

    def __post_init__(self) -> None:
        if self.kind == "interval":
            if self.low is None or self.high is None or not self.low < self.high or self.labels:
                raise ValueError("an interval scale needs low < high and no labels")
        elif len(self.labels) < 2 or len(set(self.labels)) != len(self.labels):
            raise ValueError(f"a {self.kind} scale needs at least two different labels, got {self.labels!r}")
        elif self.kind == "binary" and len(self.labels) != 2:
            raise ValueError(f"a binary scale has two labels, got {len(self.labels)}")

    def score(self, value: str | float) -> float | None:
        """Returns how far a grade lies above the lowest one, in steps of the scale; None on a scale without order."""
        if self.kind == "nominal":
            return None
        if self.kind == "interval":
            assert self.low is not None  # noqa: S101  # checked when it was made
            return float(value) - self.low
        return float(self.labels.index(str(value)))

    def holds(self, value: float) -> bool:
        return self.low is not None and self.high is not None and self.low <= value <= self.high
