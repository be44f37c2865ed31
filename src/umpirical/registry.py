"""Registries map names to objects; built-ins and third-party plugins are found in the same way."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from typing import Any, Generic, TypeVar

from umpirical.domain.errors import UsageError

KEBAB_CASE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""How measures, perturbations, sections and protocols are named."""

INTEGRATION = "umpirical.integrations."
"""In place of a path: umpirical declares this object as an entry point itself, as a plugin would.

What lies under `umpirical.integrations` needs a package or a program that is optional, and the core never imports it.
"""

T = TypeVar("T")


class Registry(Generic[T]):
    """Named objects of one kind, imported only when asked for."""

    def __init__(self, group: str, builtins: Mapping[str, str] | Callable[[], Mapping[str, str]], *, noun: str) -> None:
        """`group` is the entry point group without `umpirical.`; `builtins` maps a name to `module:object`.

        A name that maps to INTEGRATION is built in too: no plugin can take it. `builtins` may be a function that looks
        for them, which is called when the first is asked for. `noun` is what a message calls one.
        """
        self._group = group
        self._given = builtins
        self._noun = noun

    @cached_property
    def _builtins(self) -> dict[str, str]:
        return dict(self._given() if callable(self._given) else self._given)

    def names(self) -> list[str]:
        """Every name: built-ins in the order they were registered, then plugins."""
        plugins = sorted(point.name for point in _plugins(self._group, tuple(sys.path)))
        return [*self._builtins, *(name for name in plugins if name not in self._builtins)]

    def is_built_in(self, name: str) -> bool:
        """Whether the name is not a plugin's."""
        return name in self._builtins

    def get(self, name: str) -> T:
        """Returns the object of that name. If there is none, UsageError suggests the name that was probably meant."""
        if name in self._builtins:
            path = self._builtins[name]
            found: T = load_integration(name, self._group) if path == INTEGRATION else load_object(path)
            return found
        for point in _plugins(self._group, tuple(sys.path)):
            if point.name == name:
                loaded: T = point.load()
                return loaded
        known = self.names()
        near = [each for each in known if name and each.startswith(name)] or get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of: {', '.join(known) or 'none'}"
        raise UsageError(f"unknown {self._noun} {name!r}", fix=hint)

    def __iter__(self) -> Iterator[T]:
        return (self.get(name) for name in self.names())


def load_integration(name: str, group: str = "integrations") -> Any:  # noqa: ANN401  # the caller knows what it asked for
    """Returns what umpirical itself declares under a name; no other package can replace it.

    The group `integrations` has what no plugin could be: each of its objects has one caller.
    """
    for point in _plugins(group, tuple(sys.path)):
        if point.name == name and point.value.startswith(INTEGRATION):
            return point.load()
    raise UsageError(f"the installed umpirical package has no {name!r}", fix="reinstall umpirical")


@cache
def _plugins(group: str, path: tuple[str, ...]) -> EntryPoints:  # noqa: ARG001  # the result depends on it
    """Returns the entry points of installed packages in a group; cached, since finding them is slow."""
    return entry_points(group=f"umpirical.{group}")


def load_object(path: str) -> Any:  # noqa: ANN401  # likewise
    """The object at `package.module:attribute`."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
