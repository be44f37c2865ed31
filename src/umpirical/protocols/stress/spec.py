"""The study file of a stress study."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from umpirical.datasets.guess import ColumnRole, Guess, guess_dataset
from umpirical.datasets.spec import DatasetSpec
from umpirical.domain.stimuli import ORIGINAL, Stimulus
from umpirical.domain.trials import Trial
from umpirical.judges.prompt import columns_of
from umpirical.protocols.protocol import JuryTerms, NewStudy, Study, StudySpec
from umpirical.protocols.start import new_study_file, path_from, quoted, quoted_list, scalar, study_name
from umpirical.protocols.stress.given import GivenTexts
from umpirical.protocols.writing import ReviewSpec, ReviewTerms, WriterSpec
from umpirical.runs.generation import Scope
from umpirical.stimuli.generation.plan import EXAMPLES
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation, ProvedPerturbation
from umpirical.store.files import write_text

WITHOUT_GENERATOR = ("vertical-spacing", "inline-spacing", "indentation", "stability")
"""The tests that need no model besides the judge."""

HARNESS_SUITE = (
    "label-flip",
    "vertical-spacing",
    "inline-spacing",
    "indentation",
    "paraphrase",
    "verbosity-long",
    "verbosity-short",
    "stability",
)
"""The suite of the Judge Reliability Harness, for a study with a generator. New texts for every level of a scale,
`synthetic-ordinal`, cost far more than the rest, so they have to be named."""

HARNESS_NAMES = {
    "label_flip": "label-flip-structured",
    "format_invariance_1": "vertical-spacing",
    "format_invariance_2": "inline-spacing",
    "format_invariance_3": "indentation",
    "semantic_paraphrase": "paraphrase",
    "verbosity_bias_long": "verbosity-explained",
    "verbosity_bias_short": "verbosity-short",
    "stochastic_stability": "stability",
    "synthetic_ordinal": "synthetic-ordinal",
}
"""The harness's names of tests, and the test here that does what the harness's paper says."""


SELF_PREFERENCE = ("other-words", "own-words", "other-claim", "own-claim")
"""What the name `self-preference` stands for."""


def own_names(tests: Iterable[object]) -> list[object]:
    """Returns the tests with the harness's names replaced by ours, and those that a name stands for."""
    found: list[object] = []
    for test in tests:
        if test == "self-preference":
            found += SELF_PREFERENCE
        else:
            found.append(HARNESS_NAMES.get(test, test) if isinstance(test, str) else test)
    return found


REPEAT_TESTS = ("stability", "seeds", "sampling")
"""Tests that change no text: the same request again, with another seed, and with other parameters of sampling."""

SYNTHETIC = "synthetic-ordinal"


