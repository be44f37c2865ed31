"""One model in an engine of vLLM: renders a conversation, asks for one answer, and reads what comes out."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

from umpirical.domain.digests import canonical_json
from umpirical.models.adapters.vllm.engines import ENGINES, Engine, Engines, EngineSpec
from umpirical.models.caller import CallFailed, Connection, Reply
from umpirical.models.requests import ChatRequest, Decoding
from umpirical.models.tokens import counted_usage

MOST_STARTS = 3
"""How often an engine that died is started again: a question that brings it down does so every time."""

LEAST_LOGPROB = -9999.0
"""What vLLM's own server says of a token that cannot come: JSON has no word for minus infinity."""


class VllmConnection(Connection):
    """Starts the engine with the first question, and gives it back when it is closed."""

    # The engine has a queue of its own, and computes together whatever is in it.
    gathers = True

    def __init__(self, spec: EngineSpec, *, timeout: float, engines: Engines = ENGINES) -> None:
        """`timeout` is in seconds, for one answer; loading the model is not part of it."""
        self._spec, self._timeout, self._engines = spec, timeout, engines
        self._starting: asyncio.Task[Engine] | None = None
        self._starts = 0
        self._numbers = count()

    async def send(self, request: ChatRequest, *, trial_id: str) -> Reply:
        engine = await self._started()
        # The same question may be in flight twice.
        name = f"{trial_id}-{next(self._numbers)}"
        answering = asyncio.wrap_future(engine.call(_answer(engine, request, name)))
        try:
            async with asyncio.timeout(self._timeout):
                output, read = await answering
        except TimeoutError:
            raise CallFailed("timeout", f"no answer within {self._timeout:g} s") from None
        except Exception as error:  # noqa: BLE001  # whatever it is, it is recorded as the outcome
            raise _failure(error, dead=engine.dead) from None
        return _reply(output, read, served_by=_served_by(self._spec, engine.facts), sent=self._sent(engine, request))

    def parameters(self, request: ChatRequest) -> str:
        return canonical_json(_parameters(request.decoding, request.answer_schema))

    async def close(self) -> None:
        starting, self._starting = self._starting, None
        if starting is not None:
            [engine] = await asyncio.gather(starting, return_exceptions=True)
            if isinstance(engine, Engine):
                await asyncio.to_thread(self._engines.give_back, engine)

    async def _started(self) -> Engine:
        if self._starting is not None and self._starting.done() and self._has_died(self._starting):
            await self.close()
        if self._starting is None:
            self._starts += 1
            self._starting = asyncio.create_task(self._start(self._starts))
        # Whoever gives up waiting does not stop it for the others.
        return await asyncio.shield(self._starting)

    def _has_died(self, starting: "asyncio.Task[Engine]") -> bool:
        return not starting.cancelled() and starting.exception() is None and starting.result().dead

    async def _start(self, number: int) -> Engine:
        if number > MOST_STARTS:
            raise CallFailed("rejected", f"the engine of vLLM died {MOST_STARTS} times", lasting=True)
        try:
            return await asyncio.to_thread(self._engines.lend, self._spec)
        except ModuleNotFoundError as error:
            why = "vLLM is not installed: pip install vllm" if error.name == "vllm" else str(error)
            raise CallFailed("rejected", why, lasting=True) from None
        except Exception as error:
            why = f"vLLM could not load {self._spec.model}: {type(error).__name__}: {error}"
            raise CallFailed("rejected", why, lasting=True) from error

    def _sent(self, engine: Engine, request: ChatRequest) -> str:
        return canonical_json({**_parameters(request.decoding, request.answer_schema), "engine": engine.facts})


def _parameters(decoding: Decoding, answer_schema: str) -> dict[str, Any]:
    schema = {"structured_outputs": {"json": json.loads(answer_schema)}} if answer_schema else {}
    return {**decoding.sent(), **schema}


