"""The judge spec: what the user writes about a judge. Data only; nothing here does any work."""

import shlex
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.domain.scales import Choice, GradeScale, JudgeKind
from umpirical.judges.endpoint_spec import HttpSpec
from umpirical.judges.judge import Capabilities
from umpirical.judges.patterns import AnswerPattern
from umpirical.judges.placeholders import ROW
from umpirical.judges.promptfoo import PromptfooSpec
from umpirical.models.adapters.catalogue import ADAPTERS
from umpirical.models.requests import Decoding, Message
from umpirical.models.spec import ModelSpec

Occurrence = Literal["only", "first", "last"]
"""Which of several answers in one text counts."""

Prompt = str | tuple[Message, ...]
"""A text that is sent as one user message, or messages. In a study file, a text is the name of a file."""

LONGEST_WORD = 4096
"""Characters of a word in a command."""


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class AnswerSpec(_Spec):
    """How an answer is read. The default is JSON of the schema, or a bare label; at most one shape replaces it."""

    labels: dict[str, str] = Field(
        default={},
        description="The judge's own words to labels of the scale: {A: '1', B: '2', C: tie, N/A: abstain}. Words for "
        "abstain alone leave the scale's labels as they are.",
    )
    pattern: str | None = Field(
        default=None, description="Shape: a regular expression (RE2) with a group named answer."
    )
    field: str | None = Field(
        default=None,
        pattern=r"^[^.\s]+(\.[^.\s]+)*$",
        description="Shape: this field of a JSON object, such as winner or result.score; others may stand beside it.",
    )
    tag: str | None = Field(
        default=None, pattern=r"^[A-Za-z_][\w.-]*$", description="Shape: <verdict>...</verdict>, for tag: verdict."
    )
    brackets: bool = Field(default=False, description="Shape: in double brackets, such as [[A]].")
    last_line: bool = Field(default=False, description="Shape: the last line that is not blank.")
    occurrence: Occurrence = Field(
        default="only",
        description="Which one counts if a shape is there more than once. only: all of them, if they say the same.",
    )
    reasoning: bool | str = Field(
        default=False,
        description="true, or a name: the field of the JSON that holds the reasoning. It comes first in the schema.",
    )
    constrained: bool | None = Field(
        default=None,
        description="Send the JSON Schema, so that the server enforces it. Default: only if the answer has no shape of "
        "its own. Of those that have, only a field can be enforced.",
    )

    @field_validator("labels", mode="before")
    @classmethod
    def _spelled(cls, labels: Any) -> Any:  # noqa: ANN401  # whatever the file holds
        """A judge that answers true or false is written so in a study file, where they are no text."""
        if not isinstance(labels, dict):
            return labels
        return {str(word).lower() if isinstance(word, bool) else word: label for word, label in labels.items()}

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            AnswerPattern(pattern)
        return pattern

    @model_validator(mode="after")
    def _one_shape(self) -> "AnswerSpec":
        shapes = self._shapes()
        if len(shapes) > 1:
            raise ValueError(f"an answer has one shape: leave out {' or '.join(shapes)}")
        if self.occurrence != "only" and shapes in ([], ["last_line"]):
            raise ValueError("occurrence goes with pattern, field, tag or brackets, which may be there more than once")
        if isinstance(self.reasoning, str):
            if not self.reasoning.strip() or "." in self.reasoning:
                raise ValueError("reasoning is true, or the name of a field of the JSON")
            if self.reasoning == self.field:
                raise ValueError("the reasoning and the answer are one field")
        if self.reasoning and shapes not in ([], ["field"]):
            raise ValueError(f"reasoning names a field of JSON, and the answer is read by {shapes[0]}: leave one out")
        return self

    def _shapes(self) -> list[str]:
        return [name for name in ("pattern", "field", "tag", "brackets", "last_line") if getattr(self, name)]

    @property
    def shape(self) -> str:
        """The name of the shape that is set; empty for the default one."""
        return next(iter(self._shapes()), "")

    @property
    def sends_schema(self) -> bool:
        """Whether the schema is sent: free text cannot be held to one, and a prompt's own JSON has fields besides."""
        if self.shape == "field":
            return self.constrained is True
        return not self.shape and self.constrained is not False

    @property
    def reasoning_field(self) -> str:
        """The field of the JSON that holds the reasoning; empty if none is asked for."""
        return self.reasoning if isinstance(self.reasoning, str) else "reasoning" if self.reasoning else ""


