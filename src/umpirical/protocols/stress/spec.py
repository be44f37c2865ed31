"""The study file of a stress study."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from umpirical.datasets.spec import DatasetSpec
from umpirical.judges.prompt import columns_of
from umpirical.models.adapters.catalogue import ADAPTERS
from umpirical.models.spec import ModelSpec
from umpirical.protocols.review.spec import ReviewSpec, ReviewTerms
from umpirical.protocols.study import Study, StudySpec
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation, ProvedPerturbation

__all__ = ["REPEAT_TESTS", "StressSpec", "StressStudy", "StressStudySpec", "WriterSpec"]

REPEAT_TESTS = ("stability", "seeds")
"""Tests that change nothing: the same request again, and the same with another seed."""

SYNTHETIC = "synthetic-ordinal"

DEFAULT_TESTS = ("vertical-spacing", "inline-spacing", "indentation", "stability")
"""The tests that need no model besides the judge."""


class WriterSpec(BaseModel):
    """A model that writes stimuli, or that validates them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: ModelSpec
    max_tokens: int = Field(default=2000, ge=1, description="Of one answer.")

    @model_validator(mode="after")
    def _writes(self) -> "WriterSpec":
        if ADAPTERS.get(self.model.adapter).simulated:
            raise ValueError("a simulated judge cannot write: name a model on a server")
        return self


