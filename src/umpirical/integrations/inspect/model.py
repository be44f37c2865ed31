"""Models behind Inspect AI, through Inspect's public interface. Inspect itself is an extra, imported on opening one.

    umpirical retries  >  Inspect, which makes one attempt  >  the provider's client, which makes one request

Only one layer retries, so that every request is counted, paced and under the cap. Three facts about Inspect shape the
rest: its transcript keeps every call of a context permanently, so each call has its own context; its cache would answer
a repeat with the first answer, so it is never on; and it returns errors as completions, so `calls` checks why an answer
stopped before anything else.
"""

import asyncio
import math
import re
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import UsageError
from umpirical.integrations.inspect.calls import Asked, ask, asked_parameters, chat_messages, generate_config
from umpirical.models.adapters.exchanges import IDENTITY, check_head, too_large
from umpirical.models.caller import CallFailed, Connection, Reply, backoff
from umpirical.models.recording import LARGEST, Recording, environment_secrets, largest_body
from umpirical.models.requests import ChatRequest, Decoding
from umpirical.models.spec import Calling, ModelAdapter, key_of

if TYPE_CHECKING:
    from inspect_ai.model import BatchConfig, ChatMessage, GenerateConfig, Model

    from umpirical.models.spec import ModelSpec


BATCHED = frozenset({"anthropic", "google", "grok", "openai", "together"})
"""Providers whose batch interface Inspect uses. Others would silently be asked one by one, at full price."""

OWN_ARGUMENTS = {"api_key", "base_url", "config", "default", "memoize", "model", "required", "role"}
"""Arguments of Inspect's `get_model` that are given elsewhere in the spec or not at all."""


class _Inspect(ModelAdapter):
    """Every provider that Inspect knows, by its name there."""

    names_provider = True
    client_retries = 2

    def check(self, spec: "ModelSpec") -> None:
        if not re.fullmatch(r"[\w.-]+/.+", spec.name):
            raise ValueError("name an inspect model by provider and model, such as openai/gpt-4o")
        if taken := OWN_ARGUMENTS & spec.model_args.keys():
            raise ValueError(f"model_args: {min(taken)} is not allowed here; for a key, use api_key_env")

    def connect(self, spec: "ModelSpec", calling: Calling) -> Connection:
        key = key_of(spec)
        _need_inspect(spec.name)
        if spec.batch and spec.name.partition("/")[0] not in BATCHED:
            raise UsageError(
                f"Inspect does not support batches for {spec.name}, only for {', '.join(sorted(BATCHED))}",
                fix="remove batch",
            )
        provider = Provider(
            spec.name, base_url=spec.base_url, api_key=key, model_args=spec.model_args, batch=spec.batch
        )
        return InspectConnection(provider, timeout=spec.timeout, concurrency=calling.concurrency)


ADAPTER = _Inspect()


def _need_inspect(name: str) -> None:
    try:
        import inspect_ai  # noqa: F401

        version("inspect-ai")
    except (ImportError, PackageNotFoundError):
        raise UsageError(
            f"provider models such as {name} require the `inspect` extra", fix="pip install 'umpirical[inspect]'"
        ) from None


BATCH_SECONDS = 25 * 3600
"""Providers promise a batch within a day. Without a limit, an expired batch would be waited for forever."""

BATCH_CLIENT_RETRIES = 2
"""In a batch the client's requests are uploads and polls: a single failure must not fail every question in it."""

GRACE_SECONDS = 5
"""How much longer than its own deadline Inspect may take, before a call is ended without it."""

MOST_CONNECTIONS = 1000
"""The size of the connection pool of Inspect's HTTP client."""

UNKNOWN_CLIENT_ATTEMPTS = 3
"""Requests that a provider's client may send for one attempt if it does not say; each is reserved at its worst case."""

