"""The judge spec: what the user writes about a judge, and nothing that does work."""

import re
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.domain.scales import Choice, GradeScale, JudgeKind, ScaleKind
from umpirical.judges.judge import Capabilities
from umpirical.models.requests import Decoding

__all__ = ["JudgeSpec", "ModelSpec"]


OWN_ARGUMENTS = {"api_key", "base_url", "config", "default", "memoize", "model", "required", "role"}
"""Of Inspect's `get_model`, and said elsewhere in the spec or not at all."""


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PriceSpec(_Spec):
    """US dollars per million tokens."""

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)


class ModelSpec(_Spec):
    """Which model, and where it is."""

    adapter: Literal["openai-compatible", "inspect", "simulated"]
    name: str = Field(
        description="The model's name on its server; provider and model for inspect; or a simulated judge's profile."
    )
    base_url: str | None = Field(default=None, description="Of an OpenAI-compatible server: http://127.0.0.1:8000/v1")
    api_key_env: str | None = Field(default=None, description="Environment variable that holds the key.")
    price: Literal["free"] | PriceSpec | None = Field(
        default=None, description="Only where no price is known: free for a server of your own, or dollars per million."
    )
    timeout: float = Field(default=120, gt=0, description="Seconds for one attempt.")
    attempts: int = Field(default=5, ge=1, le=20, description="Attempts per call, the first included.")
    batch: bool = Field(default=False, description="Through inspect only: ask by the provider's batch interface.")
    model_args: dict[str, str | int | float | bool] = Field(
        default={}, description="Through inspect only: arguments for the provider, such as {responses_api: false}."
    )

    @model_validator(mode="after")
    def _inspected(self) -> "ModelSpec":
        if self.adapter != "inspect":
            if self.batch or self.model_args:
                raise ValueError("batch and model_args are for the inspect adapter")
            return self
        if not re.fullmatch(r"[\w.-]+/.+", self.name):
            raise ValueError("an inspect model is named by provider and model, such as openai/gpt-4o")
        if taken := OWN_ARGUMENTS & self.model_args.keys():
            raise ValueError(f"model_args: {min(taken)} is not for here; a key goes into api_key_env")
        return self

    @model_validator(mode="after")
    def _located(self) -> "ModelSpec":
        if self.adapter == "openai-compatible" and not self.base_url:
            raise ValueError("an openai-compatible model needs base_url, such as http://127.0.0.1:8000/v1")
        if self.base_url and not re.match(r"https?://", self.base_url):
            raise ValueError("base_url must start with http:// or https://")
        return self


class DecodingSpec(_Spec):
    """How the answer is drawn; null leaves a parameter out of the request."""

    temperature: float | None = Field(default=0.0, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=256, ge=1)
    seed: int | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=20)

    def build(self) -> Decoding:
        return Decoding(**self.model_dump())


class ScaleSpec(_Spec):
    """The scale of a `grade` judge."""

    kind: ScaleKind
    labels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _sound(self) -> "ScaleSpec":
        self.build()
        return self

    def build(self) -> GradeScale:
        return GradeScale(self.kind, self.labels, self.low, self.high)


class AnswerSpec(_Spec):
    """How an answer is read. The default is JSON of the schema, or a bare label."""

    labels: dict[str, str] = Field(default={}, description="The judge's own words to labels of the scale: {A: '1'}.")
    pattern: str | None = Field(default=None, description="Regular expression with a group named answer.")
    constrained: bool = Field(default=True, description="Send the JSON Schema, so that the server enforces it.")

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        try:
            named = pattern is None or "answer" in re.compile(pattern).groupindex
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
        if not named:
            raise ValueError("the pattern needs a group named answer: (?P<answer>1|2|tie)")
        return pattern


class CapabilitiesSpec(_Spec):
    """What can be asked of the judge."""

    accepts_empty: bool = True
    order_controllable: bool = True
    stateful: bool = False
    gives_confidence: bool = False

    def build(self) -> Capabilities:
        return Capabilities(**self.model_dump())


class JudgeSpec(_Spec):
    """One judge under test: a model with a prompt, or a Python function."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    kind: JudgeKind = "compare"
    model: ModelSpec | None = None
    callable: str | None = Field(default=None, pattern=r"^[\w.]+:[\w.]+$", description="module:function")
    prompts: dict[str, str] = Field(
        default={}, description="Arm to prompt: builtin:NAME, or a file beside the study file. Default: the built-in."
    )
    decoding: DecodingSpec = DecodingSpec()
    scale: ScaleSpec | None = None
    answer: AnswerSpec = AnswerSpec()
    capabilities: CapabilitiesSpec = CapabilitiesSpec()

    @model_validator(mode="after")
    def _whole(self) -> "JudgeSpec":
        if (self.model is None) == (self.callable is None):
            raise ValueError("a judge has either a model or a callable")
        if self.callable and self.prompts:
            raise ValueError("a callable renders its own prompt: leave prompts out")
        if (self.kind == "grade") != (self.scale is not None):
            raise ValueError("a grade judge needs a scale, and a compare judge has none")
        on_scale = (*(self.scale.labels if self.scale else Choice), "abstain")
        if unknown := [label for label in self.answer.labels.values() if label not in on_scale]:
            raise ValueError(f"answer.labels: {unknown[0]!r} is not one of {', '.join(on_scale)}")
        return self
