"""One call through Inspect AI: the question in Inspect's terms, and how it ended.

The adapter asks in a context of its own; a task that Inspect runs asks in the context of its sample.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from umpirical.models.adapters.inspect.failures import failure_of, not_billed
from umpirical.models.adapters.inspect.replies import read_completion, read_usage, sent_parameters
from umpirical.models.caller import CallFailed, Reply
from umpirical.models.requests import ChatRequest

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelCall, ModelOutput


@dataclass(frozen=True, slots=True)
class Asked:
    """How one attempt ended: with an output, or with an error."""

    output: "ModelOutput | None"
    error: Exception | None
    call: "ModelCall | None"
    """Request and reply as the provider's client had them; None if the provider does not report them."""
    sent: str
    config: "GenerateConfig | None" = None
    """What was in effect, with what Inspect added; None if Inspect recorded nothing."""

    def reply(self) -> Reply:
        """Returns the answer. Raises CallFailed if there is none."""
        if self.output is None:
            assert self.error is not None  # noqa: S101  # there is no output
            failed = failure_of(self.error)
            failed.turned_down, failed.sent = not_billed(self.error), self.sent
            raise failed
        refused = self.call is not None and self.call.error and self.output.usage is None
        usage = None if refused else read_usage(self.output)
        try:
            return replace(read_completion(self.output, self.call), usage=usage, sent=self.sent)
        except CallFailed as failed:
            failed.sent, failed.usage, failed.turned_down = self.sent, usage, bool(refused)
            raise


async def ask(model: "Model", messages: "list[ChatMessage]", config: "GenerateConfig", version: str) -> Asked:
    """Makes one call, and reads Inspect's transcript of it. `version` is Inspect's."""
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import transcript
    from inspect_ai.util import LimitExceededError

    output, failed = None, None
    try:
        output = await model.generate(messages, config=config, cache=False)
    except LimitExceededError:
        # A limit of the person's own, which ends the sample and says nothing about the judge.
        raise
    except Exception as error:  # noqa: BLE001  # 30 providers, each with exceptions of its own
        failed = error
    kept = transcript()
    event = kept.history.last_event
    if not isinstance(event, ModelEvent):
        return Asked(output, failed, None, "")
    call = event.call
    sent = sent_parameters(call, kept.attachments, version) if call is not None and call.request else ""
    return Asked(output, failed, call, sent, event.config)


def chat_messages(request: ChatRequest) -> "list[ChatMessage]":
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[message.role](content=message.content) for message in request.messages]


def generate_config(request: ChatRequest) -> "GenerateConfig":
    """Returns the decoding and the schema of a question, and nothing about retries and deadlines."""
    from inspect_ai.model import GenerateConfig, ResponseSchema
    from inspect_ai.util import JSONSchema

    decoding = request.decoding
    schema = JSONSchema.model_validate_json(request.answer_schema) if request.answer_schema else None
    return GenerateConfig(
        temperature=decoding.temperature,
        top_p=decoding.top_p,
        max_tokens=decoding.max_tokens,
        seed=decoding.seed,
        logprobs=None if decoding.top_logprobs is None else True,
        top_logprobs=decoding.top_logprobs,
        response_schema=ResponseSchema(name="answer", json_schema=schema, strict=True) if schema else None,
        # Writing to a provider's prompt cache costs more than plain input, which is what the cap assumes.
        cache_prompt=False,
    )