Parameters = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class Provider:
    """A model as Inspect names it, and how to reach it."""

    name: str
    """Provider and model: `anthropic/claude-...`, `openai-api/SERVICE/MODEL`."""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    """None leaves it to the provider, which reads its own environment variable."""
    model_args: Parameters = field(default_factory=dict)
    batch: bool = False

    def open(self) -> "Model":
        """Opens a client that is not shared. Raises UsageError if the provider cannot be opened."""
        from inspect_ai.model import get_model

        # A reply of unexpected types would be quoted on standard error, with whatever is in it.
        warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
        arguments: dict[str, Any] = dict(self.model_args)
        try:
            opened = get_model(self.name, base_url=self.base_url, api_key=self.api_key, memoize=False, **arguments)
        except Exception as error:  # noqa: BLE001  # Inspect, its plugins and 30 providers: whatever it is, it is not open
            said = Recording([self.api_key] if self.api_key else []).detail(str(error))
            fix = "see https://inspect.aisi.org.uk/providers.html for the package and key it needs"
            raise UsageError(f"Inspect cannot open {self.name}: {said}", fix=fix) from None
        client: Any = getattr(opened.api, "client", None)
        if "max_retries" not in arguments and isinstance(getattr(client, "max_retries", None), int):
            client.max_retries = BATCH_CLIENT_RETRIES if self.batch else 0
        bound(client)
        return opened


class InspectConnection(Connection):
    """One model behind Inspect AI. Opened at once; after `close` it reopens when it is asked."""

    def __init__(
        self, provider: Provider, *, timeout: float = 120.0, concurrency: int = 16, batch_tick: float | None = None
    ) -> None:
        """`timeout` is in seconds, for one attempt; `batch_tick` is the `tick` of `Batches`."""
        self._provider = provider
        self._concurrency = concurrency
        self._seconds = BATCH_SECONDS if provider.batch else math.ceil(timeout)
        self._batches = Batches(provider.open, size=concurrency, tick=batch_tick) if provider.batch else None
        self._version = version("inspect-ai")
        self._configs: dict[tuple[Decoding, str], GenerateConfig] = {}
        self._opened: Model | None = provider.open()
        own_key = self._opened.api.api_key
        # A provider may read other variables by itself, such as those of Amazon's services.
        self.secrets = tuple(filter(None, (provider.api_key, own_key, *environment_secrets())))
        self.client = f"inspect-ai {self._version}"
        self.gathers = provider.batch

    @property
    def requests_per_attempt(self) -> int:
        retries = getattr(getattr(self._open().api, "client", None), "max_retries", None)
        return 1 + retries if isinstance(retries, int) else UNKNOWN_CLIENT_ATTEMPTS

    def parameters(self, request: ChatRequest) -> str:
        return asked_parameters(request, self._version)

    def try_again(self, failed: CallFailed) -> bool | float:
        # Inspect abandons a whole batch for one unreadable line, so asking again would pay for every answer again.
        paid_for = self._batches is not None and failed.kind in ("malformed", "timeout")
        return False if paid_for else backoff(failed)

    async def send(self, request: ChatRequest, *, trial_id: str) -> Reply:
        messages, config = self._prepare(request, trial_id)
        asked = await self._ask(messages, config, largest_body(request.decoding))
        try:
            return asked.reply()
        except CallFailed as failed:
            if asked.output is None and self._batches is not None:
                # The status says nothing about the bill: it may come from the download of the results.
                failed.turned_down = False
            raise

    async def close(self) -> None:
        if self._opened is not None:
            opened, self._opened = self._opened, None
            await opened.api.aclose()

    async def _ask(self, messages: "list[ChatMessage]", config: "GenerateConfig", most: int) -> Asked:
        """Asks in a context of its own, so that Inspect's transcript of the call is freed with it."""
        if self._batches is None:
            context = Context()
            context.run(MOST_BYTES.set, most)
            asking = asyncio.create_task(ask(self._open(), messages, config, self._version), context=context)
            try:
                # Inspect has the same deadline, but leaves it to each provider's client what ends with it.
                async with asyncio.timeout(self._seconds + GRACE_SECONDS):
                    return await asking
            except TimeoutError:
                raise CallFailed("timeout", f"no reply within {self._seconds} s") from None
        group, opened = await self._batches.join()
        try:
            together = config.model_copy(update={"batch": self._batches.config(group)})
            return await asyncio.create_task(ask(opened, messages, together, self._version), context=Context())
        finally:
            await self._batches.leave(group)

    def _open(self) -> "Model":
        if self._opened is None:
            self._opened = self._provider.open()
        return self._opened

    def _prepare(self, request: ChatRequest, trial_id: str) -> "tuple[list[ChatMessage], GenerateConfig]":
        key = (request.decoding, request.answer_schema)
        try:
            messages = chat_messages(request)
            if (config := self._configs.get(key)) is None:
                config = self._configs[key] = self._config(request)
        except ValueError as error:
            # Inspect's own types validate their input: text that is not Unicode, a schema of another kind.
            raise CallFailed("rejected", f"never sent: {type(error).__name__}: {error}", turned_down=True) from None
        if self._provider.batch:
            # Questions with different headers are never put into one batch.
            return messages, config
        return messages, config.model_copy(update={"extra_headers": {"X-Client-Request-Id": trial_id}})

    def _config(self, request: ChatRequest) -> "GenerateConfig":
        runtime = {
            "max_retries": 0,
            "timeout": self._seconds,
            "attempt_timeout": self._seconds,
            # The pace limits the calls in flight. Inspect's limit holds for all models of this name in the process,
            # and stays as it was when the first of them was asked: it must not become a second, hidden limit.
            "max_connections": max(self._concurrency, MOST_CONNECTIONS),
        }
        return generate_config(request).model_copy(update=runtime)