class SamplingSpec(BaseModel):
    """Sampling parameters that override the judge's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0, description="Overrides the judge's own; null keeps it.")
    top_p: float | None = Field(default=None, gt=0, le=1, description="Overrides the judge's own; null keeps it.")

    @model_validator(mode="after")
    def _sets_something(self) -> "SamplingSpec":
        if self.temperature is None and self.top_p is None:
            raise ValueError("set temperature, top_p or both")
        return self

    @property
    def sent(self) -> str:
        """What is sent, as JSON."""
        return self.model_dump_json(exclude_none=True)


class StressSpec(BaseModel):
    """The stress tests, and how to make them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tests: tuple[str, ...] = Field(
        default=WITHOUT_GENERATOR,
        min_length=1,
        description="Perturbations by name, and stability, seeds or sampling. Names of the Judge Reliability Harness "
        "also work. Default: tests that need no generator; with a generator and a validator, the harness's suite.",
    )
    repeats: int = Field(
        default=3,
        ge=1,
        le=1000,
        description="How often each original is sent, to measure the judge's own noise. With 2 or more, each changed "
        "text that should get the same grade is sent twice, to measure its noise as well.",
    )
    seeds: int = Field(
        default=3, ge=2, le=1000, description="For the test `seeds`: number of requests with different seeds."
    )
    sampling: tuple[SamplingSpec, ...] = Field(
        default=(SamplingSpec(temperature=0.0), SamplingSpec(temperature=0.5), SamplingSpec(temperature=1.0)),
        min_length=2,
        max_length=100,
        description="For the test `sampling`: values that override the judge's own temperature or top_p, one request "
        "for each.",
    )
    margin: float = Field(
        default=0.05,
        gt=0,
        lt=1,
        description="Changes up to this size do not count: a share of the scale's range, or of items for verdicts.",
    )
    policy: str | dict[str, Any] = Field(
        default="",
        description="Acceptance policy: a .yaml file beside the study file, or its keys. Default: the built-in policy.",
    )
    generator: WriterSpec | None = Field(default=None, description="Model that writes the texts a program cannot make.")
    own_generator: WriterSpec | None = Field(
        default=None,
        description="The judge's own model, for the test own-words: it paraphrases each response, and so does the "
        "generator, which must be another model.",
    )
    validator: WriterSpec | None = Field(
        default=None, description="Model that checks each written text. Use a different one than the generator."
    )
    fallback_validator: WriterSpec | None = Field(
        default=None,
        description="Used when the validator refuses or its content filter blocks the request; both are recorded.",
    )
    votes: int = Field(default=3, ge=1, le=25, description="Maximum number of validator opinions on each text.")
    agree: int = Field(default=2, ge=1, le=25, description="Number of opinions that must agree before a text is used.")
    validator_temperature: float = Field(
        default=0.7, ge=0, description="Temperature of the validator. Above 0, so that its votes can differ."
    )
    temperatures: tuple[float, ...] = Field(
        default=(0.7, 0.9, 1.1), min_length=1, description="Temperatures of the generator, tried in this order."
    )
    tries: int = Field(default=2, ge=1, le=20, description="Attempts at each temperature.")
    similarity: Literal["lexical", "embedding"] = Field(
        default="lexical",
        description="How similarity of synthetic texts is measured; embedding needs the extra umpirical[embeddings].",
    )
    most_similar: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="For synthetic-ordinal: reject a text at least this similar to another one. Default: 0.75 for "
        "lexical, 0.9 for embedding.",
    )
    unlike_originals: Scope = Field(
        default="level",
        description="For synthetic-ordinal: compare a text with your own texts of its level, or with all of them.",
    )
    unlike_generated: Scope = Field(
        default="level", description="For synthetic-ordinal: the same for texts generated earlier."
    )
    examples: int = Field(
        default=EXAMPLES, ge=0, le=20, description="For synthetic-ordinal: number of examples shown for the level."
    )
    templates: dict[str, str] = Field(
        default_factory=dict,
        description="Your own generator prompts: a text file for each generated test. It must use the placeholders of "
        "the built-in prompt.",
    )
    texts: str | None = Field(
        default=None,
        description="A table of texts that were written elsewhere: test, task and response of the original, text, and "
        "target (the label it deserves). Tests in it are not written again; the texts get the same checks.",
    )
    per_level: int = Field(default=5, ge=1, le=10_000, description="For synthetic-ordinal: texts for each level.")
    per_source: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="For synthetic-ordinal, instead of per_level: texts for each level and each of your own texts.",
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
            raise ValueError("a test is listed twice")
        known = [*PERTURBATIONS.names(), *REPEAT_TESTS]
        if unknown := [name for name in self.tests if name not in known]:
            near = get_close_matches(unknown[0], [*known, *HARNESS_NAMES], n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise ValueError(f"tests: unknown test {unknown[0]!r}: {hint}")
        against = {test.name: test.against for test in self.proved} | {
            test.name: test.against for test in self.generated
        }
        if alone := [name for name, other in against.items() if other and other not in self.tests]:
            raise ValueError(f"tests: {alone[0]} is compared with {against[alone[0]]}: add that")
        if len(set(self.sampling)) != len(self.sampling):
            raise ValueError("sampling: the same parameters are listed twice")
        if self.agree > self.votes:
            raise ValueError(f"agree: {self.agree} opinions cannot agree when there are only {self.votes} votes")
        if any(temperature < 0 for temperature in self.temperatures):
            raise ValueError("temperatures must not be negative")
        if self.per_source is not None and "per_level" in self.model_fields_set:
            raise ValueError("set per_level or per_source, not both")
        if "stability" in self.tests and self.repeats < 2:
            raise ValueError("stability needs repeats of at least 2")
        return self

    @model_validator(mode="after")
    def _written(self) -> "StressSpec":
        if self.generated and (self.generator is None or self.validator is None):
            names = ", ".join(test.name for test in self.generated)
            raise ValueError(f"{names}: needs a generator and a validator, because a model writes these tests")
        if len({writer.simulated for writer in self.writers.values()}) > 1:
            raise ValueError("generator and validators must be all simulated or all real")
        if "own-words" in self.tests and self.own_generator is None:
            raise ValueError("own-words needs own_generator: the judge's own model")
        if self.own_generator is not None and self.own_generator.model == (self.generator and self.generator.model):
            raise ValueError("own_generator and generator must be different models: their words are compared")
        if self.fallback_validator is not None and self.validator is None:
            raise ValueError("fallback_validator needs a validator")
        if self.fallback_validator is not None and self.fallback_validator == self.validator:
            raise ValueError("fallback_validator must differ from the validator, which would refuse again")
        if stray := [name for name in self.templates if name not in {test.name for test in self.generated}]:
            raise ValueError(f"templates: {stray[0]!r} is not a generated test of this study")
        return self

    @property
    def writers(self) -> dict[str, WriterSpec]:
        """The models that write and validate, by what they are for."""
        own = self.own_generator if "own-words" in self.tests else None
        named = {
            "generator": self.generator,
            "own-generator": own,
            "validator": self.validator,
            "fallback": self.fallback_validator,
        }
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
        from umpirical.stimuli.perturbations.rewritten import synthetic_ordinal
        from umpirical.stimuli.similarity import Lexical, installed_embedding

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
    """A study of grading judges on your own responses."""

    dataset: DatasetSpec = Field(description="Your responses, which the judges grade.")
    instruction: str | None = Field(
        default=None, description="Text file with the judges' instruction, {{instruction}} in a prompt."
    )
    rubric: str | None = Field(default=None, description="Text file with the rubric, {{rubric}} in a prompt.")
    stress: StressSpec = Field(default_factory=StressSpec, description="Stress tests to run.")
    review: ReviewSpec = Field(default=ReviewSpec(), description="How people review generated texts.")

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
                f"judge {compares[0]} compares answers, but this dataset has single responses; use a grading judge, "
                "or a dataset with columns chosen and rejected"
            )
        for judge in self.judges:
            if judge.scale != self.dataset.scale:
                raise ValueError(f"judge {judge.name}: its scale differs from the dataset's scale")
        columns = self.dataset.columns
        if self.rubric and columns.rubric:
            raise ValueError("set rubric or columns.rubric, not both")
        if self.stress.generated and not (self.rubric or columns.rubric):
            raise ValueError("rubric: validators need the judges' rubric; set its file")
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
    given: GivenTexts = field(default_factory=GivenTexts)
    """Texts of tests that were written elsewhere."""

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns of the dataset that some judge names, and what rows are judged by, besides the others."""
        by_judges = {column for judge in self.spec.judges for column in columns_of(judge)}
        return tuple(sorted(by_judges | set(self.spec.dataset.columns.by_row.values())))

    @property
    def review_terms(self) -> ReviewTerms:
        ordered = self.spec.dataset.scale.kind == "ordinal"
        return ReviewTerms(self.folder, self.spec.review, self.guideline, ordered)


STRESS_STUDY = """\
# Stress tests on your own responses.  umpirical schema config  lists every key.
study: {name}
seed: 1

