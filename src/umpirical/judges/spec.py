"""The judge spec: what the user writes about a judge. Data only; nothing here does any work."""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.domain.scales import Choice, GradeScale, JudgeKind
from umpirical.judges.judge import Capabilities
from umpirical.judges.patterns import AnswerPattern
from umpirical.models.redaction import KEY_SHAPES
from umpirical.models.requests import Decoding
from umpirical.models.spec import ModelSpec
from umpirical.text.templates import placeholders

__all__ = ["AnswerSpec", "HttpSpec", "JudgeSpec"]

OWN_HEADERS = {"host", "content-length", "content-type", "transfer-encoding", "accept-encoding", "connection"}
"""Headers that belong to the transport."""

LONGEST_WORD = 4096
"""Characters of a word in a command."""


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerSpec(_Spec):
    """How an answer is read. The default is JSON of the schema, or a bare label."""

    labels: dict[str, str] = Field(default={}, description="The judge's own words to labels of the scale: {A: '1'}.")
    pattern: str | None = Field(default=None, description="Regular expression (RE2) with a group named answer.")
    constrained: bool = Field(default=True, description="Send the JSON Schema, so that the server enforces it.")

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            AnswerPattern(pattern)
        return pattern


class HttpSpec(_Spec):
    """An endpoint that judges: what is sent to it, and where in its reply the answer is."""

    url: str = Field(pattern=r"^https?://[^\s\\@#?/]+(/[^\s\\@#?]*(\?[^\s\\@#]*)?)?$", description="Where to POST.")
    body: dict[str, Any] | list[Any] = Field(
        description="What is sent, as JSON. {{task}}, {{first}}, {{second}}, {{response}} in its texts are filled in."
    )
    answer: str = Field(
        default="",
        pattern=r"^([^.\s]+(\.[^.\s]+)*)?$",
        description="Where the answer is in the reply: result.verdict, or choices.0.text. Default: the whole reply.",
    )
    headers: dict[str, str] = Field(default={}, description="Further headers; {{key}} stands for the key.")
    api_key_env: str | None = Field(
        default=None, description="Environment variable that holds the key; sent as a bearer token unless headers say."
    )
    attempts: int = Field(default=5, ge=1, le=20, description="Attempts per call, the first included.")

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", name) or name.lower() in OWN_HEADERS:
                raise ValueError(f"headers: {name!r} cannot be set")
            if not value.isprintable() or placeholders(value) - {"key"}:
                raise ValueError(f"headers: {name} is one line, and {{{{key}}}} is all that can be filled in")
            if KEY_SHAPES.search(value):
                raise ValueError(f"headers: {name} looks like a key: put it into a variable, named in api_key_env")
        return headers

    @field_validator("body")
    @classmethod
    def _is_json(cls, body: dict[str, Any] | list[Any]) -> dict[str, Any] | list[Any]:
        try:
            json.dumps(body, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("body: what is sent must be JSON") from None
        return body

    @model_validator(mode="after")
    def _keyed(self) -> "HttpSpec":
        if self.api_key_env is None and any(map(placeholders, self.headers.values())):
            raise ValueError("headers: {{key}} needs api_key_env, the variable that holds the key")
        return self

    def filled_in(self) -> set[str]:
        """Returns the names of what is filled into the body."""
        return {name for text in _texts(self.body) for name in placeholders(text)}


def _texts(part: Any) -> Iterator[str]:  # noqa: ANN401  # JSON
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _texts(value)
    elif isinstance(part, list):
        for value in part:
            yield from _texts(value)


class JudgeSpec(_Spec):
    """One judge under test: a model with a prompt, a Python function, a program, or an endpoint."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    kind: JudgeKind = "compare"
    model: ModelSpec | None = None
    callable: str | None = Field(
        default=None,
        pattern=r"^([\w.]+|[\w./ -]+\.py):[\w.]+$",
        description="module:function, or path/file.py:function in the study's folder",
    )
    exec: tuple[Annotated[str, Field(max_length=LONGEST_WORD)], ...] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="A program that reads questions and writes answers, as JSON lines: [node, judge.js]. No shell.",
    )
    processes: int = Field(default=1, ge=1, le=64, description="How many processes of the program answer at a time.")
    http: HttpSpec | None = None
    inputs: dict[str, str] = Field(
        default={},
        description="What the judge calls what it is shown: {task: question, first: answer_a, second: answer_b}.",
    )
    batch: int = Field(default=0, ge=0, le=1000, description="Most questions that a callable takes in a list; 0: one.")
    prompts: dict[str, str] = Field(
        default={}, description="Arm to prompt: builtin:NAME, or a file beside the study file. Default: the built-in."
    )
    decoding: Decoding = Decoding()
    scale: GradeScale | None = None
    answer: AnswerSpec = AnswerSpec()
    capabilities: Capabilities = Capabilities()
    deadline: float = Field(
        default=120, gt=0, description="Seconds for one judgment of a callable or a program, or one attempt by HTTP."
    )

    @model_validator(mode="after")
    def _whole(self) -> "JudgeSpec":
        if sum(made is not None for made in (self.model, self.callable, self.exec, self.http)) != 1:
            raise ValueError("a judge has either a model, a callable, exec or http")
        if self.batch and not self.callable:
            raise ValueError("batch is for a callable; a model has a batch of its own")
        if self.processes > 1 and not self.exec:
            raise ValueError("processes is for exec")
        if self.prompts and self.model is None:
            raise ValueError("a judge that is not a model renders its own prompt: leave prompts out")
        self._check_command()
        self._check_endpoint()
        if (self.kind == "grade") != (self.scale is not None):
            raise ValueError("a grade judge needs a scale, and a compare judge has none")
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
        if unknown := self.http.filled_in() - known:
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
        return ("http", self.http.url) if self.http is not None else ("python", str(self.callable))

    @property
    def answer_field(self) -> str:
        """The field of a JSON answer that holds the verdict."""
        return "verdict" if self.kind == "compare" else "grade"
