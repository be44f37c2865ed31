"""The judge spec: what the user writes about a judge. Data only; nothing here does any work."""

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.domain.scales import Choice, GradeScale, JudgeKind
from umpirical.judges.judge import Capabilities
from umpirical.judges.patterns import AnswerPattern
from umpirical.models.requests import Decoding
from umpirical.models.spec import ModelSpec

__all__ = ["AnswerSpec", "JudgeSpec"]


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


class JudgeSpec(_Spec):
    """One judge under test: a model with a prompt, or a Python function."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    kind: JudgeKind = "compare"
    model: ModelSpec | None = None
    callable: str | None = Field(
        default=None,
        pattern=r"^([\w.]+|[\w./ -]+\.py):[\w.]+$",
        description="module:function, or path/file.py:function in the study's folder",
    )
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
    deadline: float = Field(default=120, gt=0, description="Seconds for one judgment of a callable.")

    @model_validator(mode="after")
    def _whole(self) -> "JudgeSpec":
        if (self.model is None) == (self.callable is None):
            raise ValueError("a judge has either a model or a callable")
        if self.batch and not self.callable:
            raise ValueError("batch is for a callable; a model has a batch of its own")
        if self.callable and self.prompts:
            raise ValueError("a callable renders its own prompt: leave prompts out")
        if (self.kind == "grade") != (self.scale is not None):
            raise ValueError("a grade judge needs a scale, and a compare judge has none")
        on_scale = (*(self.scale.labels if self.scale else Choice), "abstain")
        if unknown := [label for label in self.answer.labels.values() if label not in on_scale]:
            raise ValueError(f"answer.labels: {unknown[0]!r} is not one of {', '.join(on_scale)}")
        return self

    @property
    def answer_field(self) -> str:
        """The field of a JSON answer that holds the verdict."""
        return "verdict" if self.kind == "compare" else "grade"
