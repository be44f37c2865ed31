"""The study file of a stress study."""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from umpirical.datasets.spec import DatasetSpec
from umpirical.judges.prompt import columns_of
from umpirical.protocols.protocol import Study, StudySpec
from umpirical.protocols.stress.suites import HARNESS_NAMES, HARNESS_SUITE, WITHOUT_GENERATOR, own_names
from umpirical.protocols.writing import ReviewSpec, ReviewTerms, WriterSpec
from umpirical.runs.generation import Scope
from umpirical.stimuli.generation.buckets import EXAMPLES
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation, ProvedPerturbation

REPEAT_TESTS = ("stability", "seeds", "sampling")
"""Tests that change no text: the same request again, with another seed, and with other parameters of sampling."""

SYNTHETIC = "synthetic-ordinal"


class SamplingSpec(BaseModel):
    """Parameters of sampling that a judge is asked with in place of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(
        default=None, ge=0, description="In place of the judge's own; null leaves that as it is."
    )
    top_p: float | None = Field(
        default=None, gt=0, le=1, description="In place of the judge's own; null leaves that as it is."
    )

    @model_validator(mode="after")
    def _sets_something(self) -> "SamplingSpec":
        if self.temperature is None and self.top_p is None:
            raise ValueError("name a temperature, a top_p or both")
        return self

    @property
    def sent(self) -> str:
        """What is sent, as JSON."""
        return self.model_dump_json(exclude_none=True)


class StressSpec(BaseModel):
    """Which stress tests are made, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tests: tuple[str, ...] = Field(
        default=WITHOUT_GENERATOR,
        min_length=1,
        description="Perturbations by name, and stability, seeds or sampling; the docs list them all. The names of the "
        "Judge Reliability Harness will do too. Default: what needs no generator or, where generator and validator are "
        "named, the harness's suite.",
    )
    repeats: int = Field(
        default=3,
        ge=1,
        le=1000,
        description="How often every original is asked: the judge's own noise. If this is 2 or more, every changed "
        "text that should be graded the same is asked twice, so that its noise is known too.",
    )
    seeds: int = Field(default=3, ge=2, le=1000, description="For the test seeds: requests with a seed of their own.")
    sampling: tuple[SamplingSpec, ...] = Field(
        default=(SamplingSpec(temperature=0.0), SamplingSpec(temperature=0.5), SamplingSpec(temperature=1.0)),
        min_length=2,
        max_length=100,
        description="For the test sampling: what is sent in place of the judge's own temperature or top_p, one request "
        "for each.",
    )
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
    fallback_validator: WriterSpec | None = Field(
        default=None,
        description="Asked in place of the validator where that refuses or its filter stops it; both are recorded.",
    )
    votes: int = Field(default=3, ge=1, le=25, description="Opinions of the validator on each text, at most.")
    agree: int = Field(default=2, ge=1, le=25, description="Opinions that must agree before a text is used.")
    validator_temperature: float = Field(
        default=0.7, ge=0, description="Of the validator. Above 0, so that its votes are several."
    )
    temperatures: tuple[float, ...] = Field(
        default=(0.7, 0.9, 1.1), min_length=1, description="Of the generator, one step after the other."
    )
    tries: int = Field(default=2, ge=1, le=20, description="Attempts at each temperature.")
    similarity: Literal["lexical", "embedding"] = Field(
        default="lexical",
        description="What tells synthetic texts from each other; embedding needs the extra umpirical[embeddings].",
    )
    most_similar: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="For synthetic-ordinal: a text that is as similar to another one is rejected. Default: 0.75 for "
        "lexical, 0.9 for embedding.",
    )
    unlike_originals: Scope = Field(
        default="level",
        description="For synthetic-ordinal: which of your own texts it must not be similar to, those of its own level "
        "or all.",
    )
    unlike_generated: Scope = Field(
        default="level", description="For synthetic-ordinal: the same for texts that were generated before."
    )
    examples: int = Field(
        default=EXAMPLES, ge=0, le=20, description="For synthetic-ordinal: responses of the level that are shown."
    )
    templates: dict[str, str] = Field(
        default_factory=dict,
        description="What the generator is asked, for tests that it writes: a text file for each, in place of the "
        "built-in prompt and with its placeholders.",
    )
    per_level: int = Field(default=5, ge=1, le=10_000, description="For synthetic-ordinal: texts for each level.")
    per_source: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="For synthetic-ordinal, in place of per_level: texts for each level and each of your own texts.",
    )

    @model_validator(mode="before")
    @classmethod
    def _suite(cls, data: Any) -> Any:  # noqa: ANN401  # what the file holds
        """Names the tests of a study that names none, and ours for those of the harness."""
        if not isinstance(data, dict):
            return data
        if "tests" not in data and data.get("generator") and data.get("validator"):
            return {**data, "tests": HARNESS_SUITE}
        tests = data.get("tests")
        return {**data, "tests": own_names(tests)} if isinstance(tests, list | tuple) else data

    @model_validator(mode="after")
    def _sound(self) -> "StressSpec":
        if len(set(self.tests)) != len(self.tests):
            raise ValueError("a test is named twice")
        known = [*PERTURBATIONS.names(), *REPEAT_TESTS]
        if unknown := [name for name in self.tests if name not in known]:
            near = get_close_matches(unknown[0], [*known, *HARNESS_NAMES], n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise ValueError(f"tests: no test is named {unknown[0]!r}: {hint}")
        if len(set(self.sampling)) != len(self.sampling):
            raise ValueError("sampling: the same parameters are named twice")
        if self.agree > self.votes:
            raise ValueError(f"agree: {self.agree} opinions cannot agree when there are only {self.votes} votes")
        if any(temperature < 0 for temperature in self.temperatures):
            raise ValueError("a temperature is negative")
        if self.per_source is not None and "per_level" in self.model_fields_set:
            raise ValueError("per_level and per_source: name one of them")
        if "stability" in self.tests and self.repeats < 2:
            raise ValueError("stability: needs repeats of at least 2")
        return self

    @model_validator(mode="after")
    def _written(self) -> "StressSpec":
        if self.generated and (self.generator is None or self.validator is None):
            names = ", ".join(test.name for test in self.generated)
            raise ValueError(f"{names}: written by a model, so a generator and a validator must be named")
        if len({writer.simulated for writer in self.writers.values()}) > 1:
            raise ValueError("generator and validators are all simulated or none: they do not understand others")
        if self.fallback_validator is not None and self.validator is None:
            raise ValueError("fallback_validator: there is no validator to take the place of")
        if self.fallback_validator is not None and self.fallback_validator == self.validator:
            raise ValueError("fallback_validator: it is the validator itself, which would refuse again")
        if stray := [name for name in self.templates if name not in {test.name for test in self.generated}]:
            raise ValueError(f"templates: {stray[0]!r} is not a test of this study that a generator writes")
        return self

    @property
    def writers(self) -> dict[str, WriterSpec]:
        """The models that write and validate, by what they are for."""
        named = {"generator": self.generator, "validator": self.validator, "fallback": self.fallback_validator}
        return {part: writer for part, writer in named.items() if writer is not None}

    @property
    def proved(self) -> tuple[ProvedPerturbation, ...]:
        """The tests that a program makes."""
        chosen = (PERTURBATIONS.get(name) for name in self._perturbations)
        return tuple(test for test in chosen if isinstance(test, ProvedPerturbation))

    @property
    def generated(self) -> tuple[GeneratedPerturbation, ...]:
        """The tests that a model writes."""
        chosen = (PERTURBATIONS.get(name) for name in self._perturbations)
        written = (self._told_apart(test) for test in chosen if isinstance(test, GeneratedPerturbation))
        return tuple(replace(test, prompt=self.templates.get(test.name, test.prompt)) for test in written)

    def _told_apart(self, test: GeneratedPerturbation) -> GeneratedPerturbation:
        whom = self._compared_with()
        if test.name != SYNTHETIC or (self.similarity == "lexical" and self.most_similar is None and not whom):
            return test
        from umpirical.stimuli.perturbations.synthetic_ordinal import synthetic_ordinal
        from umpirical.stimuli.similarity.embedding import installed_embedding
        from umpirical.stimuli.similarity.lexical import Lexical

        measure = Lexical() if self.similarity == "lexical" else installed_embedding()
        return synthetic_ordinal(measure, most=self.most_similar, whom=whom)

    def _compared_with(self) -> str:
        """Says which texts a synthetic one must not be similar to; empty if they are those of its own level."""
        if self.unlike_originals == self.unlike_generated == "level":
            return ""
        whose = {"level": "of the level", "all": "of all levels"}
        return f"the originals {whose[self.unlike_originals]} and the generated ones {whose[self.unlike_generated]}"

    @property
    def shown(self) -> dict[str, str]:
        """The tests with texts of their own, which judges may have a prompt for; none has one by default."""
        return dict.fromkeys(self._perturbations, "")

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
            raise ValueError(
                f"judge {compares[0]} compares: a dataset of single responses is for judges that grade, and one of "
                "pairs names the columns chosen and rejected"
            )
        for judge in self.judges:
            if judge.scale != self.dataset.scale:
                raise ValueError(f"judge {judge.name}: its scale differs from that of the dataset")
        columns = self.dataset.columns
        if self.rubric and columns.rubric:
            raise ValueError("rubric: it is either one file for all rows or columns.rubric: leave one out")
        if self.stress.generated and not (self.rubric or columns.rubric):
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
    response_prompt: str = ""
    """What the model that writes the responses is asked; empty for a study of responses of the user's own."""

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns of the dataset that some judge names, and what rows are judged by, besides the others."""
        by_judges = {column for judge in self.spec.judges for column in columns_of(judge)}
        return tuple(sorted(by_judges | set(self.spec.dataset.columns.by_row.values())))

    @property
    def review_terms(self) -> ReviewTerms:
        ordered = self.spec.dataset.scale.kind == "ordinal"
        return ReviewTerms(self.folder, self.spec.review, self.guideline, ordered)
