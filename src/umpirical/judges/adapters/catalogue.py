"""The interface of judge adapters, and their registry: adapters make third-party judges askable."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol

from umpirical.domain.digests import Json
from umpirical.domain.trials import Presented
from umpirical.judges.failures import JSON_READING
from umpirical.judges.spec import JudgeSpec
from umpirical.registry import INTEGRATION, Registry

PYTHON = "python"
"""The adapter for every object whose package has none."""


@dataclass(frozen=True)
class Adapted:
    """A judge object, made askable."""

    judge: Callable[[Presented], Awaitable[str]]
    """Returns one judgment as text for the answer reader. Raises if there is none: `failures.py` says what that means.

    Judgments run at the same time, so an object that keeps its last answer is copied for each."""
    identity: Json
    """Everything that distinguishes this judge from others: rubric, model, versions. A trial's id depends on it."""
    reading: frozenset[str] = JSON_READING
    """Exceptions, by class name, which mean that an answer came and the judge itself could not read it."""
    close: Callable[[], Awaitable[None]] | None = None
    """Releases what asking has opened; None if there is nothing, or it belongs to the user."""


class JudgeAdapter(Protocol):
    """Makes judges of one package askable. Registered under `umpirical.judges`, by the name of that package."""

    def describe(self, judge: object) -> Mapping[str, Any]:
        """Returns what an object tells of itself, as keys of a judge in a study file: kind, scale, capabilities, name.

        What it does not tell is left out, and what the user writes counts more.
        """
        ...

    def adapt(self, judge: object, spec: JudgeSpec) -> Adapted:
        """Makes the object askable. Raises UsageError, with a fix, if it is not a judge of the kind in the spec."""
        ...


JUDGE_ADAPTERS: Registry[JudgeAdapter] = Registry(
    "judges",
    {
        PYTHON: "umpirical.judges.adapters.python:ADAPTER",
        "autoevals": INTEGRATION,
        "deepeval": INTEGRATION,
        "inspect_ai": INTEGRATION,
        "langchain": INTEGRATION,
        "langchain_classic": INTEGRATION,
        "llama_index": INTEGRATION,
        "mlflow": INTEGRATION,
        "openevals": INTEGRATION,
        "opik": INTEGRATION,
        "phoenix": INTEGRATION,
        "pydantic_evals": INTEGRATION,
        "ragas": INTEGRATION,
    },
    noun="judge adapter",
)


def judge_adapter_of(judge: object) -> JudgeAdapter:
    """Returns the adapter for the package of the object, or of a class it inherits from. Imports no package."""
    known = JUDGE_ADAPTERS.names()
    return JUDGE_ADAPTERS.get(next((name for name in _packages(judge) if name in known), PYTHON))


def _packages(judge: object) -> Iterator[str]:
    """Yields top-level packages, nearest first. A function's type says nothing, so its own module is used.

    A framework may register the user's own function, and leave its mark on it.
    """
    yield str(getattr(judge, "__module__", "")).partition(".")[0]
    if isinstance(judge, FunctionType):
        marks = [mark for name, mark in vars(judge).items() if name.startswith("__")]
        yield from (type(mark).__module__.partition(".")[0] for mark in marks)
    for base in type(judge).__mro__:
        yield base.__module__.partition(".")[0]
