"""The study file of an agent study."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.datasets.spec import SampleSpec
from umpirical.datasets.transcripts.files import PREPROCESSORS
from umpirical.datasets.transcripts.sources import TranscriptLimits
from umpirical.domain.policies import RULES, Closing, Figures, Forbid, Require, Rule
from umpirical.domain.scales import GradeScale
from umpirical.judges.answers import ABSTAIN
from umpirical.protocols.protocol import Study, StudySpec
from umpirical.protocols.writing import ReviewSpec, WriterSpec
from umpirical.stimuli.transcripts.cases import EDITS, ExampleCall, GivenRule
from umpirical.stimuli.transcripts.rewriting.commissions import Objective

USUAL = TranscriptLimits()

LABELS = ("violated", "satisfied")
"""What a judge may say of a policy, the worse first."""

LEVELS = "levels"
"""The test that judges may have a prompt of their own for: everything that is graded in levels."""


class TranscriptLimitsSpec(BaseModel):
    """Size limits for reading. Larger logs are rejected, never truncated."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    transcripts: int = Field(default=USUAL.transcripts, ge=1, description="Maximum number of transcripts to read.")
    messages: int = Field(default=USUAL.messages, ge=1, description="Maximum messages in one transcript.")
    message: int = Field(default=USUAL.message, ge=1, description="Maximum bytes of one message.")
    transcript: int = Field(default=USUAL.transcript, ge=1, description="Maximum bytes of one transcript.")
    total: int = Field(default=USUAL.total, ge=1, description="Maximum bytes of all transcripts in memory.")


class TranscriptsSpec(BaseModel):
    """Transcripts to show to the judges."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str = Field(description="A log file or a folder of logs: Inspect, JSON lines of messages, OpenTelemetry.")
    format: str | None = Field(default=None, description="File format. Default: detected from the file.")
    preprocess: tuple[str, ...] = Field(default=(), description="Steps applied to each transcript: drop-reasoning, ...")
    strata: tuple[str, ...] = Field(default=(), description="Metadata fields that split the results.")
    sample: SampleSpec = Field(
        default=SampleSpec(),
        description="The transcripts to use, such as {by: [category], per: 2}; `by` names strata. Default: all.",
    )
    most: int = Field(default=10_000, ge=1, description="Maximum number of transcripts to use, in order.")
    limits: TranscriptLimitsSpec = Field(default=TranscriptLimitsSpec(), description="Size limits for reading.")

    @model_validator(mode="after")
    def _known(self) -> "TranscriptsSpec":
        if unknown := [name for name in self.preprocess if name not in PREPROCESSORS]:
            raise ValueError(f"preprocess: unknown preprocessor {unknown[0]!r}; known: {', '.join(PREPROCESSORS)}")
        if other := [name for name in self.sample.by if name not in self.strata]:
            raise ValueError(f"sample.by: {other[0]!r} is not one of strata: {', '.join(self.strata) or 'none'}")
        return self


class ExampleSpec(BaseModel):
    """An example call of a forbidden tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arguments: dict[str, Any] = Field(default_factory=dict, description="Arguments of the call.")
    result: str = Field(default="ok", description="Result of the call.")


