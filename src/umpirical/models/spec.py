"""Models: what the user writes about one, the interface of adapters that reach them, and the registry of adapters."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.domain.errors import UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.models.batches import BatchForm
from umpirical.models.caller import Caller, Connection, Retrying
from umpirical.models.money import FREE, Ledger, Meter
from umpirical.models.outage import Outages
from umpirical.models.pace import Others, Pace
from umpirical.models.recording import KEY_SHAPES, SECRET_NAMES, looks_like_key
from umpirical.models.requests import Model
from umpirical.registry import INTEGRATION, Registry
from umpirical.text.templates import fill, placeholders


class PriceSpec(BaseModel):
    """US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Decimal = Field(ge=0, description="US dollars per million input tokens.")
    output: Decimal = Field(ge=0, description="US dollars per million output tokens.")
    cached: Decimal | None = Field(
        default=None,
        ge=0,
        exclude_if=lambda cached: cached is None,
        description="US dollars per million input tokens that the provider reads from its cache. Default: input.",
    )

    @model_validator(mode="after")
    def _rebated(self) -> "PriceSpec":
        if self.cached is not None and self.cached > self.input:
            raise ValueError("price: cached must not be above input, which is what a budget expects at most")
        return self


class TlsSpec(BaseModel):
    """Files for encrypted connections to a server that this machine's own settings do not cover."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ca: str | None = Field(
        default=None, description="Certificates (PEM) of the only authorities to trust for this server."
    )
    certificate: str | None = Field(
        default=None, description="Your client certificate (PEM), if the server requires one."
    )
    key: str | None = Field(
        default=None, description="Its private key (PEM, no passphrase), unless it is in the same file."
    )

    @model_validator(mode="after")
    def _usable(self) -> "TlsSpec":
        named = [path for path in (self.ca, self.certificate, self.key) if path is not None]
        if not named or (self.key and not self.certificate):
            raise ValueError("tls needs ca, certificate, or both certificate and key")
        if wrong := [path for path in named if not path.startswith(("/", "~/")) or not path.isprintable()]:
            raise ValueError(f"tls: {wrong[0]!r} must be an absolute path or start with ~/")
        return self


OWN_HEADERS = {"host", "content-length", "content-type", "transfer-encoding", "accept-encoding", "connection"}
"""Headers that belong to the transport."""


def _sendable(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", name) or name.lower() in OWN_HEADERS:
            raise ValueError(f"headers: {name!r} cannot be set")
        if not value.isprintable() or placeholders(value) - {"key"}:
            raise ValueError(f"headers: {name} must be one line, and {{{{key}}}} is the only placeholder allowed")
        if KEY_SHAPES.search(value):
            raise ValueError(
                f"headers: {name} looks like a key: put it in an environment variable, and set api_key_env to the "
                "name of the variable"
            )
    return headers


Headers = Annotated[dict[str, str], AfterValidator(_sendable)]
"""Headers besides those of the protocol."""


ENDPOINT = {"adapter", "base_url", "batch", "headers", "model_args"}
"""The settings of a model that say whom a question goes to: its answer is taken over only by a run with the same."""


def _known_adapters(schema: dict[str, Any]) -> None:
    schema["enum"] = ADAPTERS.names()


class ModelSpec(BaseModel):
    """Which model, and where it is."""

    # An error must not show what was written: it may be a key in the wrong place.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    adapter: str = Field(
        description="How to connect: openai-compatible, anthropic, inspect, vllm, simulated, simulated-writer, or an "
        "adapter from a plugin.",
        json_schema_extra=_known_adapters,
    )
    name: str = Field(
        description="The model's name on its server; provider/model for inspect; for vllm, its folder or its Hugging "
        "Face name; for simulated, a profile; for simulated-writer, generator or validator."
    )
    base_url: str | None = Field(
        default=None,
        description="URL of the server: http://127.0.0.1:8000/v1, or https://api.anthropic.com for anthropic. A query, "
        "such as ?api-version=2024-10-21, is sent with every request.",
    )
    api_key_env: str | None = Field(
        default=None,
        description="Environment variable with the API key; sent as the protocol does, unless headers contain {{key}}.",
    )
    headers: Headers = Field(
        default={},
        exclude_if=lambda headers: not headers,
        description="Additional headers for openai-compatible and anthropic; {{key}} is replaced by the key: "
        "{api-key: '{{key}}'}.",
    )
    price: Literal["free"] | PriceSpec | None = Field(
        default=None, description="Only if no price is known: free for your own server, or dollars per million tokens."
    )
    tls: TlsSpec | None = Field(
        default=None,
        exclude=True,
        description="TLS files for openai-compatible and anthropic: {ca, certificate, key}, by path.",
    )
    timeout: float = Field(default=120, gt=0, description="Timeout in seconds for one attempt.")
    attempts: int = Field(
        default=5, ge=1, le=20, description="Maximum number of attempts per call, including the first."
    )
    batch: bool = Field(default=False, description="Use the provider's batch API, if the adapter supports it.")
    model_args: dict[str, str | int | float | bool] = Field(
        default={},
        description="Arguments for the adapter, such as {responses_api: false} for inspect, or {dtype: bfloat16} for "
        "vllm.",
    )

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, name: str | None) -> str | None:
        if name is not None and looks_like_key(name):
            raise ValueError(
                "this looks like a key, not the name of a variable; put the key in an environment variable, and write "
                "the name of that variable here"
            )
        return name

    @field_validator("model_args")
    @classmethod
    def _hold_no_key(cls, arguments: dict[str, str | int | float | bool]) -> dict[str, str | int | float | bool]:
        for name, value in arguments.items():
            if isinstance(value, str) and SECRET_NAMES.search(name):
                raise ValueError(
                    f"{name} looks like a key; put it in an environment variable, and set api_key_env to the name of "
                    "the variable"
                )
        return arguments

    @model_validator(mode="after")
    def _reachable(self) -> "ModelSpec":
        try:
            adapter = ADAPTERS.get(self.adapter)
        except UsageError as error:
            raise ValueError(f"adapter: {error}; {error.fix}") from None
        if self.base_url and not re.match(r"https?://", self.base_url):
            raise ValueError("base_url must start with http:// or https://")
        if (self.tls is not None or self.headers) and not adapter.takes_tls:
            raise ValueError(f"this adapter does not support {'tls' if self.tls else 'headers'}")
        for name, value in parse_qsl(urlsplit(self.base_url or "").query):
            if SECRET_NAMES.search(name) or KEY_SHAPES.search(value):
                raise ValueError(
                    f"base_url: {name} looks like a key; put it in an environment variable, and set api_key_env to the "
                    "name of the variable"
                )
        check_keyed(self)
        adapter.check(self)
        return self


# The interface of model adapters, and their registry.


def _no_key() -> object:
    raise LookupError("a simulated judge needs the answer key of its test cases")


@dataclass(frozen=True)
class Calling:
    """What opening a model may need besides its spec."""

    concurrency: int = 1
    """Number of calls at a time."""
    meter: Meter = field(default_factory=lambda: Meter(FREE, Ledger()))
    """The meter that they are charged to."""
    answer_key: Callable[[], object] = _no_key
    """What is known about the stimuli by construction. Simulated models answer by it; no other adapter uses it."""
    kind: JudgeKind = "compare"
    """The kind of judge that the model is part of."""
    seed: int = 1
    """The study's seed, from which a simulated judge draws."""
    attempts: int | None = None
    """Most attempts at a call, if fewer than the model's spec allows."""
    processes: int = 1
    """Number of processes on this machine that share the calls, if the executor can have several."""
    others: Others | None = None
    """The other processes, if there are any: a server that asks one of them for less is asked less by all."""
    outages: Outages = field(default_factory=lambda: Outages(0))
    """What waits for the server if it goes down: one for all rounds of a run."""

    def pace(self) -> Pace:
        return Pace(self.concurrency, others=self.others)