# Guessed from {data} ({rows:,} rows). Correct any mistakes.
dataset:
  path: {path}
{columns}
{scale}
{sample}

instruction: instruction.txt   # instruction for the judges
{rubric}

stress:
  # Formatting changes that a program makes and proves harmless, and repeated requests.
  tests: [vertical-spacing, inline-spacing, indentation, stability]
  repeats: 3

judges:
  # A simulated judge for a dry run: needs no key and no network.
  - name: rehearsal
    model: {{adapter: simulated, name: sound-examiner}}

  # A model behind any OpenAI-compatible server, with the built-in prompt:
  # - name: my-model
  #   model:
  #     adapter: openai-compatible
  #     name: the-name-on-the-server
  #     base_url: http://127.0.0.1:8000/v1
  #     api_key_env: MY_API_KEY        # the name of a variable, never the key
  #   decoding: {{temperature: 0, max_tokens: 256}}

concurrency: 16
"""

ONE_RUBRIC = "rubric: rubric.txt             # replace its text with your rubric"
BY_ROW = "# Each row of the data has its own rubric: see columns.rubric."

RUBRIC_PLACEHOLDER = "Replace this text with your rubric: describe what deserves each grade."
"""The text of a rubric file until the user replaces it."""

TEXTS = {
    "instruction.txt": "Grade the answer by the rubric: give it the one grade of the scale that it deserves.\n",
    "rubric.txt": f"{RUBRIC_PLACEHOLDER}\n",
}
"""Files that are written beside a study of the user's own data, unless they exist."""

ENOUGH = 80
"""Number of items with which a judge that never changes a verdict passes at the default margin."""

SAMPLE = 120
"""Number of items: enough for a judge to pass that changes one verdict, and few enough to be cheap."""


