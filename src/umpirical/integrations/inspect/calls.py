"""One call through Inspect AI: the question in Inspect's terms, and how it ended.

The adapter asks in a context of its own; a task that Inspect runs asks in the context of its sample.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import FailureKind, Usage
from umpirical.models.adapters.openai_compatible import request_body
from umpirical.models.caller import CallFailed, Reply
from umpirical.models.money import counted_usage
from umpirical.models.requests import ChatRequest

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import Transcript
    from inspect_ai.model import ChatCompletionChoice, ChatMessage, GenerateConfig, Model, ModelCall, ModelOutput


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
    from inspect_ai.log import transcript
    from inspect_ai.util import LimitExceededError

    output, failed, before = None, None, _last_call(transcript())
    try:
        output = await model.generate(messages, config=config, cache=False)
    except LimitExceededError:
        # A limit of the person's own, which ends the sample and says nothing about the judge.
        raise
    except Exception as error:  # noqa: BLE001  # 30 providers, each with exceptions of its own
        failed = error
    kept = transcript()
    event = _last_call(kept)
    if event is None or event is before:
        return Asked(output, failed, None, "")
    call = event.call
    sent = sent_parameters(call, kept.attachments, version) if call is not None and call.request else ""
    return Asked(output, failed, call, sent, event.config)


def _last_call(kept: "Transcript") -> "ModelEvent | None":
    """Returns the last call in a transcript. Inside an evaluation, log events can follow it."""
    from inspect_ai.event import ModelEvent

    return next((event for event in reversed(kept.history.resident_events) if isinstance(event, ModelEvent)), None)


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


# Reads replies from Inspect AI. The reason why an answer stopped is checked before its text.


NOT_PARAMETERS = frozenset(
    {"model", "messages", "input", "inputs", "contents", "prompt", "system", "system_instruction", "instructions"}
    | {"tools", "tool_choice", "extra_headers", "http_options", "extra_body"}
)
"""Parts of a provider's request that say what is asked and of which model, not how the answer is drawn."""

ATTACHMENT = re.compile(r'"attachment://([0-9a-f]+)"')


def read_completion(output: "ModelOutput", call: "ModelCall | None") -> Reply:
    """Returns an answer or raises CallFailed. Inspect returns refusals and some rejections like a model's answer."""
    if output.empty:
        raise CallFailed("malformed", "the reply has no choices")
    choice, text = output.choices[0], output.completion
    if choice.stop_reason == "content_filter" or _is_refusal(choice):
        raise CallFailed("refused", text or "stopped by the content filter")
    if choice.stop_reason == "model_length" or output.error:
        raise CallFailed("rejected", output.error or text)
    response = (call.response if call else None) or {}
    if not text and _has_no_content(response):
        raise CallFailed("malformed", "message content is null, expected text")
    return Reply(
        text,
        finish_reason=_finish_reason(choice.stop_reason, response),
        logprobs=choice.logprobs.model_dump_json() if choice.logprobs else "",
        served_by=" ".join(str(part) for part in (output.model, response.get("system_fingerprint")) if part),
        unread=_unread(choice),
    )


def _finish_reason(stop_reason: str, response: Mapping[str, Any]) -> str:
    """Returns why the answer stopped: in OpenAI's terms or, where Inspect knows none, as the server said it."""
    if stop_reason != "unknown":
        return "length" if stop_reason == "max_tokens" else stop_reason
    try:
        said = response["choices"][0].get("finish_reason") if "choices" in response else response.get("stop_reason")
    except (LookupError, TypeError, AttributeError):
        return stop_reason
    if said is None and "choices" in response:
        # Some servers of OpenAI's protocol give no reason.
        return ""
    return said if isinstance(said, str) and said else stop_reason


def read_usage(output: "ModelOutput") -> Usage:
    """Reads the usage. Inspect counts cached tokens separately; here they are part of the input."""
    usage = output.usage
    if usage is None:
        return Usage()
    cached = usage.input_tokens_cache_read
    whole = usage.input_tokens + (cached or 0) + (usage.input_tokens_cache_write or 0)
    # Providers differ in what they leave out of a total, so only a larger one says anything.
    total = max(usage.total_tokens or 0, whole + usage.output_tokens)
    return counted_usage(whole, usage.output_tokens, cached=cached, total=total, reasoning=usage.reasoning_tokens)


def asked_parameters(request: ChatRequest, inspect_version: str) -> str:
    """Returns the requested parameters as JSON, whatever the provider does with them."""
    asked = {name: value for name, value in request_body(request).items() if name not in NOT_PARAMETERS}
    return canonical_json({**asked, "inspect": inspect_version})


def sent_parameters(call: "ModelCall", attachments: Mapping[str, str], inspect_version: str) -> str:
    """Returns what the provider's client received, as JSON: Inspect silently drops unsupported parameters."""
    extra = call.request.get("extra_body")
    every = {**call.request, **(extra if isinstance(extra, dict) else {})}
    sent = _without_nulls({name: value for name, value in every.items() if name not in NOT_PARAMETERS})
    text = canonical_json({**sent, "inspect": inspect_version})
    # Inspect stores long strings of a request separately.
    return ATTACHMENT.sub(lambda found: json.dumps(attachments.get(found[1], found[0])), text)


