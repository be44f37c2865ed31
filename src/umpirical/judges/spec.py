"""The judge spec: what the user writes about a judge. Data only; nothing here does any work."""

import shlex
from collections import Counter
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from umpirical.domain.scales import Choice, GradeScale, JudgeKind
from umpirical.judges.endpoint_spec import HttpSpec, PromptfooSpec
from umpirical.judges.judge import Capabilities
from umpirical.judges.placeholders import ROW
from umpirical.judges.shapes import AnswerSpec
from umpirical.models.requests import Decoding, Message
from umpirical.models.spec import ADAPTERS, ModelSpec

Prompt = str | tuple[Message, ...]
"""A text that is sent as one user message, or messages. In a study file, a text is the name of a file."""

JUDGE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"

LONGEST_WORD = 4096
"""Characters of a word in a command."""


class JudgeSpec(BaseModel):
    """One judge under test: a model with a prompt, a Python function, a program, an endpoint, or one of promptfoo's."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field(
        pattern=JUDGE_NAME,
        description="The name in folders, reports and commands: letters, digits, dots, underscores, hyphens.",
    )
    kind: JudgeKind = Field(
        default="compare",
        description="compare: names the better of two candidates, or a tie. grade: puts one candidate on a scale.",
    )
    model: ModelSpec | None = Field(default=None, description="A language model, called with a prompt.")
    callable: str | None = Field(
        default=None,
        pattern=r"^([\w.]+|[\w./ -]+\.py):[\w.]+$",
        description="module:function, or path/file.py:function in the study's folder",
    )
    batch: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="Maximum number of questions per call of a callable (0: one), or per start of promptfoo (0: 16).",
    )
    exec: tuple[Annotated[str, Field(max_length=LONGEST_WORD)], ...] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="A program that reads questions and writes answers as JSON lines: [node, judge.js]. It runs "
        "without a shell.",
    )
    processes: int = Field(default=1, ge=1, le=64, description="Number of parallel processes of the program.")
    http: HttpSpec | None = Field(default=None, description="An HTTP endpoint that judges.")
    promptfoo: PromptfooSpec | None = Field(default=None, description="An assertion in a promptfoo config.")
    prompts: dict[str, Prompt] = Field(
        default={},
        description="Prompt for each prompt variant: builtin:NAME, or a file relative to the study file. A .yaml or "
        ".json file contains a list of messages, each with role and content. Default: the built-in "
        "prompts.",
    )
    test_prompts: dict[str, Prompt] = Field(
        default={},
        description="Prompt for each test that has its own. The original texts are also judged with this prompt, so "
        "that both verdicts are comparable.",
    )
    inputs: dict[str, str] = Field(
        default={},
        description="Your names for the fields: {task: question, first: answer_a, second: answer_b, row.reference: "
        "gold_answer}.",
    )
    values: dict[str, str] = Field(default={}, description="Prompt placeholders with a fixed text.")
    decoding: Decoding = Field(default=Decoding(), description="Sampling settings of the model.")
    scale: GradeScale | None = Field(default=None, description="The scale of a grade judge; a compare judge has none.")
    answer: AnswerSpec = Field(default=AnswerSpec(), description="How to read the answer.")
    capabilities: Capabilities = Field(default=Capabilities(), description="Capabilities of the judge. Default: all.")
    deadline: float = Field(
        default=120,
        gt=0,
        description="Timeout in seconds for one judgment of a callable or program, or for one HTTP attempt.",
    )

    source: str = Field(
        default="", max_length=300, description="Where the judge comes from, such as the file of a grader; for reports."
    )

    @model_validator(mode="after")
    def _whole(self) -> "JudgeSpec":
        if sum(made is not None for made in (self.model, self.callable, self.exec, self.http, self.promptfoo)) != 1:
            raise ValueError("a judge needs exactly one of model, callable, exec, http and promptfoo")
        if self.model is not None and not ADAPTERS.get(self.model.adapter).judges:
            raise ValueError("a simulated writer is not a judge: use adapter: simulated")
        if self.batch and not (self.callable or self.promptfoo):
            raise ValueError("batch applies to a callable or promptfoo; for a model, set batch in the model")
        if self.processes > 1 and not self.exec:
            raise ValueError("processes requires exec")
        if (self.prompts or self.test_prompts or self.values) and self.model is None:
            raise ValueError("a judge without a model builds its own prompt: remove prompts, test_prompts and values")
        if doubled := [name for name, count in Counter(self.inputs.values()).items() if count > 1]:
            raise ValueError(f"inputs: {doubled[0]!r} is named twice")
        self._check_command()
        self._check_endpoint()
        if (self.kind == "grade") != (self.scale is not None):
            if self.scale is None:
                raise ValueError("a grade judge needs a scale: add scale: {kind: ordinal, labels: [...]}")
            raise ValueError("a compare judge has no scale: remove scale, or set kind: grade")
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
            raise ValueError("inputs: not supported with http; map the fields in http.body")
        known = {"task", "first", "second"} if self.kind == "compare" else {"task", "response"}
        if unknown := {name for name in self.http.filled_in() - known if not name.startswith(ROW)}:
            raise ValueError(f"http.body: a {self.kind} judge has no field {{{{{min(unknown)}}}}}")
        if missing := known - {"task"} - self.http.filled_in():
            raise ValueError(f"http.body: {{{{{min(missing)}}}}} is missing")

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
        """The prompts of its variants, and those for tests."""
        return (*self.prompts.values(), *self.test_prompts.values())

    @property
    def answer_field(self) -> str:
        """The field of a JSON answer that holds the verdict."""
        return self.answer.field or ("verdict" if self.kind == "compare" else "grade")