class StressSpec(BaseModel):
    """Which stress tests are made, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tests: tuple[str, ...] = Field(
        default=DEFAULT_TESTS,
        min_length=1,
        description="Perturbations by name, and stability or seeds. The docs list them all.",
    )
    repeats: int = Field(
        default=3,
        ge=1,
        le=1000,
        description="How often every original is asked: the judge's own noise. If this is 2 or more, every changed "
        "text that should be graded the same is asked twice, so that its noise is known too.",
    )
    seeds: int = Field(default=3, ge=2, le=1000, description="For the test seeds: requests with a seed of their own.")
    margin: float = Field(
        default=0.05,
        gt=0,
        lt=1,
        description="What counts as no change: a share of the scale's range for grades, of items for verdicts.",
    )
    generator: WriterSpec | None = Field(default=None, description="The model that writes what a program cannot.")
    validator: WriterSpec | None = Field(
        default=None, description="The model that says whether it came out as meant. Another one than the generator."
    )
    votes: int = Field(default=3, ge=1, le=25, description="Opinions of the validator on each text, at most.")
    agree: int = Field(default=2, ge=1, le=25, description="Opinions that must agree before a text is used.")
    validator_temperature: float = Field(default=0.7, ge=0)
    temperatures: tuple[float, ...] = Field(
        default=(0.7, 0.9, 1.1), min_length=1, description="Of the generator, one step after the other."
    )
    tries: int = Field(default=2, ge=1, le=20, description="Attempts at each temperature.")
    similarity: Literal["lexical", "embedding"] = Field(
        default="lexical",
        description="What tells synthetic texts from each other; embedding needs the extra umpirical[embeddings].",
    )
    per_level: int = Field(default=5, ge=1, le=10_000, description="For synthetic-ordinal: texts for each level.")

    @model_validator(mode="after")
    def _sound(self) -> "StressSpec":
        if len(set(self.tests)) != len(self.tests):
            raise ValueError("a test is named twice")
        known = [*PERTURBATIONS.names(), *REPEAT_TESTS]
        if unknown := [name for name in self.tests if name not in known]:
            near = get_close_matches(unknown[0], known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise ValueError(f"tests: no test is named {unknown[0]!r}: {hint}")
        if self.agree > self.votes:
            raise ValueError(f"agree: {self.agree} opinions cannot agree when there are only {self.votes} votes")
        if any(temperature < 0 for temperature in self.temperatures):
            raise ValueError("a temperature is negative")
        if self.generated and (self.generator is None or self.validator is None):
            names = ", ".join(test.name for test in self.generated)
            raise ValueError(f"{names}: written by a model, so a generator and a validator must be named")
        if "stability" in self.tests and self.repeats < 2:
            raise ValueError("stability: needs repeats of at least 2")
        return self

    @property
    def proved(self) -> tuple[ProvedPerturbation, ...]:
        """The tests that a program makes."""
        chosen = (PERTURBATIONS.get(name) for name in self._perturbations)
        return tuple(test for test in chosen if isinstance(test, ProvedPerturbation))

    @property
    def generated(self) -> tuple[GeneratedPerturbation, ...]:
        """The tests that a model writes."""
        chosen = (PERTURBATIONS.get(name) for name in self._perturbations)
        return tuple(self._told_apart(test) for test in chosen if isinstance(test, GeneratedPerturbation))

    def _told_apart(self, test: GeneratedPerturbation) -> GeneratedPerturbation:
        if test.name != SYNTHETIC or self.similarity == "lexical":
            return test
        from umpirical.stimuli.perturbations.synthetic_ordinal import synthetic_ordinal
        from umpirical.stimuli.similarity.embedding import installed_embedding

        return synthetic_ordinal(installed_embedding())

    @property
    def _perturbations(self) -> list[str]:
        return [name for name in self.tests if name not in REPEAT_TESTS]


class StressStudySpec(StudySpec):
    """A study of judges on responses of the user's own."""

    dataset: DatasetSpec = Field(description="Responses of your own: the judges are stressed on them, and grade.")
    instruction: str | None = Field(
        default=None, description="A text file: what judges are told to do, {{instruction}} in a prompt."
    )
    rubric: str | None = Field(default=None, description="A text file: what they go by, {{rubric}} in a prompt.")
    stress: StressSpec = Field(default_factory=StressSpec, description="Which stress tests the dataset is put to.")
    review: ReviewSpec = Field(default=ReviewSpec(), description="How people review what a generator wrote.")

    @model_validator(mode="before")
    @classmethod
    def _graded(cls, data: Any) -> Any:  # noqa: ANN401  # what the file holds
        """Every judge grades, on the dataset's scale unless it names its own."""
        scale = (data.get("dataset") or {}).get("scale") if isinstance(data, dict) else None
        if not isinstance(scale, dict) or not isinstance(data.get("judges"), list):
            return data
        grades = {"kind": "grade", "scale": scale}
        judges = [
            grades | judge if isinstance(judge, dict) and judge.get("kind") != "compare" else judge
            for judge in data["judges"]
        ]
        return {**data, "judges": judges}

    @model_validator(mode="after")
    def _whole(self) -> "StressStudySpec":
        if compares := [judge.name for judge in self.judges if judge.kind != "grade"]:
            raise ValueError(f"judge {compares[0]} compares: a dataset of single responses is for judges that grade")
        for judge in self.judges:
            if judge.scale != self.dataset.scale:
                raise ValueError(f"judge {judge.name}: its scale differs from that of the dataset")
        if self.stress.generated and not self.rubric:
            raise ValueError("rubric: validators need the rubric that the judges follow; name the file")
        if stray := [name for name in self.review.sensitive if name not in self.stress.tests]:
            tests = ", ".join(self.stress.tests)
            raise ValueError(f"review.sensitive: {stray[0]!r} is not a test of this study; its tests: {tests}")
        return self


@dataclass(frozen=True)
class StressStudy(Study[StressStudySpec]):
    """A stress study, with the texts of the files that it names."""

    instruction: str = ""
    """What judges are told to do."""
    rubric: str = ""
    """The criteria that judges follow."""
    guideline: str = ""
    """The rules that reviewers follow."""

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns of the dataset that some judge names, besides those that the dataset itself names."""
        return tuple(sorted({column for judge in self.spec.judges for column in columns_of(judge)}))

    @property
    def review_terms(self) -> ReviewTerms:
        ordered = self.spec.dataset.scale.kind == "ordinal"
        return ReviewTerms(self.folder, self.spec.review, self.guideline, ordered)
