"""The interface between what is asked and how: an executor takes shards of a plan and leaves sealed responses."""

from collections.abc import Callable, Sequence
from typing import Protocol, Self

from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.models.adapters.catalogue import Calling
from umpirical.registry import Registry
from umpirical.runs.call import CallSpec
from umpirical.store.runs import Receipt, RunStore

__all__ = ["EXECUTORS", "LOCAL", "Executor", "ExecutorFactory", "Receipt", "Unwatched", "Watcher"]

LOCAL = "local"
"""The default executor."""


class Watcher(Protocol):
    """Is told about everything that settles, so that a person can see it."""

    def resumed(self, trials: int) -> None:
        """Reports that this many trials had already been answered."""
        ...

    def settled(self, outcome: Outcome, response: Response) -> None:
        """Reports the outcome of one more trial, read from this response."""
        ...


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
    "executors", {LOCAL: "umpirical.runs.local:LocalExecutor"}, noun="executor"
)