class JudgeSpec(_Spec):
    """One judge under test: a model with a prompt, a Python function, a program, an endpoint, or one of promptfoo's."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        description="What it is called in folders, pages and commands: letters, digits, dots, underscores, hyphens.",
    )
    kind: JudgeKind = Field(
        default="compare", description="compare: names one of two candidates, or a tie. grade: puts one on a scale."
    )
    model: ModelSpec | None = Field(default=None, description="A language model, which is asked with a prompt.")
    callable: str | None = Field(
        default=None,
        pattern=r"^([\w.]+|[\w./ -]+\.py):[\w.]+$",
        description="module:function, or path/file.py:function in the study's folder",
    )
    batch: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="Most questions in one list for a callable (0: one), or in one start of promptfoo (0: 16).",
    )
    exec: tuple[Annotated[str, Field(max_length=LONGEST_WORD)], ...] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="A program that reads questions and writes answers, as JSON lines: [node, judge.js]. No shell.",
    )
    processes: int = Field(default=1, ge=1, le=64, description="How many processes of the program answer at a time.")
    http: HttpSpec | None = Field(default=None, description="An endpoint that judges.")
    promptfoo: PromptfooSpec | None = Field(default=None, description="An assertion in a config of promptfoo's.")
    prompts: dict[str, Prompt] = Field(
        default={},
        description="Arm to prompt: builtin:NAME, or a file beside the study file. One that ends in .yaml or .json is "
        "a list of messages, each with role and content. Default: the built-in.",
    )
    test_prompts: dict[str, Prompt] = Field(
        default={},
        description="Test to prompt, where a test has one of its own: the texts of the test and their originals are "
        "asked with it, so that verdicts of one prompt are compared.",
    )
    inputs: dict[str, str] = Field(
        default={},
        description="Our names of what a judge is shown to its own: {task: question, first: answer_a, second: "
        "answer_b, row.reference: gold_answer}.",
    )
    values: dict[str, str] = Field(default={}, description="Placeholders of the prompts that are always the same text.")
    decoding: Decoding = Field(default=Decoding(), description="How the answer of a model is drawn.")
    scale: GradeScale | None = Field(
        default=None, description="What a grade judge may answer; a compare judge has none."
    )
    answer: AnswerSpec = Field(default=AnswerSpec(), description="How an answer is read.")
    capabilities: Capabilities = Field(
        default=Capabilities(), description="What can be asked of the judge, where that is not everything."
    )
    deadline: float = Field(
        default=120, gt=0, description="Seconds for one judgment of a callable or a program, or one attempt by HTTP."
    )

    @model_validator(mode="after")
    def _whole(self) -> "JudgeSpec":
        if sum(made is not None for made in (self.model, self.callable, self.exec, self.http, self.promptfoo)) != 1:
            raise ValueError("a judge has either a model, a callable, exec, http or promptfoo")
        if self.model is not None and not ADAPTERS.get(self.model.adapter).judges:
            raise ValueError("a simulated writer is no judge: adapter: simulated  has judges")
        if self.batch and not (self.callable or self.promptfoo):
            raise ValueError("batch is for a callable or promptfoo; a model has a batch of its own")
        if self.processes > 1 and not self.exec:
            raise ValueError("processes is for exec")
        if (self.prompts or self.test_prompts or self.values) and self.model is None:
            raise ValueError(
                "a judge that is not a model renders its own prompt: leave prompts, test_prompts and values out"
            )
        if doubled := [name for name, count in Counter(self.inputs.values()).items() if count > 1]:
            raise ValueError(f"inputs: {doubled[0]!r} is named twice")
        self._check_command()
        self._check_endpoint()
        if (self.kind == "grade") != (self.scale is not None):
            if self.scale is None:
                raise ValueError("a judge that grades needs a scale: add scale: {kind: ordinal, labels: [...]}")
            raise ValueError("a judge that compares has no scale: leave scale out, or say kind: grade")
        on_scale = (*(self.scale.labels if self.scale else Choice), "abstain")
        if unknown := [label for label in self.answer.labels.values() if label not in on_scale]:
            raise ValueError(f"answer.labels: {unknown[0]!r} is not one of {', '.join(on_scale)}")
        return self

    def _check_command(self) -> None:
        if self.exec and (not self.exec[0] or any("\0" in word for word in self.exec)):
            raise ValueError("exec: name a program and its arguments, such as [node, judge.js]")

    def _check_endpoint(self) -> None:
        if self.http is None:
            return
        if self.inputs:
            raise ValueError("inputs: the body of http says what is sent as what")
        known = {"task", "first", "second"} if self.kind == "compare" else {"task", "response"}
        if unknown := {name for name in self.http.filled_in() - known if not name.startswith(ROW)}:
            raise ValueError(f"http.body: there is no {{{{{min(unknown)}}}}} to show a {self.kind} judge")
        if missing := known - {"task"} - self.http.filled_in():
            raise ValueError(f"http.body: {{{{{min(missing)}}}}} is not sent")

    @property
    def made_of(self) -> tuple[str, str]:
        """What kind of thing answers, and which one: ("program", "node judge.js")."""
        if self.model is not None:
            return self.model.adapter, self.model.name
        if self.exec is not None:
            return "program", shlex.join(self.exec)
        if self.promptfoo is not None:
            return "promptfoo", f"assertion {self.promptfoo.assertion} of {self.promptfoo.config}"
        return ("http", self.http.url) if self.http is not None else ("python", str(self.callable))

    @property
    def loads_model(self) -> bool:
        """Whether its model is loaded into whichever process asks it."""
        return self.model is not None and ADAPTERS.get(self.model.adapter).loads

    @property
    def every_prompt(self) -> tuple[Prompt, ...]:
        """The prompts of its arms, and those for tests."""
        return (*self.prompts.values(), *self.test_prompts.values())

    @property
    def answer_field(self) -> str:
        """The field of a JSON answer that holds the verdict."""
        return self.answer.field or ("verdict" if self.kind == "compare" else "grade")
