"""Any number of judges, measured on the same stimuli: the record `judge-comparison/2`.

Judges are named by their place in `judges`, from 0. A difference is the second value less the first, on the pairs that
both answered.
"""

from importlib.resources import files
from typing import Literal, Self

from pydantic import Field, model_validator

from umpirical.protocols.datasheet.costs import Costs
from umpirical.protocols.datasheet.record import ProfileRecord
from umpirical.reports.comparisons.record import DifferenceRecord, Place
from umpirical.reports.decision import Advice, DecisionRecord
from umpirical.reports.record import (
    JudgeRecord,
    LimitRecord,
    MeasureRecord,
    RunRecord,
    SpendRecord,
    Strict,
    schema_text,
)


class SideRecord(Strict):
    """One of the judges, as its own datasheet has it."""

    judge: JudgeRecord
    run: RunRecord
    complete: bool
    reference: bool = Field(default=False, description="Stands as a ceiling, and is never picked. It is no truth.")
    decision: DecisionRecord | None = None
    profile: ProfileRecord | None = None
    spend: SpendRecord | None = None
    limits: list[LimitRecord] = Field(default=[])
    measures: list[MeasureRecord] = Field(
        default=[], description="Those of the table, the figures and the differences."
    )


class PickRecord(Strict):
    """Which judge to take for one use."""

    policy: str
    about: str
    own: bool = Field(description="Whether it is the policy that the comparison was made for.")
    verdicts: list[Advice] = Field(description="The decision on each judge by this policy.")
    admitted: list[Place] = Field(description="The judges that it lets through, the reference aside.")
    not_worse: list[Place] = Field(description="Of these, the ones than which none is shown better.")
    picked: list[Place] = Field(description="The cheapest of these: several if nothing tells them apart, or none.")
    title: str
    sentences: list[str]


class Comparison(Strict):
    """Judges, measured on the same stimuli."""

    format: Literal["judge-comparison/2"] = "judge-comparison/2"
    policy: str = Field(description="The policy that the judges are held to.")
    judges: list[SideRecord]
    differences: list[DifferenceRecord]
    better_everywhere: list[tuple[Place, Place]] = Field(
        default=[],
        description="Pairs of which the first is better in every primary row, by an intersection-union test.",
    )
    picks: list[PickRecord]
    costs: Costs | None = Field(default=None, description="Cost and accuracy of the judges, their readouts and juries.")
    findings: list[str]
    non_claims: list[str]

    @model_validator(mode="after")
    def _known_places(self) -> Self:
        places = [place for one in self.differences for place in (one.first, one.second)]
        places += [place for pick in self.picks for place in (*pick.admitted, *pick.not_worse, *pick.picked)]
        places += [place for pair in self.better_everywhere for place in pair]
        places += [place for one in self.costs.options for place in one.judges] if self.costs else []
        if max(places, default=0) >= len(self.judges):
            raise ValueError(f"there are {len(self.judges)} judges, and one is named by place {max(places, default=0)}")
        if any(len(pick.verdicts) != len(self.judges) for pick in self.picks):
            raise ValueError("a policy has no decision on some of the judges")
        return self


def render_comparison_json(comparison: Comparison) -> str:
    """Renders the record as text: the same comparison gives the same bytes."""
    return comparison.model_dump_json(indent=1) + "\n"


def parse_comparison(text: str) -> Comparison:
    return Comparison.model_validate_json(text)


def comparison_schema() -> str:
    """Returns the schema that ships with this version."""
    return (files("umpirical.protocols.datasheet") / "judge-comparison-2.schema.json").read_text(encoding="utf-8")


def generated_schema() -> str:
    """Returns the schema that follows from the code; a test compares the shipped one with it."""
    return schema_text(Comparison)
