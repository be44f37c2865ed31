"""A judge made of a model, a prompt and an answer schema."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from umpirical.domain.digests import Json, digest
from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.answers import AnswerReader, read_response
from umpirical.judges.judge import Capabilities
from umpirical.judges.layout import layout_values
from umpirical.judges.placeholders import ROW
from umpirical.judges.prompt import fence, messages_of
from umpirical.judges.spec import Prompt
from umpirical.models.requests import ChatRequest, Decoding, Message, Model
from umpirical.text.templates import fill


@dataclass(frozen=True)
class ModelJudge:
    """Renders, asks and reads; the model itself is only asked."""

    name: str
    kind: JudgeKind
    model: Model
    model_name: str
    endpoint: str
    """Where the model is served. Not part of a trial's id, but a run is never resumed on another server."""
    prompts: Mapping[str, Prompt]
    """The prompt template of each variant."""
    test_prompts: Mapping[str, Prompt]
    """Templates that take the place of the variant's, each for a test of its own."""
    columns: tuple[str, ...]
    """The columns of the data that the prompts name."""
    reader: AnswerReader
    decoding: Decoding
    scale: GradeScale | None
    capabilities: Capabilities
    constrained: bool
    """Whether the answer schema is sent along."""
    fingerprint: str

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(self.prompts)

    @property
    def question_fingerprint(self) -> str:
        configuration: dict[str, Json] = {
            "model": self.model_name,
            "endpoint": self.endpoint,
            "prompts": {variant: _json(prompt) for variant, prompt in self.prompts.items()},
            "decoding": dict(self.decoding.sent()),
            "schema": self.reader.schema() if self.constrained else "",
        }
        if self.test_prompts:
            configuration["test_prompts"] = {test: _json(prompt) for test, prompt in self.test_prompts.items()}
        return digest("questions", configuration)

    def request(self, shown: Presented, presentation: Presentation) -> ChatRequest:
        scale = presentation.scale(self.scale)
        values = {
            "task": shown.task,
            "first": shown.first,
            "second": shown.second or "",
            "fence": fence(shown),
            "scale": describe_scale(scale),
            "order": describe_order(scale),
            **layout_values(presentation.layout),
            **{f"{ROW}{name}": text for name, text in shown.columns.items()},
        }
        own = self.test_prompts[presentation.prompt] if presentation.prompt else self.prompts[presentation.variant]
        prompt = messages_of(own)
        messages = tuple(Message(message.role, fill(message.content, values)) for message in prompt)
        schema = self.reader.under(presentation).schema() if self.constrained else ""
        return ChatRequest(self.model_name, messages, self._decoding(presentation), schema)

    def _decoding(self, presentation: Presentation) -> Decoding:
        """Returns the judge's own settings, with what the presentation sets instead."""
        decoding = self.decoding
        if presentation.sampling:
            decoding = replace(decoding, **json.loads(presentation.sampling))
        return decoding if presentation.seed is None else replace(decoding, seed=presentation.seed)

    async def ask(self, request: ChatRequest, *, trial_id: str) -> Response:
        return await self.model.generate(request, trial_id=trial_id)

    def read(self, response: Response, presentation: Presentation) -> Outcome:
        return read_response(self.reader, response, presentation)

    async def close(self) -> None:
        await self.model.close()


def _json(prompt: Prompt) -> Json:
    return prompt if isinstance(prompt, str) else [[message.role, message.content] for message in prompt]


def describe_scale(scale: GradeScale | None) -> str:
    if scale is None:
        return ""
    if scale.kind == "interval":
        return f"a number from {scale.low:g} to {scale.high:g}"
    return ", ".join(f'"{label}"' for label in scale.labels)


def describe_order(scale: GradeScale | None) -> str:
    """Says in which order `describe_scale` names the labels, for a prompt."""
    return "in no order" if scale is not None and scale.kind == "nominal" else "lowest first"
