"""The interface between what is asked and how: an executor takes shards of a plan and leaves sealed responses."""

from collections.abc import Callable, Sequence
from typing import Protocol, Self, runtime_checkable

from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.judges.spec import JudgeSpec
from umpirical.models.money import Pricer
from umpirical.models.spec import Calling
from umpirical.registry import INTEGRATION, Registry, load_integration
from umpirical.runs.call import CallSpec
from umpirical.store.runs import Receipt, RunStore

LOCAL = "local"
"""The default executor."""

RAY = "ray"
"""Actors of a Ray cluster; needs the extra of that name."""


class Watcher(Protocol):
    """Is told about everything that settles, so that a person can see it."""

    def resumed(self, trials: int) -> None:
        """Reports that this many trials had already been answered."""
        ...

    def settled(self, outcome: Outcome, response: Response) -> None:
        """Reports the outcome of one more trial, read from this response."""
        ...


@runtime_checkable
class Told(Protocol):
    """A watcher that also shows a sentence: what is at a provider, and for how long, shows in no count of trials."""

    def told(self, sentence: str) -> None: ...


@runtime_checkable
class EndsEarly(Protocol):
    """A watcher that is told when a run is over before all that it might have asked."""

    def ended(self) -> None: ...


class Unwatched:
    """A watcher that shows nothing."""

    def resumed(self, trials: int) -> None: ...

    def settled(self, outcome: Outcome, response: Response) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


class Executor(Protocol):
    """Asks the trials of some shards. Idempotent: a trial that has an answer is not asked again.

    A trial never raises: whatever goes wrong is recorded as its response.
    """

    def run(self, shards: Sequence[int], call: CallSpec, store: RunStore, watcher: Watcher) -> list[Receipt]: ...


ExecutorFactory = Callable[[Calling], Executor]
"""Makes an executor, given how many calls to make at a time and the meter that they are charged to."""

EXECUTORS: Registry[ExecutorFactory] = Registry(
    "executors",
    {
        LOCAL: "umpirical.runs.local:LocalExecutor",
        RAY: INTEGRATION,
        "batch": "umpirical.runs.batches:BatchExecutor",
    },
    noun="executor",
)


@runtime_checkable
class Particular(Protocol):
    """A factory of executors that cannot ask every judge, or that are charged another price. Most are not."""

    in_batches: bool
    """Whether questions are handed over together. If so, none can be asked before, or after, another."""

    def check(self, judge: JudgeSpec) -> None:
        """Raises UsageError for a judge that it cannot ask, before anything is planned, priced or sent."""
        ...

    def price(self, single: Pricer) -> Pricer:
        """Returns the price of what it asks, given that of single calls."""
        ...


@runtime_checkable
class Reaching(Protocol):
    """A factory of executors that also ask on machines which do not share the run's folder. Most do not."""

    def through(self, uri: str) -> ExecutorFactory:
        """Returns the factory for a run that machines share through object storage. Raises UsageError if it is none."""
        ...


def check_through(uri: str) -> None:
    """Raises UsageError unless this is a URI of object storage without credentials. It is sent to other machines."""
    load_integration("object-storage")(uri)


def asks_elsewhere(executor: str) -> bool:
    """Whether an executor also asks on other machines."""
    return isinstance(EXECUTORS.get(executor), Reaching)


def factory_of(executor: str, through: str = "") -> ExecutorFactory:
    """Returns the factory of an executor; with `through`, the one for a run that is shared through object storage."""
    factory = EXECUTORS.get(executor)
    if not through:
        return factory
    if not isinstance(factory, Reaching):
        raise UsageError(
            f"--through is for machines without a shared folder, but the executor {executor} uses only this machine",
            fix=f"remove --through, or add --executor {RAY}",
        )
    return factory.through(through)


def check_judge(executor: str, judge: JudgeSpec) -> None:
    """Raises UsageError if there is no such executor, or if it cannot ask this judge."""
    factory = EXECUTORS.get(executor)
    if isinstance(factory, Particular):
        factory.check(judge)


def price_asked(executor: str, single: Pricer | None) -> Pricer | None:
    """Returns the price of what an executor asks; None if it is unknown."""
    factory = EXECUTORS.get(executor)
    return factory.price(single) if single is not None and isinstance(factory, Particular) else single
