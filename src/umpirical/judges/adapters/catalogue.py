"""The interface of judge adapters, and their registry: adapters make third-party judges askable."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from umpirical.domain.digests import Json
from umpirical.domain.trials import Presented
from umpirical.registry import Registry

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

__all__ = ["JUDGE_ADAPTERS", "Adapted", "JudgeAdapter", "judge_adapter_of"]

PYTHON = "python"
"""The adapter for every object whose package has none."""


@dataclass(frozen=True)
class Adapted:
    """A judge object, made askable."""

    judge: Callable[[Presented], Awaitable[str]]
    """Returns one judgment as text for the answer reader. Raises if there is none."""
    identity: Json
    """Everything that distinguishes this judge from others: rubric, model, versions. A trial's id depends on it."""


class JudgeAdapter(Protocol):
    """Makes judges of one package askable. Registered under `umpirical.judges`, by the name of that package."""

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        """Makes the object askable. Raises UsageError, with a fix, if it is not a judge of the kind in the spec."""
        ...


JUDGE_ADAPTERS: Registry[JudgeAdapter] = Registry(
    "judges", {PYTHON: "umpirical.judges.adapters.python:ADAPTER"}, noun="judge adapter"
)


def judge_adapter_of(judge: object) -> JudgeAdapter:
    """Returns the adapter for the package of the object, or of a class it inherits from. Imports no package."""
    known = JUDGE_ADAPTERS.names()
    return JUDGE_ADAPTERS.get(next((name for name in _packages(judge) if name in known), PYTHON))


def _packages(judge: object) -> Iterator[str]:
    """Yields top-level packages, nearest first. A function's type says nothing, so its own module is used."""
    yield str(getattr(judge, "__module__", "")).partition(".")[0]
    for base in type(judge).__mro__:
        yield base.__module__.partition(".")[0]