class ModelAdapter:
    """A way to reach language models. Registered under the entry point `umpirical.models`, or built in."""

    simulated: bool = False
    """Whether asking costs nothing and contacts no server: the answers are made here."""
    loads: bool = False
    """Whether models are loaded into this process: prompts go nowhere, and asking costs no money."""
    judges: bool = True
    """Whether its models can be judges."""
    writes: bool = True
    """Whether its models can write stimuli, or validate them."""
    names_provider: bool = False
    """Whether models are named by provider and model, as in openai/gpt-4o, which also determines their price."""
    takes_tls: bool = False
    """Whether it sends through `Exchanges`, which take the files of `tls` and the `headers` in a spec."""
    client_retries: int = 0
    """How often its client may retry by itself; a spending cap must leave room for that."""

    def check(self, spec: "ModelSpec") -> None:
        """Raises ValueError, with a message for the spec's author, if the spec does not fit this adapter."""
        if spec.batch or spec.model_args:
            raise ValueError("this adapter does not support batch or model_args")

    def reads(self, prompt: str, kind: JudgeKind) -> bool:  # noqa: ARG002  # a language model reads anything
        """Whether its models can read a prompt template of a judge of that kind."""
        return True

    def connect(self, spec: "ModelSpec", calling: Calling) -> Connection:
        """Connects to the model. The caller around the connection does everything else."""
        raise NotImplementedError(f"{type(self).__name__} needs connect() or its own open()")

    def is_downloaded(self, spec: "ModelSpec") -> bool:  # noqa: ARG002  # most are asked where they are
        """Whether a model that is loaded here is fetched from the Hugging Face hub first."""
        return False

    def gpus(self, spec: "ModelSpec") -> float:  # noqa: ARG002  # most are asked over the network
        """Returns the GPUs that an actor of a cluster needs to ask the model."""
        return 0.0

    def release(self) -> None:
        """Frees what this process keeps for the next run and nobody uses, such as a model that is loaded."""

    def batches(self, spec: "ModelSpec") -> BatchForm | None:  # noqa: ARG002  # most have none
        """Returns the batch form of the model: the same questions and the same reader as single calls; or None."""
        return None

    def open(self, spec: "ModelSpec", calling: Calling) -> Model:
        connection, most = self.connect(spec, calling), calling.concurrency
        # A batch collects whatever is waiting, so there is no pace to find.
        pace = Pace(most, first=most) if connection.gathers else calling.pace()
        attempts = spec.attempts if calling.attempts is None else min(spec.attempts, calling.attempts)
        # The spec's own secrets are taken out of every record, even if the connection does not declare them.
        return Caller(
            connection,
            retrying=Retrying(attempts=attempts),
            pace=pace,
            meter=calling.meter,
            outages=calling.outages,
            secrets=secrets_of(spec),
        )