class RuleSpec(BaseModel):
    """One rule that a program can check."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    forbid: str | None = Field(default=None, description="A tool that the agent must never call.")
    require: str | None = Field(default=None, description="A tool that the agent must call.")
    figures: bool = Field(default=False, description="Numbers in the closing message must have a source.")
    closing: bool = Field(default=False, description="The run must end with a message to the user.")
    example: ExampleSpec | None = Field(default=None, description="A call of the forbidden tool to insert.")
    only: dict[str, str] = Field(
        default_factory=dict, description="Strata of the transcripts it applies to, or `transcript` with a name."
    )

    @model_validator(mode="after")
    def _one(self) -> "RuleSpec":
        said = [name for name in ("forbid", "require", "figures", "closing") if getattr(self, name)]
        if len(said) != 1:
            raise ValueError(f"a rule has exactly one of {', '.join(RULES)}; this has {' and '.join(said) or 'none'}")
        if self.example is not None and self.forbid is None:
            raise ValueError("example: only allowed with a rule that forbids a tool")
        return self

    def given(self) -> GivenRule:
        rules: list[Rule] = [Forbid(self.forbid)] if self.forbid else [Require(self.require)] if self.require else []
        rule = rules[0] if rules else Figures() if self.figures else Closing()
        example = None
        if self.forbid and self.example:
            example = ExampleCall(self.forbid, json.dumps(self.example.arguments), self.example.result)
        return GivenRule(rule, example, self.only)


class LevelItemSpec(BaseModel):
    """A rubric item that is graded in levels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(min_length=1, description="What to grade.")
    levels: dict[str, str] = Field(description="Levels, worst first, each with its criterion, or a list of levels.")
    lower_to: tuple[str, ...] = Field(default=(), description="Levels for the objective violate. Default: the worst.")
    raise_to: tuple[str, ...] = Field(default=(), description="Levels for the objective satisfy. Default: the best.")

    @field_validator("levels", mode="before")
    @classmethod
    def _spelled(cls, levels: Any) -> Any:  # noqa: ANN401  # whatever the file holds
        """A level needs no words, but it is text: YAML has made a number of 01 before we see it."""
        if isinstance(levels, dict | list) and (others := [level for level in levels if not isinstance(level, str)]):
            raise ValueError(f'a level must be text, got {others[0]!r}: put it in quotes, such as "{others[0]}"')
        if isinstance(levels, list) and len(set(levels)) != len(levels):
            raise ValueError("a level is listed twice")
        return dict.fromkeys(levels, "") if isinstance(levels, list) else levels

    @field_validator("lower_to", "raise_to", mode="before")
    @classmethod
    def _listed(cls, named: Any) -> Any:  # noqa: ANN401  # likewise
        return [named] if isinstance(named, str) else named

    @model_validator(mode="after")
    def _reachable(self) -> "LevelItemSpec":
        labels = tuple(self.levels)
        if len(labels) < 3:
            raise ValueError("levels: give at least three; for two, write the item as text with the study's labels")
        if ABSTAIN in labels or not all(label.strip() for label in labels):
            raise ValueError(f"levels: {ABSTAIN} is not allowed as a level, and a level needs a name")
        for key, least in (("lower_to", labels[:-1]), ("raise_to", labels[1:])):
            if wrong := [level for level in getattr(self, key) if level not in least]:
                raise ValueError(f"{key}: {wrong[0]!r} is not one of {', '.join(least)}")
        return self

    @property
    def scale(self) -> GradeScale:
        return GradeScale("ordinal", tuple(self.levels))

    @property
    def words(self) -> str:
        """The item as judges, planners and verifiers read it."""
        lines = (f"{level}: {words}" if words else level for level, words in self.levels.items())
        return "\n".join([self.text, "", "Levels, worst first:", *lines])

    def targets(self, objective: Objective) -> tuple[str, ...]:
        """Returns the levels that transcripts are rewritten to."""
        labels = tuple(self.levels)
        return (self.lower_to or labels[:1]) if objective == "violate" else (self.raise_to or labels[-1:])


