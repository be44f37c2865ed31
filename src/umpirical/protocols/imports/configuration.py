"""A file from another tool that describes judges, and what became of each of its keys.

It is a stranger's until it is read: it names files in its own folders only, and nothing in it is run.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from umpirical.datasets.values import number_of
from umpirical.domain.errors import ConfigError
from umpirical.protocols.protocol import Protocol
from umpirical.store.yaml_files import YamlDocument

Fate = Literal["kept", "changed", "dropped"]

REPORT = "migration.md"


@dataclass(slots=True)
class Moved:
    """A study in the place of a configuration."""

    protocol: Protocol[Any, Any]
    source: str
    """Which tool the configuration is of, in words."""
    study: dict[str, Any]
    """The study file; with simulated models, if there is another with the configuration's own."""
    own: dict[str, Any] = field(default_factory=dict)
    """What another study file, with the configuration's own models, has in place of these."""
    data: Path | None = None
    """The user's data, if there are any."""
    texts: dict[str, str] = field(default_factory=dict)
    """Files beside the study, by name."""
    notes: list[str] = field(default_factory=list)
    runs_code: bool = False
    """Whether the study runs what the configuration names, so that a person must agree to it first."""


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one key."""

    fate: Fate
    here: str
    """What stands in the study in its place; empty if nothing does."""
    why: str = ""

    @property
    def words(self) -> str:
        return "; ".join(filter(None, (self.here, self.why)))


class Configuration:
    """A configuration, and what became of each of its keys so far."""

    unused: Mapping[str, str] = {}
    """Keys without a counterpart, and why there is none."""

    def __init__(self, path: Path, document: YamlDocument) -> None:
        self.document = document
        self.path = path
        self._values = {_dotted(place): (place, value) for place, value in _leaves(self.document.data, ())}
        self._told: dict[str, Told] = {}
        self._asked: set[str] = set()

    # Reading values.

    def get(self, key: str) -> object:
        self._asked.add(key)
        found: object = self.document.data
        for part in key.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found

    def text(self, key: str) -> str:
        found = self.get(key)
        if isinstance(found, Mapping | list | bool):
            raise self.error(key, f"expected text, got {found!r:.60}")
        return "" if found is None else str(found).strip()

    def number(self, key: str, usual: float) -> float:
        found = self.get(key)
        number = usual if found in (None, "") else number_of(str(found))
        if number is None:
            raise self.error(key, f"expected a number, got {found!r:.60}")
        return number

    def count(self, key: str, usual: int) -> int:
        if (number := float(self.number(key, usual))) != int(number):
            raise self.error(key, f"expected a whole number, got {number}")
        return int(number)

    def names(self, key: str) -> list[str]:
        found = self.get(key)
        listed = [] if found in (None, "") else found if isinstance(found, list) else [found]
        if not all(isinstance(name, str) for name in listed):
            raise self.error(key, f"expected a list of names, got {found!r:.60}")
        return list(dict.fromkeys(listed))

    def mapping(self, key: str) -> Mapping[str, Any]:
        found = self.get(key)
        if found is not None and not isinstance(found, Mapping):
            raise self.error(key, f"expected a mapping, got {found!r:.60}")
        return {str(name): value for name, value in (found or {}).items()}

    def error(self, key: str, message: str, *, fix: str = "") -> ConfigError:
        return ConfigError(f"{key}: {message}", where=self.document.where(tuple(key.split("."))), fix=fix)

    # Telling what became of them.

    def kept(self, key: str, here: str, why: str = "") -> None:
        self._tell(key, Told("kept", here, why))

    def changed(self, key: str, here: str, why: str) -> None:
        self._tell(key, Told("changed", here, why))

    def dropped(self, key: str, why: str) -> None:
        self._tell(key, Told("dropped", "", why))

    def _tell(self, key: str, told: Told) -> None:
        self._asked.add(key)
        self._told |= {leaf: told for leaf in self._values if _belongs(leaf, key) and leaf not in self._told}

    def report(self) -> Iterator[tuple[str, Told]]:
        """Yields every key of the file, in its order. A key that nothing has used counts as dropped."""
        for key, why in self.unused.items():
            self.dropped(key, why)
        known = [*self._asked, *self.unused]
        for leaf, (_, value) in self._values.items():
            near = get_close_matches(leaf, known, n=1, cutoff=0.85)
            hint = f"; did you mean {near[0]}?" if near and near[0] != leaf else ""
            why = "it is empty" if value in (None, "", [], {}) else f"unknown key{hint}"
            yield leaf, self._told.get(leaf, Told("dropped", "", why))


def _leaves(node: object, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Yields every value with its place; a list counts as one value, unless it is one of mappings."""
    inner: Iterable[tuple[str | int, object]] = ()
    if isinstance(node, Mapping):
        inner = ((str(key), value) for key, value in node.items())
    elif isinstance(node, list) and node and all(isinstance(each, Mapping) for each in node):
        inner = enumerate(node)
    found = False
    for step, value in inner:
        found = True
        yield from _leaves(value, (*place, step))
    if not found:
        yield place, node


def _dotted(place: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


def _belongs(leaf: str, key: str) -> bool:
    return leaf == key or leaf.startswith((f"{key}.", f"{key}["))


def slug(name: str) -> str:
    """Returns a name that a judge may have here."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:64] or "judge"