def _served_by(spec: EngineSpec, facts: Mapping[str, Any]) -> str:
    """Returns the engine in words; the name of the model last, since a long one is cut."""
    cached = "prefix caching" if facts["enable_prefix_caching"] else "no prefix caching"
    invariant = "batch-invariant" if facts["batch_invariant"] else "not batch-invariant"
    model = f"{spec.model} {facts['files']}".strip()
    return f"vLLM {facts['version']} on {facts['device']}, {facts['dtype']}, {cached}, {invariant}: {model}"


async def _answer(engine: Engine, request: ChatRequest, name: str) -> "tuple[Any, int]":
    """Returns vLLM's output and the number of tokens of the question. Runs on the engine's loop."""
    from vllm.inputs import tokens_input

    tokens = _tokens(engine.llm.get_tokenizer(), request)
    output = None
    async for output in engine.llm.generate(tokens_input(tokens), _sampling(request), name):  # noqa: B007  # the last
        pass
    return output, len(tokens)


def _tokens(tokenizer: Any, request: ChatRequest) -> list[int]:  # noqa: ANN401  # one of several classes
    """Returns the conversation in the model's own template, as tokens; the template has the special ones in it."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _sampling(request: ChatRequest) -> Any:  # noqa: ANN401  # vLLM is not there when types are checked
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    decoding = request.decoding
    asked: dict[str, Any] = {"max_tokens": decoding.max_tokens, "output_kind": RequestOutputKind.FINAL_ONLY}
    asked |= {
        name: value
        for name, value in (
            ("temperature", decoding.temperature),
            ("top_p", decoding.top_p),
            ("seed", decoding.seed),
            ("logprobs", decoding.top_logprobs),
        )
        if value is not None
    }
    if request.answer_schema:
        asked["structured_outputs"] = StructuredOutputsParams(json=request.answer_schema)
    return SamplingParams(**asked)


def _reply(output: Any, read: int, *, served_by: str, sent: str) -> Reply:  # noqa: ANN401  # as above
    """Returns the answer in an output, or raises CallFailed for one that the model did not end."""
    if output is None or len(output.outputs) != 1:
        raise CallFailed("malformed", "the engine gave no single output")
    [said] = output.outputs
    usage = counted_usage(read, len(said.token_ids), cached=output.num_cached_tokens)
    if said.finish_reason not in ("stop", "length"):
        raise CallFailed("server-error", f"the engine ended the answer: {said.finish_reason}", usage=usage, sent=sent)
    return Reply(
        said.text,
        finish_reason=said.finish_reason,
        usage=usage,
        logprobs=_logprobs(said.token_ids, said.logprobs),
        served_by=served_by,
        sent=sent,
    )


def _logprobs(tokens: Sequence[int], places: Sequence[Mapping[int, Any]] | None) -> str:
    """Returns log-probabilities in the form of the OpenAI protocol, which is what readers of answers know."""
    if places is None:
        return ""
    content = []
    for token, place in zip(tokens, places, strict=True):
        ranked = sorted(place.items(), key=lambda entry: entry[1].rank or math.inf)
        alternatives = [_spelled(each) for _, each in ranked]
        content.append({**_spelled(place[token]), "top_logprobs": alternatives})
    return json.dumps({"content": content})


def _spelled(entry: Any) -> dict[str, Any]:  # noqa: ANN401  # as above
    text = entry.decoded_token or ""
    return {"token": text, "logprob": max(entry.logprob, LEAST_LOGPROB), "bytes": list(_bytes(text))}


@lru_cache(maxsize=4096)
def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _failure(error: Exception, *, dead: bool) -> CallFailed:
    """Returns what is recorded of a question without an answer."""
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, CallFailed):
        return error
    if dead:
        return CallFailed("server-error", f"the engine has died: {said}")
    # A question that is too long, a template that refuses a message, a schema that cannot be enforced.
    refused = isinstance(error, ValueError) or any(base.__name__ == "VLLMClientError" for base in type(error).__mro__)
    return CallFailed("rejected" if refused else "server-error", said, turned_down=refused)
