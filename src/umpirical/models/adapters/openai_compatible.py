"""The adapter for servers that speak the OpenAI chat protocol (vLLM, SGLang, llama.cpp, proxies), on aiohttp."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import Usage
from umpirical.models.adapters.bodies import read_json
from umpirical.models.adapters.catalogue import Calling, ModelAdapter, key_of
from umpirical.models.adapters.posts import JsonPosts
from umpirical.models.caller import CallFailed, Connection, Reply
from umpirical.models.recording import largest_body
from umpirical.models.requests import ChatRequest, Decoding
from umpirical.models.tokens import counted_usage

if TYPE_CHECKING:
    from umpirical.models.spec import ModelSpec

__all__ = ["ADAPTER", "OpenAIConnection", "request_body"]


class _OpenAICompatible(ModelAdapter):
    """Any server that speaks the protocol, by its address."""

    def check(self, spec: "ModelSpec") -> None:
        super().check(spec)
        if not spec.base_url:
            raise ValueError("an openai-compatible model needs base_url, such as http://127.0.0.1:8000/v1")

    def connect(self, spec: "ModelSpec", calling: Calling) -> Connection:  # noqa: ARG002  # left to the caller
        assert spec.base_url is not None  # noqa: S101  # checked with the spec
        return OpenAIConnection(base_url=spec.base_url, api_key=key_of(spec), timeout=spec.timeout)


ADAPTER = _OpenAICompatible()


class OpenAIConnection(Connection):
    """One model behind one server, over persistent connections."""

    def __init__(self, *, base_url: str, api_key: str | None = None, timeout: float = 120.0) -> None:
        """`timeout` is in seconds, for one attempt."""
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._posts = JsonPosts(f"{base_url.rstrip('/')}/chat/completions", headers=headers, timeout=timeout)
        self.secrets = (api_key,) if api_key else ()

    async def send(self, request: ChatRequest, *, trial_id: str) -> Reply:
        raw = await self._posts.send(request_body(request), trial_id, most=largest_body(request.decoding))
        try:
            return _read_completion(read_json(raw))
        except RecursionError:
            # What could just be read may be too deep to be written again.
            raise CallFailed("malformed", "a reply that is nested too deeply") from None

    def parameters(self, request: ChatRequest) -> str:
        return _parameters(request.decoding, request.answer_schema)[1]

    async def close(self) -> None:
        await self._posts.close()


def request_body(request: ChatRequest) -> dict[str, Any]:
    """The request as it goes over the wire."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    return {"model": request.model, "messages": messages, **_parameters(request.decoding, request.answer_schema)[0]}


@lru_cache(maxsize=64)
def _parameters(decoding: Decoding, answer_schema: str) -> tuple[dict[str, Any], str]:
    """Everything but model and messages, as a dictionary and as the JSON that is recorded. Must not be modified."""
    sent: dict[str, Any] = dict(decoding.sent())
    if "top_logprobs" in sent:
        sent["logprobs"] = True
    if answer_schema:
        schema = json.loads(answer_schema)
        sent["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        }
    return sent, canonical_json(sent)


def _read_completion(body: Mapping[str, Any]) -> Reply:
    """Returns a completion or raises CallFailed: a reply outside the protocol is `malformed`, never an empty answer.

    Either way the server has done work, so its usage is included.
    """
    usage = _usage(body.get("usage"))
    if error := body.get("error"):
        raise _reported(error, usage)
    try:
        [choice] = body["choices"]
        message, finish = choice["message"], choice.get("finish_reason")
        text, refusal = message.get("content"), message.get("refusal")
        index, role, tools = choice.get("index"), message.get("role"), message.get("tool_calls")
    except (LookupError, TypeError, AttributeError, ValueError):
        raise CallFailed("malformed", "not a chat completion with one choice", usage=usage) from None
    if error := choice.get("error"):
        raise _reported(error, usage)
    if refusal or finish == "content_filter":
        raise CallFailed("refused", str(refusal or "stopped by the content filter"), usage=usage)
    if not isinstance(text, str):
        raise CallFailed("malformed", f"message content is {type(text).__name__}, expected text", usage=usage)
    # A server may leave these out. If it does not, they have to say that this is the model's answer, and its only one.
    if type(index) is bool or index not in (None, 0) or role not in (None, "assistant", "model") or tools:
        raise CallFailed("malformed", "the choice is not the first answer of an assistant, in text alone", usage=usage)
    served_by = " ".join(str(body[key]) for key in ("model", "system_fingerprint") if body.get(key))
    logprobs = json.dumps(choice["logprobs"]) if choice.get("logprobs") else ""
    return Reply(
        text,
        finish_reason=_reason(finish),
        usage=usage,
        logprobs=logprobs,
        served_by=served_by,
        unread=_unread(message),
    )


def _reason(finish: Any) -> str:  # noqa: ANN401  # foreign JSON
    """Returns a finish reason as text: empty only if there is none, so that no other value passes for none."""
    return "" if finish is None or finish == "" else str(finish)


def _reported(error: Any, usage: Usage) -> CallFailed:  # noqa: ANN401  # foreign JSON
    """Returns the failure that a reply of status 200 reports, perhaps beside an answer."""
    code = error.get("code") if isinstance(error, dict) else None
    said = f"an error in a reply of status 200: {error}"
    if code == 429:
        return CallFailed("rate-limited", said, busy=True, usage=usage)
    refused = type(code) is int and 400 <= code < 500 and code != 408
    return CallFailed("rejected" if refused else "server-error", said, usage=usage)


def _usage(usage: Any) -> Usage:  # noqa: ANN401  # foreign JSON
    if not isinstance(usage, dict):
        return Usage()
    cached, reasoning = (
        details.get(name) if isinstance(details := usage.get(where), dict) else None
        for where, name in (
            ("prompt_tokens_details", "cached_tokens"),
            ("completion_tokens_details", "reasoning_tokens"),
        )
    )
    return counted_usage(
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        cached=cached,
        total=usage.get("total_tokens"),
        reasoning=reasoning,
    )


def _unread(message: Mapping[str, Any]) -> str:
    """Returns the reasoning beside an answer, under whichever name the server has for it."""
    return "".join(text for name in ("reasoning_content", "reasoning") if isinstance(text := message.get(name), str))
