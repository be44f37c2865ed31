"""What a judge adapter is, and which there are: the way in for judges that other people's packages make."""

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
"""The adapter of every object whose package has none."""


@dataclass(frozen=True)
class Adapted:
    """A judge object, made askable."""

    judge: Callable[[Presented], Awaitable[str]]
    """One judgment, as the text that the answer reader reads. Raises where there is none."""
    identity: Json
    """All that tells this judge from another one: rubric, model, versions. A trial's id depends on it."""


class JudgeAdapter(Protocol):
    """Makes judges of one package askable. Registered under `umpirical.judges`, by the name of that package."""

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        """Raises UsageError, with what to do, where the object is no judge of the kind that the spec says."""
        ...


JUDGE_ADAPTERS: Registry[JudgeAdapter] = Registry(
    "judges", {PYTHON: "umpirical.judges.adapters.python:ADAPTER"}, noun="judge adapter"
)


def judge_adapter_of(judge: object) -> JudgeAdapter:
    """The adapter of the package that the object, or a class it inherits from, comes from. Imports no package."""
    known = JUDGE_ADAPTERS.names()
    return JUDGE_ADAPTERS.get(next((name for name in _packages(judge) if name in known), PYTHON))


def _packages(judge: object) -> Iterator[str]:
    """Top-level packages, the nearest first. What a function is made of tells nothing, so its own module is asked."""
    yield str(getattr(judge, "__module__", "")).partition(".")[0]
    for base in type(judge).__mro__:
        yield base.__module__.partition(".")[0]
