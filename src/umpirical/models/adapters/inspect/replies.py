"""Reads replies from Inspect AI. The reason why an answer stopped is checked before its text."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import Usage
from umpirical.models.adapters.openai_compatible import request_body
from umpirical.models.caller import CallFailed, Reply
from umpirical.models.requests import ChatRequest
from umpirical.models.tokens import counted_usage

if TYPE_CHECKING:
    from inspect_ai.model import ChatCompletionChoice, ModelCall, ModelOutput

NOT_PARAMETERS = frozenset(
    {"model", "messages", "input", "inputs", "contents", "prompt", "system", "system_instruction", "instructions"}
    | {"tools", "tool_choice", "extra_headers", "http_options", "extra_body"}
)
"""Parts of a provider's request that say what is asked and of which model, not how the answer is drawn."""

ATTACHMENT = re.compile(r'"attachment://([0-9a-f]+)"')


def read_completion(output: "ModelOutput", call: "ModelCall | None") -> Reply:
    """Returns an answer or raises CallFailed. Inspect returns refusals and some rejections like a model's answer."""
    if output.empty:
        raise CallFailed("malformed", "a reply without choices")
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