def start_stress_study(folder: Path, data: Path, *, told: Mapping[str, str]) -> NewStudy:
    """Writes a study of the responses in `data` that runs as is, with an instruction and a placeholder for the rubric.

    `told` are the columns that a person has named; the others are guessed, and the file says on what basis. No existing
    file is overwritten, and nothing is written until all of the data has been understood.
    """
    file = new_study_file(folder)
    guess = guess_dataset(data, told=cast("Mapping[ColumnRole, str]", told))
    outside = not data.resolve().is_relative_to(folder.resolve())
    text = STRESS_STUDY.format(
        name=scalar(study_name(folder)),
        data=quoted(data.name),
        rows=guess.rows,
        path=scalar(path_from(folder, data)),
        columns=_indented(_columns(guess)),
        scale=_indented(_scale(guess)),
        sample=_indented(_sample(guess)),
        rubric=BY_ROW if "rubric" in guess.columns else ONE_RUBRIC,
    )
    folder.mkdir(parents=True, exist_ok=True)
    unused = {"rubric.txt"} if "rubric" in guess.columns else set()
    texts = {folder / name: text for name, text in TEXTS.items() if name not in unused and not (folder / name).exists()}
    for path, content in {**texts, file: text}.items():
        write_text(path, content)
    return NewStudy(file, (*texts, file), tuple(_notes(guess)), "--outside" if outside else "")


def _columns(guess: Guess) -> Iterable[str]:
    yield "columns:"
    for role, column in guess.columns.items():
        yield f"  {role}: {scalar(column)}   # {guess.because[role]}"
    if "task" not in guess.columns:
        yield "  # task: COLUMN   # no column looks like the task; if all rows share one, set  task_text  beside path"
    if guess.strata:
        yield f"  # strata: {quoted_list(guess.strata)}   # few different values; results are split by them"
    yield "  # cluster: COLUMN   # rows with the same value are not independent, such as rows by one author"


def _scale(guess: Guess) -> Iterable[str]:
    scale, column = guess.scale.scale, quoted(guess.columns["label"])
    yield f"# Based on {column}: {guess.scale.because}."
    if scale.kind == "interval":
        yield "# Replace these with the true ends of the scale."
        yield f"scale: {{kind: interval, low: {scale.low!r}, high: {scale.high!r}}}"
        return
    if scale.kind == "nominal":
        yield "# The order of the labels is unknown. If they have one, list them lowest first"
        yield "# and set  kind: ordinal."
    elif not guess.scale.ordered:
        yield "# The order of the two labels is unknown: put the lower one first."
    yield "# Add any label of the scale that no row has."
    yield f"scale: {{kind: {scale.kind}, labels: {quoted_list(scale.labels)}}}"
    which = "which of the two is" if scale.kind == "binary" else "which of them are"
    positive = quoted_list(scale.labels[-1:])
    yield f"# positive: {positive}   # {which} positive? Needed for false positives and negatives."


def _sample(guess: Guess) -> Iterable[str]:
    if guess.rows <= SAMPLE:
        yield f"# sample: {{size: {SAMPLE}, by: [label]}}   # few rows, so all of them are used"
    elif guess.scale.scale.kind == "interval":
        yield f"sample: {{size: {SAMPLE}}}"
    else:
        yield "# Labels in proportion to the file. For equal numbers of each label, add  allocation: even."
        yield f"sample: {{size: {SAMPLE}, by: [label]}}"


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _notes(guess: Guess) -> Iterator[str]:
    """Yields what was guessed, so that the user can correct it."""
    yield f"guessed from {guess.rows:,} rows:"
    for role, column in guess.columns.items():
        yield f"  {role:9} {column}   ({guess.because[role]})"
    scale = guess.scale.scale
    labels = ", ".join(scale.labels) or f"{scale.low:g} to {scale.high:g}"
    yield f"  {'scale':9} {scale.kind}: {labels}   ({guess.scale.because})"
    if not guess.scale.ordered:
        yield "  the order of the labels is unknown: see the study file"
    if guess.rows < ENOUGH:
        yield f"only {guess.rows:,} rows: a pass needs {ENOUGH} items, so a good judge ends INCONCLUSIVE"
    if "rubric" not in guess.columns:
        yield "put your rubric in rubric.txt"


def _shows_agreement(trial: Trial, stimulus: Stimulus) -> bool:
    """Whether a call is about a labeled item as it is, by the judge's own prompt and settings."""
    way = trial.presentation
    return stimulus.family == ORIGINAL and bool(stimulus.gold) and way.seed is None and not (way.sampling or way.prompt)


JURY = JuryTerms(
    of="items",
    about="The results are about these items, and only as good as their labels.",
    hears=lambda *_: True,
    knows=_shows_agreement,
)
