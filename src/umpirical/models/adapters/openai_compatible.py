"""Batches of OpenAI's protocol: a file of questions, a batch made from it, files of answers and of errors."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import IO, Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import Usage
from umpirical.models.adapters.exchanges import encoded, status_failure
from umpirical.models.adapters.protocols import ChatAdapter, ChatProtocol, ListedBatches
from umpirical.models.batches import BatchForm, BatchResult, BatchState, checked_id
from umpirical.models.caller import CallFailed, Reply
from umpirical.models.money import counted_usage
from umpirical.models.requests import ChatRequest, Decoding
from umpirical.models.spec import ModelSpec, key_of

MOST_ENTRIES = 50_000
MOST_BYTES = 200_000_000
"""By OpenAI's reference of `POST /v1/batches`: "up to 50,000 requests, and can be up to 200 MB in size"."""

LABEL = "umpirical"
"""The key of our name in the metadata of a batch."""

OVER = frozenset({"completed", "failed", "expired", "cancelled"})


class OpenAIBatches(ListedBatches):
    """Batches of chat completions, on a server of OpenAI's protocol."""

    most_entries = MOST_ENTRIES
    most_bytes = MOST_BYTES
    place = "/batches"
    cursor = "after"

    def entry(self, request: ChatRequest, custom_id: str) -> bytes:
        body = self.protocol.body(request)
        return encoded({"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body})

    async def upload(self, name: str, file: IO[bytes]) -> str:
        said = await self.exchanges.upload("/files", {"purpose": "batch"}, file, f"{LABEL}-{name}.jsonl")
        return checked_id(said.get("id"))

    async def create(self, name: str, file: IO[bytes], uploaded: str) -> str:  # noqa: ARG002  # it was uploaded
        made = await self.exchanges.post(
            "/batches",
            {
                "input_file_id": uploaded,
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "metadata": {LABEL: name},
            },
        )
        return checked_id(made.get("id"))

    async def find(self, name: str, *, since: datetime, entries: int) -> str | None:  # noqa: ARG002  # it has a name
        async for batch in self.listed(since):
            metadata = batch.get("metadata")
            if isinstance(metadata, dict) and metadata.get(LABEL) == name:
                return checked_id(batch.get("id"))
        return None

    def made_at(self, batch: Mapping[str, Any]) -> datetime | None:
        created = batch.get("created_at")
        return datetime.fromtimestamp(created, UTC) if type(created) is int and 0 < created < 2**37 else None

    async def state(self, batch: str) -> BatchState:
        said = await self.exchanges.get(f"/batches/{batch}")
        status = said.get("status")
        if said.get("id") != batch or not isinstance(status, str):
            raise CallFailed("malformed", "the state belongs to another batch, or is missing")
        counts = said.get("request_counts")
        total, done, failed = (_count(counts, key) for key in ("total", "completed", "failed"))
        files = [said.get(key) for key in ("output_file_id", "error_file_id")]
        results = tuple(f"/files/{checked_id(file)}/content" for file in files if file)
        why = _errors(said.get("errors"))
        return BatchState(
            status in OVER,
            f"{status}: {why}" if why else status,
            total,
            done + failed,
            results,
            # "The input file has failed the validation process."
            unworked=status == "failed" and not results and not done,
        )

    async def results(
        self,
        batch: str,  # noqa: ARG002  # they are in files
        state: BatchState,
        *,
        most: int,
        entries: int,
    ) -> AsyncIterator[BatchResult]:
        for path in state.results:
            async for result in self.results_at(path, most=most, entries=entries):
                yield result

    def read_line(self, said: Mapping[str, Any]) -> Reply:
        response, error = said.get("response"), said.get("error")
        if not isinstance(response, dict):
            expired = isinstance(error, dict) and error.get("code") == "batch_expired"
            raise CallFailed("timeout" if expired else "server-error", f"an entry has no response: {error}")
        status, body = response.get("status_code"), response.get("body")
        if error:
            raise CallFailed("malformed", f"an entry has both a response and an error: {error}")
        if type(status) is not int or not isinstance(body, dict):
            raise CallFailed("malformed", "the response of an entry has no status and body")
        if status != 200:
            raise status_failure(status, json.dumps(body).encode(), {})
        return self.protocol.read(body)


def _count(counts: object, key: str) -> int:
    found = counts.get(key) if isinstance(counts, dict) else None
    return found if type(found) is int and found >= 0 else 0


def _errors(errors: object) -> str:
    data = errors.get("data") if isinstance(errors, dict) else None
    said = [str(error.get("message")) for error in data if isinstance(error, dict)] if isinstance(data, list) else []
    return "; ".join(said[:3])


# The adapter for servers that speak the OpenAI chat protocol (vLLM, SGLang, llama.cpp, proxies), on aiohttp.


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
        raise CallFailed("malformed", "the choice is not the assistant's first answer, as text only", usage=usage)
    # A router says which provider it has taken.
    served_by = " ".join(str(body[key]) for key in ("provider", "model", "system_fingerprint") if body.get(key))
    logprobs = json.dumps(choice["logprobs"]) if choice.get("logprobs") else ""
    return Reply(
        text,
        finish_reason=_reason(finish),
        usage=usage,
        logprobs=logprobs,
        served_by=served_by,
        unread=_unread(message),
    )


def _sent(request: ChatRequest) -> str:
    return _parameters(request.decoding, request.answer_schema)[1]


PROTOCOL = ChatProtocol(request_body, _sent, _read_completion)


class _OpenAICompatible(ChatAdapter):
    protocol = PROTOCOL
    path = "/chat/completions"
    example = "http://127.0.0.1:8000/v1"

    def batches(self, spec: ModelSpec) -> BatchForm:
        return OpenAIBatches(PROTOCOL, self.exchanges(spec, ""), key_of(spec))


ADAPTER = _OpenAICompatible()


def _reason(finish: Any) -> str:  # noqa: ANN401  # foreign JSON
    """Returns a finish reason as text: empty only if there is none, so that no other value passes for none."""
    return "" if finish is None or finish == "" else str(finish)


def _reported(error: Any, usage: Usage) -> CallFailed:  # noqa: ANN401  # foreign JSON
    """Returns the failure that a reply of status 200 reports, perhaps beside an answer."""
    # A number with OpenRouter, the same as text with LiteLLM.
    code = str(error.get("code")) if isinstance(error, dict) else ""
    said = f"an error in a reply with status 200: {error}"
    if code == "429":
        return CallFailed("rate-limited", said, busy=True, usage=usage)
    refused = re.fullmatch(r"4\d\d", code) is not None and code != "408"
    return CallFailed("rejected" if refused else "server-error", said, usage=usage)


def _usage(usage: Any) -> Usage:  # noqa: ANN401  # foreign JSON
    if not isinstance(usage, dict):
        return Usage()
    return counted_usage(
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        cached=_detail(usage.get("prompt_tokens_details"), "cached_tokens"),
        total=usage.get("total_tokens"),
        reasoning=_detail(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _detail(details: Any, name: str) -> Any:  # noqa: ANN401  # foreign JSON
    return details.get(name) if isinstance(details, dict) else None


def _unread(message: Mapping[str, Any]) -> str:
    """Returns the reasoning beside an answer, under whichever name the server has for it."""
    if "reasoning_content" not in message and "reasoning" not in message:
        return ""
    return "".join(text for name in ("reasoning_content", "reasoning") if isinstance(text := message.get(name), str))
