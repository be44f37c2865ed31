"""The adapter for every provider that Inspect AI knows, through its public model interface.

    umpirical retries  >  Inspect, which makes one attempt  >  the provider's client, which makes one request

One layer retries, so that every request is counted, paced and under the cap. Three things about Inspect shape the rest:
its transcript keeps every call of a context for good, so each call has a context of its own; its cache would answer
a repeat with the first answer, so it is never on; and it hands on errors as completions, so `inspect_reading` looks at
why an answer stopped before anything else.
"""

import asyncio
import math
import time
from collections.abc import Mapping
from contextvars import Context
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Response
from umpirical.models.adapters.inspect.batches import BATCHED, Batches
from umpirical.models.adapters.inspect.failures import failure_of, not_billed, redacted
from umpirical.models.adapters.inspect.replies import asked_parameters, read_completion, read_usage, sent_parameters
from umpirical.models.attempts import CallFailed, CallRecord, Retrying, backoff, persist
from umpirical.models.money import FREE, Ledger, Meter, Reservation
from umpirical.models.pace import Pace
from umpirical.models.requests import ChatRequest, Decoding, Message

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelCall, ModelOutput
    from inspect_ai.model import Model as Provided

__all__ = ["InspectModel", "Provider", "open_inspect_model"]

BATCH_SECONDS = 25 * 3600
"""Providers promise a batch within a day. One that has expired without a result would be waited for without end."""

BATCH_CLIENT_RETRIES = 2
"""In a batch the client's requests are uploads and polls: one that fails must not fail every question in it."""

MOST_CONNECTIONS = 1000
"""As many as the pool of Inspect's HTTP client holds."""

UNKNOWN_CLIENT_ATTEMPTS = 3
"""What a provider's client may send for one attempt where it does not say; the worst case is reserved for each."""

Parameters = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class Provider:
    """A model as Inspect names it, and how to reach it."""

    name: str
    """Provider and model: `anthropic/claude-...`, `openai-api/SERVICE/MODEL`."""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    """None leaves it to the provider, which looks in its own environment variable."""
    model_args: Parameters = field(default_factory=dict)
    batch: bool = False

    def open(self) -> "Provided":
        """A client of its own, shared with nobody. Raises UsageError where the provider cannot be opened."""
        from inspect_ai.model import get_model

        arguments: dict[str, Any] = dict(self.model_args)
        try:
            opened = get_model(self.name, base_url=self.base_url, api_key=self.api_key, memoize=False, **arguments)
        except Exception as error:  # noqa: BLE001  # Inspect, its plugins and 30 providers: whatever it is, it is not open
            said = redacted(str(error), [self.api_key] if self.api_key else [])
            fix = "see https://inspect.aisi.org.uk/providers.html for the package and the key it needs"
            raise UsageError(f"Inspect cannot open {self.name}: {said}", fix=fix) from None
        client: Any = getattr(opened.api, "client", None)
        if "max_retries" not in arguments and isinstance(getattr(client, "max_retries", None), int):
            client.max_retries = BATCH_CLIENT_RETRIES if self.batch else 0
        return opened


