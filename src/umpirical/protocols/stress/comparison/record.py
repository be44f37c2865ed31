"""Judges under the same stress tests, in one study or in several: the record `stress-comparison/1`.

Judges are named by their place in `judges`, from 0. Studies have data and scales of their own, so nothing is added up
over them.
"""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from umpirical.protocols.stress.record import CellVerdict, DatasetRecord, StressMeasure, StressTest, WriterSpendRecord
from umpirical.reports.comparisons.record import DifferenceRecord, Place
from umpirical.reports.record import JudgeRecord, RunRecord, SpendRecord, Strict, schema_text


class ComparedJudge(Strict):
    """A judge, by the name and the model that it has in every study."""

    name: str
    model: str


class StressSide(Strict):
    """One judge in one study, as its own report has it."""

    place: Place
    judge: JudgeRecord
    run: RunRecord
    complete: bool
    tests: list[StressTest]
    verdicts: list[CellVerdict]
    measures: list[StressMeasure] = Field(description="Those of its own prompt, of all items, that the page shows.")
    spend: SpendRecord | None = None
    writing: list[WriterSpendRecord] = Field(default=[], description="What writing and validating the stimuli took.")


class ComparedStudy(Strict):
    """Judges that were asked about the same texts."""

    dataset: DatasetRecord
    stimuli: str = Field(description="Digest of the texts that all of them were asked about.")
    sides: list[StressSide]
    differences: list[DifferenceRecord]


class StressComparison(Strict):
    """Judges under stress."""

    format: Literal["stress-comparison/1"] = "stress-comparison/1"
    judges: list[ComparedJudge]
    studies: list[ComparedStudy]
    findings: list[str]
    non_claims: list[str]

    @model_validator(mode="after")
    def _known_places(self) -> Self:
        places = [side.place for study in self.studies for side in study.sides]
        places += [place for study in self.studies for one in study.differences for place in (one.first, one.second)]
        if max(places, default=0) >= len(self.judges):
            raise ValueError(f"there are {len(self.judges)} judges, and one is named by place {max(places)}")
        return self


def study_titles(studies: Sequence[ComparedStudy]) -> list[str]:
    """Names the studies by their data; those on the same data, by the digest of their texts as well."""
    names = [study.dataset.name for study in studies]
    return [
        f"{name} ({study.stimuli[:8]})" if names.count(name) > 1 else name
        for study, name in zip(studies, names, strict=True)
    ]


def render_stress_comparison_json(comparison: StressComparison) -> str:
    """Renders the record as text: the same comparison gives the same bytes."""
    return comparison.model_dump_json(indent=1) + "\n"


def parse_stress_comparison(text: str) -> StressComparison:
    return StressComparison.model_validate_json(text)


def stress_comparison_schema() -> str:
    """Returns the JSON Schema of the record."""
    return schema_text(StressComparison)