# Bounds what a provider's HTTP client reads, as far as its package lets us.


MOST_BYTES: ContextVar[int] = ContextVar("umpirical_most_bytes", default=LARGEST)
"""The most bytes of a reply, set for each call. A batch answers many calls in one reply: the default is for those."""


def bound(client: Any) -> bool:  # noqa: ANN401  # of one provider's package or another
    """Bounds the replies to a provider's client. Returns whether its HTTP client could be told to."""
    http: Any = getattr(client, "_client", None)
    if not (hasattr(http, "event_hooks") and hasattr(http, "follow_redirects")):
        return False
    http.follow_redirects = False
    http.headers.update(IDENTITY)
    hooks = http.event_hooks
    http.event_hooks = {**hooks, "response": [*hooks.get("response", ()), _check]}
    return True


async def _check(response: Any) -> None:  # noqa: ANN401  # of one version of httpx or another
    """Refuses a reply before its body is read, or has it refused while it is read."""
    most = MOST_BYTES.get()
    check_head(response.status_code, response.headers, most)
    # The client insists on a stream of its own kind.
    kind = next(base for base in type(response.stream).__mro__ if base.__name__ == "AsyncByteStream")
    response.stream = type("Bounded", (_Bounded, kind), {})(response.stream, most)


class _Bounded:
    """A stream that ends with CallFailed once it is longer than `most` bytes."""

    def __init__(self, stream: Any, most: int) -> None:  # noqa: ANN401  # of one version of httpx or another
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise too_large(self._most)
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


# Batches: each has its own Inspect model.
#
# If a batch cannot be created, Inspect's batch worker ends, and calls that wait for another of its batches wait
# forever. So calls are gathered here, and each group has its own model and worker: its calls are answered together or
# fail together.


FILL_SECONDS = 15.0
"""How long a group waits for more calls. Providers take from minutes to a day."""


class Group:
    """The calls that go into one batch."""

    def __init__(self) -> None:
        self.members = 0
        self.left = 0
        self.sent = asyncio.Event()
        self.model: Model | None = None


class Batches:
    """Gathers calls into groups of at most `size`. For one event loop."""

    def __init__(self, open_model: "Callable[[], Model]", *, size: int, tick: float | None = None) -> None:
        """`tick` is how often a batch is polled, and how long a group waits for more calls; by default 15 seconds."""
        self._open_model = open_model
        self._size = size
        self._tick = tick
        self._filling: Group | None = None

    async def join(self) -> "tuple[Group, Model]":
        """Waits until the group is complete. A caller that joined must leave."""
        group = self._filling
        if group is None:
            group = self._filling = Group()
            asyncio.get_running_loop().call_later(self._tick or FILL_SECONDS, self._send, group)
        group.members += 1
        if group.members >= self._size:
            self._send(group)
        try:
            await group.sent.wait()
        except asyncio.CancelledError:
            group.members -= 1
            raise
        if group.model is None:
            group.model = self._open_model()
        return group, group.model

    async def leave(self, group: Group) -> None:
        """The last to leave closes the model."""
        group.left += 1
        if group.left >= group.members and group.model is not None:
            model, group.model = group.model, None
            await model.api.aclose()

    def config(self, group: Group) -> "BatchConfig":
        """Returns a config with which Inspect sends the batch once the whole group has asked."""
        from inspect_ai.model import BatchConfig

        return BatchConfig(size=group.members, tick=self._tick)

    def _send(self, group: Group) -> None:
        if self._filling is group:
            self._filling = None
        group.sent.set()