def open_inspect_model(  # noqa: PLR0913  # each by its name
    provider: Provider,
    *,
    timeout: float = 120.0,
    retrying: Retrying | None = None,
    concurrency: int = 16,
    meter: Meter | None = None,
    batch_tick: float | None = None,
) -> "InspectModel":
    """A model ready to be asked. Raises UsageError where Inspect, the provider's package or its key is missing."""
    try:
        import inspect_ai  # noqa: F401

        installed_version("inspect-ai")
    except (ImportError, PackageNotFoundError):
        raise UsageError(
            f"{provider.name} is asked through Inspect AI, which is not installed",
            fix="pip install 'umpirical[inspect]'",
        ) from None
    if provider.batch and provider.name.partition("/")[0] not in BATCHED:
        raise UsageError(
            f"Inspect has no batches for {provider.name}, only for {', '.join(sorted(BATCHED))}", fix="leave batch out"
        )
    return InspectModel(
        provider, timeout=timeout, retrying=retrying, concurrency=concurrency, meter=meter, batch_tick=batch_tick
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """How one attempt ended: with an output, or with an error."""

    output: "ModelOutput | None"
    error: Exception | None
    call: "ModelCall | None"
    """Request and reply as the provider's client had them; None where the provider does not say."""
    sent: str


class InspectModel:
    """One model behind Inspect AI. Opened at once; after `close` it opens again when it is asked."""

    def __init__(  # noqa: PLR0913  # each by its name
        self,
        provider: Provider,
        *,
        timeout: float = 120.0,
        retrying: Retrying | None = None,
        concurrency: int = 16,
        meter: Meter | None = None,
        batch_tick: float | None = None,
    ) -> None:
        """`timeout` is in seconds, for one attempt; `batch_tick` is as in `Batches`."""
        self._provider = provider
        self._retrying = retrying or Retrying()
        self._concurrency = concurrency
        # A batch fills up with whatever waits, so there is no pace to find.
        self._pace = Pace(concurrency, first=concurrency) if provider.batch else Pace(concurrency)
        self._meter = meter or Meter(FREE, Ledger())
        self._seconds = BATCH_SECONDS if provider.batch else math.ceil(timeout)
        self._batches = Batches(provider.open, size=concurrency, tick=batch_tick) if provider.batch else None
        self._version = installed_version("inspect-ai")
        self._configs: dict[tuple[Decoding, str], GenerateConfig] = {}
        self._opened: Provided | None = provider.open()
        own_key = self._opened.api.api_key
        self._secrets = tuple({key for key in (provider.api_key, own_key) if key})

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        call = CallRecord()
        again = _batch_backoff if self._provider.batch else backoff
        answer = await persist(lambda: self._attempt(request, trial_id, call), self._retrying, trial_id, again=again)
        return replace(
            call.complete(answer, self._meter),
            sent=call.sent or asked_parameters(request, self._version),
            served_by=f"{answer.served_by} inspect-ai {self._version}".lstrip(),
        )

    async def close(self) -> None:
        if self._opened is not None:
            opened, self._opened = self._opened, None
            await opened.api.aclose()

    async def _attempt(self, request: ChatRequest, trial_id: str, call: CallRecord) -> Response:
        """One request: in its turn, under the cap, and booked whatever becomes of it."""
        call.attempts += 1
        mark = await self._pace.enter()
        latency, reservation = None, None
        try:
            messages, config = self._prepare(request, trial_id)
            reservation = await self._meter.reserve(request, attempts=_requests_per_attempt(self._open()))
            start = time.perf_counter()
            asked = await self._ask(messages, config)
            call.sent = asked.sent or call.sent
            if asked.output is None:
                raise self._failed(asked, reservation)
            latency = time.perf_counter() - start
            self._book(reservation, asked, call)
            return read_completion(asked.output, asked.call, trial_id, self._secrets)
        except CallFailed as failed:
            call.rate_limited += failed.kind == "rate-limited"
            # A batch asks for nothing at once, so there is nobody to slow down.
            if failed.busy and self._batches is None:
                failed.slow_down(self._pace, mark)
            raise
        finally:
            call.let_go(reservation)
            self._pace.leave(latency=latency)

    async def _ask(self, messages: "list[ChatMessage]", config: "GenerateConfig") -> _Asked:
        """In a context of its own: Inspect's transcript of the call goes with it."""
        if self._batches is None:
            return await asyncio.create_task(_ask(self._open(), messages, config, self._version), context=Context())
        group, opened = await self._batches.join()
        try:
            together = config.model_copy(update={"batch": self._batches.config(group)})
            return await asyncio.create_task(_ask(opened, messages, together, self._version), context=Context())
        finally:
            await self._batches.leave(group)

    def _failed(self, asked: _Asked, reservation: Reservation) -> CallFailed:
        assert asked.error is not None  # noqa: S101  # there is no output
        # Of a batch, a status says nothing about the bill: it may be that of the download of results.
        if self._batches is None and not_billed(asked.error):
            reservation.not_billed()
        return failure_of(asked.error, secrets=self._secrets)

    @staticmethod
    def _book(reservation: Reservation, asked: _Asked, call: CallRecord) -> None:
        assert asked.output is not None  # noqa: S101  # the caller checked it
        if asked.call is not None and asked.call.error and asked.output.usage is None:
            reservation.not_billed()
        else:
            call.book(reservation, read_usage(asked.output))

    def _open(self) -> "Provided":
        if self._opened is None:
            self._opened = self._provider.open()
        return self._opened

    def _prepare(self, request: ChatRequest, trial_id: str) -> "tuple[list[ChatMessage], GenerateConfig]":
        key = (request.decoding, request.answer_schema)
        try:
            messages = _messages(request.messages)
            if (config := self._configs.get(key)) is None:
                config = self._configs[key] = self._config(request)
        except ValueError as error:
            # Inspect's own types check what they are given: text that is no Unicode, a schema of another kind.
            raise CallFailed("rejected", f"never sent: {type(error).__name__}: {error}") from None
        if self._provider.batch:
            # Questions with different headers are never put into one batch.
            return messages, config
        return messages, config.model_copy(update={"extra_headers": {"X-Client-Request-Id": trial_id}})

    def _config(self, request: ChatRequest) -> "GenerateConfig":
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
            max_retries=0,
            timeout=self._seconds,
            attempt_timeout=self._seconds,
            # Calls in flight are the pace's to limit. Inspect's limit holds for all models of this name in the process,
            # and stays what it was when the first of them was asked: it must not be a second, hidden limit.
            max_connections=max(self._concurrency, MOST_CONNECTIONS),
            # What is written to a provider's prompt cache costs more than plain input, which the cap reckons with.
            cache_prompt=False,
        )


async def _ask(opened: "Provided", messages: "list[ChatMessage]", config: "GenerateConfig", version: str) -> _Asked:
    """One call of Inspect, and what its transcript says of it. For a context of its own."""
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import transcript

    output, failed = None, None
    try:
        output = await opened.generate(messages, config=config, cache=False)
    except Exception as error:  # noqa: BLE001  # 30 providers, each with exceptions of its own
        failed = error
    kept = transcript()
    event = kept.history.last_event
    call = event.call if isinstance(event, ModelEvent) else None
    sent = sent_parameters(call, kept.attachments, version) if call is not None and call.request else ""
    return _Asked(output, failed, call, sent)


def _messages(messages: tuple[Message, ...]) -> "list[ChatMessage]":
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[message.role](content=message.content) for message in messages]


def _requests_per_attempt(opened: "Provided") -> int:
    """How often the provider's own client may send what we ask once."""
    retries = getattr(getattr(opened.api, "client", None), "max_retries", None)
    return 1 + retries if isinstance(retries, int) else UNKNOWN_CLIENT_ATTEMPTS


def _batch_backoff(error: Exception) -> bool | float:
    """Inspect gives up a whole batch for one line it cannot read, so asking again would pay for every answer again."""
    paid_for = isinstance(error, CallFailed) and error.kind in ("malformed", "timeout")
    return False if paid_for else backoff(error)
