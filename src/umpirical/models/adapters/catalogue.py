"""The interface of model adapters, and their registry."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from umpirical.domain.errors import UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.models.batches import BatchForm
from umpirical.models.caller import Caller, Connection, Retrying
from umpirical.models.money import FREE, Ledger, Meter
from umpirical.models.pace import Pace
from umpirical.models.push_backs import Others
from umpirical.models.requests import Model
from umpirical.registry import INTEGRATION, Registry

if TYPE_CHECKING:
    from umpirical.models.spec import ModelSpec


def _no_key() -> object:
    raise LookupError("a simulated judge needs the answer key of the stimuli that it is asked about")


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

    def pace(self) -> Pace:
        """Returns the pace for calls to one server."""
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
    """Whether it sends through `Exchanges`, which take the files of `tls` in a spec."""
    client_retries: int = 0
    """How often its client may retry by itself; a spending cap must leave room for that."""

    def check(self, spec: "ModelSpec") -> None:
        """Raises ValueError, with a message for the spec's author, if the spec does not fit this adapter."""
        if spec.batch or spec.model_args:
            raise ValueError("this adapter does not take batch or model_args")

    def reads(self, prompt: str, kind: JudgeKind) -> bool:  # noqa: ARG002  # a language model reads anything
        """Whether its models can read a prompt template of a judge of that kind."""
        return True

    def connect(self, spec: "ModelSpec", calling: Calling) -> Connection:
        """Connects to the model. The caller around the connection does everything else."""
        raise NotImplementedError(f"{type(self).__name__} needs connect(), or an open() of its own")

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
        """Returns a model that is ready to be asked."""
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
        "simulated-writer": "umpirical.stimuli.simulated.model:ADAPTER",
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