ADAPTERS: Registry[ModelAdapter] = Registry(
    "models",
    {
        "openai-compatible": "umpirical.models.adapters.openai_compatible:ADAPTER",
        "inspect": INTEGRATION,
        "anthropic": "umpirical.models.adapters.anthropic:ADAPTER",
        "vllm": INTEGRATION,
        "simulated": "umpirical.judges.simulated.model:ADAPTER",
        "simulated-rewriter": "umpirical.stimuli.transcripts.rewriting.simulated:ADAPTER",
        "simulated-writer": "umpirical.stimuli.simulated:ADAPTER",
    },
    noun="model adapter",
)


def open_model(spec: "ModelSpec", calling: Calling) -> Model:
    """Returns a model that is ready to be asked, through the adapter that its spec names."""
    return ADAPTERS.get(spec.adapter).open(spec, calling)


def adapter_for(*, base_url: str | None) -> str:
    """Returns the adapter for a model named without one: on its own server, or by its provider."""
    return next(name for name in ADAPTERS.names() if ADAPTERS.get(name).names_provider == (base_url is None))


class Keyed(Protocol):
    """A spec that may name the variable with a key."""

    @property
    def api_key_env(self) -> str | None: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


def check_keyed(spec: Keyed) -> None:
    if spec.api_key_env is None and any(map(placeholders, spec.headers.values())):
        raise ValueError("headers: {{key}} requires api_key_env, the environment variable with the key")


def headers_of(spec: Keyed, usual: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers of a spec, with its key: in the usual header, unless one of its own has a place for it."""
    key, said = key_of(spec), spec.headers
    if key and not any(map(placeholders, said.values())):
        said = {**said, **usual}
    return {name: fill(value, {"key": key or ""}) for name, value in said.items()}


def key_of(spec: Keyed, environment: Mapping[str, str] = os.environ) -> str | None:
    """Returns the key in the variable that a spec names; None if it names none. Raises if the variable is not set."""
    if spec.api_key_env is None:
        return None
    # A key read from a file often ends in a newline, which is not allowed in a header.
    if not (key := environment.get(spec.api_key_env, "").strip()):
        raise UsageError(
            f"the environment variable {spec.api_key_env} is not set", fix=f"export {spec.api_key_env}=..."
        )
    return key


def secrets_of(spec: "ModelSpec", environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Returns what must not be recorded of a spec: its key, and the name and password in its address."""
    address = urlsplit(spec.base_url or "")
    known = (key_of(spec, environment), address.username, address.password)
    return tuple(unquote(secret) for secret in known if secret)