class RewritingSpec(BaseModel):
    """How models rewrite transcripts for a rubric in words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    objectives: tuple[Objective, ...] = Field(
        default=("violate", "satisfy"),
        min_length=1,
        description="violate: agent-perturbation of the harness; satisfy: agent-positives.",
    )
    items: dict[str, str | LevelItemSpec] = Field(
        default_factory=dict,
        description="Items of the rubric, each a name and a text, or a text with levels to grade it in.",
    )
    column: str | None = Field(default=None, description="Metadata field with each transcript's own rubric.")
    planner: WriterSpec = Field(description="Model that plans the edits.")
    editor: WriterSpec | None = Field(default=None, description="Default: the planner.")
    summariser: WriterSpec | None = Field(default=None, description="Default: the planner.")
    verifier: WriterSpec = Field(
        description="Model that decides which label a transcript deserves. Use a different one than the planner."
    )
    fallback: WriterSpec | None = Field(default=None, description="Used when the verifier refuses.")
    votes: int = Field(default=3, ge=1, le=25, description="Maximum number of verifier verdicts on a transcript.")
    agree: int = Field(default=2, ge=1, le=25, description="Number of verdicts that must agree; a majority.")
    temperatures: tuple[float, ...] = Field(
        default=(0.7, 1.0),
        min_length=1,
        description="Temperatures of the planner and the editor, tried in this order.",
    )
    tries: int = Field(default=1, ge=1, le=20, description="Attempts at each temperature.")
    most_steps: int = Field(default=4, ge=1, le=50, description="Maximum number of messages a plan may change.")

    @model_validator(mode="after")
    def _sound(self) -> "RewritingSpec":
        if not self.items and self.column is None:
            raise ValueError("rewriting needs a rubric: set items or column")
        if not self.votes < 2 * self.agree <= 2 * self.votes:
            raise ValueError(f"agree: {self.agree} of {self.votes} votes is not a majority")
        for name, item in self.levels.items():
            for key, objective in (("lower_to", "violate"), ("raise_to", "satisfy")):
                if getattr(item, key) and objective not in self.objectives:
                    raise ValueError(f"items: {name} has {key}, but {objective} is not an objective")
        return self

    @property
    def levels(self) -> dict[str, LevelItemSpec]:
        """The items that are graded in levels."""
        return {name: item for name, item in self.items.items() if isinstance(item, LevelItemSpec)}

    @property
    def writers(self) -> dict[str, WriterSpec]:
        """The models by role."""
        found = {
            "planner": self.planner,
            "editor": self.editor or self.planner,
            "summariser": self.summariser or self.planner,
            "verifier": self.verifier,
        }
        return found if self.fallback is None else found | {"fallback": self.fallback}


class AgentStudySpec(StudySpec):
    """A study of agent judges."""

    transcripts: TranscriptsSpec = Field(description="Runs of your own agent.")
    rules: tuple[RuleSpec, ...] = Field(
        default=(), description="Rules of the policy. Default: rules derived from the transcripts."
    )
    edits: tuple[str, ...] = Field(default=tuple(EDITS.values()), min_length=1, description="Kinds of rules to break.")
    rewriting: RewritingSpec | None = Field(
        default=None, description="Transcripts for models to rewrite. Default: none."
    )
    review: ReviewSpec = Field(default=ReviewSpec(), description="How people review rewritten transcripts.")
    labels: tuple[str, str] = Field(default=LABELS, description="Judges' labels for a violated and a followed policy.")
    policy: str | dict[str, Any] = Field(
        default="",
        description="Acceptance policy: a .yaml file beside the study file, or its keys. Default: the built-in policy.",
    )

    @model_validator(mode="before")
    @classmethod
    def _graded(cls, data: Any) -> Any:  # noqa: ANN401  # what the file holds
        """A judge grades, with the study's two labels unless it names its own scale, or it says that it compares."""
        if not isinstance(data, dict) or not isinstance(data.get("judges"), list):
            return data
        scale = {"kind": "binary", "labels": list(data.get("labels") or LABELS)}
        judges = [
            {"kind": "grade", "scale": scale} | judge
            if isinstance(judge, dict) and judge.get("kind") != "compare"
            else judge
            for judge in data["judges"]
        ]
        return {**data, "judges": judges}

    @model_validator(mode="after")
    def _whole(self) -> "AgentStudySpec":
        if unknown := [name for name in self.edits if name not in EDITS.values()]:
            raise ValueError(f"edits: unknown edit {unknown[0]!r}; known: {', '.join(EDITS.values())}")
        for judge in self.judges:
            if judge.kind == "grade" and (judge.scale is None or judge.scale.labels != self.labels):
                raise ValueError(
                    f"judge {judge.name}: it must answer {' or '.join(self.labels)}; if it uses other words, set the "
                    "study's labels"
                )
            if self.levels and set(judge.answer.labels.values()) - {ABSTAIN}:
                raise ValueError(
                    f"judge {judge.name}: answer.labels has words for {' and '.join(self.labels)} but not for the "
                    "levels of the rubric; remove answer.labels"
                )
        return self

    @property
    def levels(self) -> dict[str, LevelItemSpec]:
        """The items of the rubric that are graded in levels."""
        return {} if self.rewriting is None else self.rewriting.levels


AgentStudy = Study[AgentStudySpec]