def _without_nulls(value: Any) -> Any:  # noqa: ANN401  # JSON
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _is_refusal(choice: "ChatCompletionChoice") -> bool:
    """Whether the model refused: OpenAI says so beside the content; Inspect marks it in the text and says `stop`."""
    content = choice.message.content
    return not isinstance(content, str) and any(getattr(part, "refusal", None) for part in content)


def _unread(choice: "ChatCompletionChoice") -> str:
    """Returns the reasoning beside an answer; what a provider encrypted says nothing of its length."""
    content = choice.message.content
    parts = [] if isinstance(content, str) else [part for part in content if not getattr(part, "redacted", False)]
    return "".join(text for part in parts if isinstance(text := getattr(part, "reasoning", None), str))


def _has_no_content(response: Mapping[str, Any]) -> bool:
    """Whether it is a reply of OpenAI's protocol in which Inspect read null as an empty text."""
    try:
        return response["choices"][0]["message"]["content"] is None
    except (LookupError, TypeError):
        return False


# Interprets an exception from Inspect AI, or from the provider's client under it, as a failed call.


CONNECTION_ERRORS = frozenset(
    {"APIConnectionError", "TransportError", "ClientConnectionError", "EndpointConnectionError"}
)
"""Base classes of openai, anthropic, httpx, aiohttp and botocore, by name: none of them has to be installed."""

NEVER_SENT = frozenset({"PrerequisiteError", "ParamValidationError"})
"""Raised by Inspect and by botocore while the request is being built."""

NEVER_CONNECTED = frozenset(
    {"ClientConnectorError", "ConnectError", "ConnectTimeout", "ConnectionRefusedError", "EndpointConnectionError"}
)
"""Raised by aiohttp, httpx, the standard library and botocore before there is a connection to send anything over."""

CODES: dict[str, FailureKind] = {"rate_limit_exceeded": "rate-limited", "server_error": "server-error"}
"""Errors that the Responses API reports inside a reply of status 200."""


def failure_of(error: BaseException) -> CallFailed:
    """Returns the failure to record. Its detail does not contain the question."""
    cause = _cause(error)
    if (refused := _refused_by_us(cause)) is not None:
        return refused
    status = _status(cause)
    said = _message(cause)
    if status is None:
        return CallFailed(_kind(cause), f"{type(cause).__name__}: {said}")
    if status == 429:
        return CallFailed("rate-limited", f"HTTP 429: {said}", retry_after=_retry_after(cause), busy=True)
    if status == 408 or status >= 500:
        busy = status in (503, 529)
        return CallFailed("server-error", f"HTTP {status}: {said}", retry_after=_retry_after(cause), busy=busy)
    return CallFailed("rejected", f"HTTP {status}: {said}")


def not_billed(error: BaseException) -> bool:
    """Whether the server turned the call down, or never saw it. Behind a server's error it may have done the work."""
    cause = _cause(error)
    if (refused := _refused_by_us(cause)) is not None:
        return refused.turned_down
    status = _status(cause)
    turned_down = status is not None and status < 500 and status != 408
    return turned_down or _never_sent(cause) or _never_connected(cause)


def _cause(error: BaseException) -> BaseException:
    """Returns the original error: Inspect wraps it once, a batch twice."""
    from tenacity import RetryError  # one of Inspect's dependencies

    while isinstance(error, RetryError) and (last := error.last_attempt.exception()) is not None:
        error = last
    return error


def _refused_by_us(cause: BaseException) -> CallFailed | None:
    """Returns the failure with which a reply was refused before it was read; the provider's client wraps it."""
    below: BaseException | None = cause
    while below is not None and not isinstance(below, CallFailed):
        below = below.__cause__
    return below


def _status(cause: BaseException) -> int | None:
    """Returns the status with which the server refused the call; None if no complete reply came."""
    found = [getattr(cause, name, None) for name in ("status_code", "status", "code")]
    response = getattr(cause, "response", None)
    if isinstance(response, dict):
        found.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    # A bool is an int, and 200 is the status of a reply that could not be read.
    return next((code for code in found if type(code) is int and 400 <= code < 600), None)


def _message(error: BaseException) -> str:
    # Inspect's own message contains the whole request, so the provider's is used.
    said = getattr(error, "provider_message", None)
    whole = said if isinstance(said, str) else str(error)
    if (below := error.__cause__) is not None and _status(error) is None:
        # "Connection error." alone is of no help.
        whole = f"{whole} ({type(below).__name__}: {below})"
    return " ".join(whole.split())


def _kind(error: BaseException) -> FailureKind:
    names = {base.__name__ for base in type(error).__mro__}
    if any("Timeout" in name for name in names):
        return "timeout"
    if names & CONNECTION_ERRORS or isinstance(error, OSError):
        return "connection"
    if "ModelRefusalError" in names:
        return "refused"
    # Inspect and its batches raise a bare RuntimeError for failures that would recur.
    if _never_sent(error) or type(error) is RuntimeError:
        return "rejected"
    if "Unexpected non-" in str(error):
        return "malformed"
    return CODES.get(str(getattr(error, "code", None)), "malformed")


def _never_sent(error: BaseException) -> bool:
    return isinstance(error, UnicodeEncodeError) or type(error).__name__ in NEVER_SENT


def _never_connected(error: BaseException | None) -> bool:
    while error is not None:
        if {base.__name__ for base in type(error).__mro__} & NEVER_CONNECTED:
            return True
        error = error.__cause__
    return False


def _retry_after(error: BaseException) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, TypeError, ValueError):
        return None
