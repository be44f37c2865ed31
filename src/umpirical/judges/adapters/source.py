"""What a Python judge is made of, so that an edited judge is a different judge and the same judge is found again."""

import dis
import inspect
import json
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial

from umpirical.domain.digests import digest


def source_digest(judge: Callable[..., object]) -> str:
    """Returns the digest of what a judge is made of, so that an edited judge is a different judge.

    For a function that a module defines, it covers the whole file. All other judges are also what they hold: a lambda
    and a nested function the variables around them, an object its attributes, a partial its arguments. A judge typed
    into a notebook or a shell has no file: it is the function, and every function and plain value that it uses.
    """
    whole = _file_source(judge)
    if whole is not None and _is_known_by_its_file(judge):
        return digest("source", whole)
    used = "\n".join(_used(judge, set())) or getattr(judge, "__qualname__", repr(type(judge)))
    return digest("source", used if whole is None else [whole, used])


def _file_source(judge: object) -> str | None:
    module = inspect.getmodule(judge) or inspect.getmodule(type(judge))
    try:
        return None if module is None or getattr(module, "__file__", None) is None else inspect.getsource(module)
    except (OSError, TypeError):
        return None


def _is_known_by_its_file(judge: object) -> bool:
    """Whether a module has one such function. A script may define one again in each round of a loop."""
    plain = isinstance(judge, types.FunctionType) and "<" not in judge.__qualname__ and judge.__closure__ is None
    return plain and judge.__module__ != "__main__"


def _used(part: object, seen: set[int]) -> Iterator[str]:
    """Yields the source of a function or class, what it holds, and everything that it names in its own module."""
    if id(part) in seen:
        return
    seen.add(id(part))
    if isinstance(part, partial):
        yield _written([part.args, part.keywords], part.func)
        yield source_digest(part.func)
        return
    if isinstance(part, types.MethodType):
        yield from _used(part.__self__, seen)
        yield from _used(part.__func__, seen)
        return
    code_of = part if isinstance(part, types.FunctionType | type) else type(part)
    yield _source(code_of)
    if code_of is not part:
        kept = {name: value for name, value in _attributes(part).items() if name not in _assigned(code_of)}
        yield _written(kept, code_of)
    for function in _functions(code_of):
        yield _written([function.__defaults__, function.__kwdefaults__], code_of)
        for name, value in _surroundings(function, code_of):
            yield name
            if not callable(value):
                yield _written(value, code_of)
            elif _is_own(value, code_of):
                yield from _used(value, seen)
            else:
                yield source_digest(value) if isinstance(value, types.FunctionType) else type(value).__qualname__


def _source(code_of: object) -> str:
    """Returns the source, with the column where a lambda ends; without a source, the compiled code."""
    name = getattr(code_of, "__qualname__", "")
    try:
        typed = inspect.getsource(code_of)  # type: ignore[arg-type]  # a function or a class, and all else raises
    except (OSError, TypeError):
        return "\n".join(_compiled(each.__code__) for each in _functions(code_of)) or name
    # Two lambdas in one line have the same source, which is the whole line.
    places = [each for function in _functions(code_of) for *_, each in function.__code__.co_positions() if each]
    return f"{typed}{max(places, default=0)}" if name.endswith("<lambda>") else typed


def _compiled(code: types.CodeType) -> str:
    inner = [_compiled(each) if isinstance(each, types.CodeType) else repr(each) for each in code.co_consts]
    return f"{code.co_code.hex()} {' '.join(code.co_names)} {' '.join(inner)}"


def _functions(code_of: object) -> list[types.FunctionType]:
    found = [code_of] if isinstance(code_of, types.FunctionType) else list(vars(code_of).values())
    return [each for each in found if isinstance(each, types.FunctionType)]


def _surroundings(function: types.FunctionType, code_of: object) -> Iterator[tuple[str, object]]:
    """Yields what a function uses from outside: variables of an enclosing function, and what is defined beside it.

    What it assigns itself, such as a count of its calls, is what it remembers and not what it is.
    """
    assigned = _stored(function.__code__, "STORE_GLOBAL") | _stored(function.__code__, "STORE_DEREF")
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name not in assigned:
            with suppress(ValueError):  # a variable that has no value yet
                yield name, cell.cell_contents
    for name in _names(function.__code__):
        if name in function.__globals__ and name not in assigned and _is_own(function.__globals__[name], code_of):
            yield name, function.__globals__[name]


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _stored(code: types.CodeType, operation: str) -> set[str]:
    """Returns the names that code assigns with an operation, in itself or in a function within it."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname == operation}
    return found.union(*(_stored(each, operation) for each in code.co_consts if isinstance(each, types.CodeType)))


def _assigned(code_of: object) -> set[str]:
    """Returns the attributes that an object assigns when it is called: what it remembers."""
    call = getattr(code_of, "__call__", None)  # noqa: B004  # its code is wanted
    return _stored(call.__code__, "STORE_ATTR") if isinstance(call, types.FunctionType) else set()


def _attributes(part: object) -> dict[str, object]:
    slots = [name for base in type(part).__mro__ for name in getattr(base, "__slots__", ()) if hasattr(part, name)]
    return {**{name: getattr(part, name) for name in slots}, **getattr(part, "__dict__", {})}


def _is_own(value: object, code_of: object) -> bool:
    """Whether a value was defined beside the judge: imported modules are identified by their versions instead."""
    if isinstance(value, types.ModuleType):
        return False
    return getattr(value, "__module__", None) in (None, getattr(code_of, "__module__", ""))


def _written(value: object, code_of: object) -> str:
    """Returns a text for the value that is the same in every process; only the type if it cannot be written down.

    An object of a class that is written beside the judge, and a dataclass, is what it holds.
    """

    def other(part: object) -> object:
        if isinstance(part, type):
            return part.__qualname__
        if isinstance(part, types.FunctionType):
            return _source(part)
        if isinstance(part, set | frozenset):
            return sorted(map(repr, part))
        held = _attributes(part) if is_dataclass(part) or _is_own(part, code_of) else {}
        return [type(part).__qualname__, held]

    try:
        return json.dumps(value, sort_keys=True, default=other)
    except (TypeError, ValueError, RecursionError):
        return type(value).__qualname__
