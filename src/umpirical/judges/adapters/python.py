"""The adapter for plain Python: a function, or any callable object."""

import inspect
import json
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.threads import in_thread

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

__all__ = ["ADAPTER", "source_digest"]


class _Python:
    """Calls `judge(task, first, second)`, or `judge(task, response)` for a `grade` judge.

    The judge may be async. It answers with a label, or with a mapping such as {"verdict": "tie"}.
    """

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        if not callable(judge):
            raise UsageError(f"{spec.callable} is a {type(judge).__name__}, expected a function")

        async def ask(shown: Presented) -> str:
            arguments = (shown.task, shown.first) if shown.second is None else (shown.task, shown.first, shown.second)
            if inspect.iscoroutinefunction(judge):
                return _as_text(await judge(*arguments))
            answer = await in_thread(judge, *arguments)
            # An object whose __call__ is async does not look like a coroutine function.
            return _as_text(await answer if inspect.isawaitable(answer) else answer)

        return Adapted(ask, source_digest(judge))


ADAPTER = _Python()


def source_digest(judge: Callable[..., object]) -> str:
    """Returns the digest of a judge's code, so that an edited judge is a different judge.

    For code in a file, it covers the whole file. Code typed into a notebook or a shell has no file: there it covers the
    function, and every function and plain value of the notebook that it uses.
    """
    whole = _file_source(judge)
    if whole is not None:
        return digest("source", whole)
    return digest("source", "\n".join(_used(judge, set())) or getattr(judge, "__qualname__", repr(type(judge))))


def _file_source(judge: object) -> str | None:
    module = inspect.getmodule(judge) or inspect.getmodule(type(judge))
    try:
        return None if module is None or getattr(module, "__file__", None) is None else inspect.getsource(module)
    except (OSError, TypeError):
        return None


def _used(part: object, seen: set[int]) -> Iterator[str]:
    """Yields the source of a function or class, and of everything in its own module that it names."""
    if id(part) in seen:
        return
    seen.add(id(part))
    if not callable(part):
        yield _written(part)
        return
    code_of = part if isinstance(part, types.FunctionType | type) else type(part)
    try:
        yield inspect.getsource(code_of)
    except (OSError, TypeError):
        return
    if code_of is not part:
        yield _written(getattr(part, "__dict__", {}))
    for function in _functions(code_of):
        for name in _names(function.__code__):
            if name in function.__globals__ and _is_own(value := function.__globals__[name], code_of):
                yield name
                yield from _used(value, seen)


def _functions(code_of: object) -> list[types.FunctionType]:
    found = [code_of] if isinstance(code_of, types.FunctionType) else list(vars(code_of).values())
    return [each for each in found if isinstance(each, types.FunctionType)]


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _is_own(value: object, code_of: object) -> bool:
    """Whether a value was defined beside the judge: imported modules are identified by their versions instead."""
    if isinstance(value, types.ModuleType):
        return False
    return getattr(value, "__module__", None) in (None, getattr(code_of, "__module__", ""))


def _written(value: object) -> str:
    """Returns a text for the value that is the same in every process; only the type if it cannot be written down."""
    try:
        return json.dumps(value, sort_keys=True, default=lambda other: type(other).__qualname__)
    except (TypeError, ValueError):
        return type(value).__qualname__


def _as_text(answer: object) -> str:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, dict | int | float) and not isinstance(answer, bool):
        return json.dumps(answer)
    raise TypeError(f"the judge returned {type(answer).__name__}, expected text, a number or a mapping")
