"""Families of tasks, as files hold them: a template, and sets of parameters, each of which gives a task.

A crossed family says for each fact what asks for it, and gives twins. A family with fillers gives single tasks, whose
better answers a judge can tell by their style: it serves to compare with the paper that first used such a ladder.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, get_args

from umpirical.domain.errors import ConfigError
from umpirical.stimuli.controlled.tasks import PROSE, Fact, Kind, Layout, Requirement, Task, Twin
from umpirical.store.yaml_files import YamlDocument, load_yaml, parse_yaml

HALF = 2
"""Each requirement asks for two of its four facts in one version, and for the other two in the other."""

MOST_SLOTS = 10
"""The most figures that an answer states: as many sentences as on the asked ladder."""

FEWEST_SLOTS = 4
"""Fewer figures that differ make no ladder."""

ASKED = {"en": "and", "de": "und", "es": "y"}
"""What joins the two things that a requirement asks for, by language."""

VERSIONS: dict[Kind, tuple[str, str]] = {"asked": ("A", "B"), "figures": ("P", "Q")}

KEYS = {
    "family": (
        "id",
        "domain",
        "language",
        "layout",
        "reviewed",
        "context",
        "request",
        "parameters",
        "givens",
        "requirements",
    ),
    "requirement": ("name", "about", "facts"),
    "fact": ("asks", "check", "forms"),
}
"""What a crossed family, a requirement of it and a fact may have: a key that is misspelt must not be passed over."""

Filled = Callable[[object], str]


@dataclass(frozen=True)
class _Ask:
    """A fact before it is given to a version: the requirement it belongs to, what asks for it, and its statements."""

    requirement: int
    about: str
    asks: str
    check: tuple[str, ...]
    forms: tuple[str, ...]

    def differs(self, other: "_Ask") -> bool:
        """Whether the same thing is asked, and no statement of one answer is one of the other."""
        return self.asks == other.asks and not (
            any(map(self.fact.stated_by, other.folded)) or any(map(other.fact.stated_by, self.folded))
        )

    @cached_property
    def fact(self) -> Fact:
        return Fact(self.check, self.forms, ())

    @cached_property
    def folded(self) -> list[str]:
        """The statements, case-folded."""
        return [text.casefold() for text in self.forms]


@dataclass(frozen=True)
class Family:
    """A crossed family: a template whose facts are asked for in halves, and whose figures can be exchanged."""

    id: str
    domain: str
    language: str
    layout: Layout
    reviewed: bool
    names: tuple[str, ...]
    """The name of each requirement."""
    sets: tuple[str, ...]
    """The name of each set of parameters, of which each is a task."""
    data: Mapping[str, Any]

    def asked(self, place: int, turn: int = 0) -> Twin:
        """The task of a set of parameters, in two versions that ask for two halves. Halves take turns by `turn`."""
        values = self._values(place)
        asks = list(self._asks(values))
        sides: list[list[_Ask]] = [[], []]
        for ask, nth in zip(asks, _nth_of_each(asks), strict=True):
            sides[(nth // HALF + ask.requirement + turn) % 2].append(ask)
        name = ".".join(filter(None, (self.id, self.sets[place])))
        return self._twin(name, "asked", (values, values), (sides[0], sides[1]))

    def figures(self, place: int, other: int, turn: int = 0) -> Twin | None:
        """The names of one set of parameters, with its own figures and with those of another. None if few differ."""
        if not self.givens:
            return None
        own, theirs = self._values(place), self._values(other)
        mixed = own | {name: theirs[name] for name in self.givens}
        pairs = [(one, two) for one, two in zip(self._asks(own), self._asks(mixed), strict=True) if one.differs(two)]
        pairs = _unmixed(pairs)
        chosen = _spread(pairs, turn)
        if len(chosen) < FEWEST_SLOTS:
            return None
        sides = ([one for one, _ in chosen], [two for _, two in chosen])
        name = f"{self.id}.{self.sets[place]}.{self.sets[other]}"
        return self._twin(name, "figures", (own, mixed), sides)

    def twins(self) -> Iterator[Twin]:
        """Whatever can be made of it, set by set: its halves, and its figures with those of the next set."""
        for place in range(len(self.sets)):
            yield self.asked(place)
            figures = self.figures(place, (place + 1) % len(self.sets))
            if figures is not None:
                yield figures

    @property
    def givens(self) -> tuple[str, ...]:
        """The parameters that are figures, or follow from figures."""
        return tuple(map(str, self.data.get("givens") or ()))

    def _values(self, place: int) -> dict[str, str]:
        return {str(name): str(value) for name, value in self.data["parameters"][place].items()}

    def _asks(self, values: Mapping[str, str]) -> Iterator[_Ask]:
        filled = _filler(values)
        for number, entry in enumerate(_several(self.data, "requirements")):
            for fact in _several(entry, "facts"):
                texts = (tuple(map(filled, _several(fact, part))) for part in ("check", "forms"))
                yield _Ask(number, filled(entry["about"]), filled(fact["asks"]), *texts)

    def _twin(
        self,
        name: str,
        kind: Kind,
        values: tuple[Mapping[str, str], Mapping[str, str]],
        sides: tuple[Sequence[_Ask], Sequence[_Ask]],
    ) -> Twin:
        versions = []
        for side, version in enumerate(VERSIONS[kind]):
            filled, own, other = _filler(values[side]), sides[side], sides[1 - side]
            request = self._request(filled, own)
            facts = [Fact(one.check, one.forms, two.forms) for one, two in zip(own, other, strict=True)]
            # Two facts make a requirement, in the order of the template.
            grouped = [tuple(facts[start : start + HALF]) for start in range(0, len(facts), HALF)]
            names = [self.names[ask.requirement] for ask in own[::HALF]]
            versions.append(
                Task(
                    id=f"{name}.{version}",
                    family=self.id,
                    domain=self.domain,
                    prompt=f"{filled(self.data['context']).strip()}\n\n{request}",
                    requirements=tuple(map(Requirement, names, grouped)),
                    reviewed=self.reviewed,
                    request=request,
                    version=version,
                    layout=self.layout,
                    language=self.language,
                )
            )
        return Twin(name, kind, (versions[0], versions[1]))

    def _request(self, filled: Filled, asks: Sequence[_Ask]) -> str:
        """The request and a numbered list, one item for each requirement that anything is asked of."""
        items: dict[str, list[str]] = {}
        for ask in asks:
            items.setdefault(ask.about, []).append(ask.asks)
        joint = f" {ASKED[self.language]} "
        listed = [f"({n}) {about}: {joint.join(wanted)}" for n, (about, wanted) in enumerate(items.items(), 1)]
        return f"{filled(self.data['request']).strip()}: {'; '.join(listed)}."


def _nth_of_each(asks: Sequence[_Ask]) -> list[int]:
    """For each fact, how many of its requirement come before it."""
    seen: dict[int, int] = {}
    found = []
    for ask in asks:
        found.append(seen.get(ask.requirement, 0))
        seen[ask.requirement] = found[-1] + 1
    return found


def _unmixed(pairs: list[tuple[_Ask, _Ask]]) -> list[tuple[_Ask, _Ask]]:
    """Leaves out facts that a statement of another one states too, under the figures of the other version."""

    def clean(place: int) -> bool:
        others = [text for n, pair in enumerate(pairs) if n != place for ask in pair for text in ask.folded]
        return not any(ask.fact.stated_by_any(others) for ask in pairs[place])

    return [pair for place, pair in enumerate(pairs) if clean(place)]


def _spread(pairs: list[tuple[_Ask, _Ask]], turn: int) -> list[tuple[_Ask, _Ask]]:
    """Two facts of each requirement that has two, by turns, in the order of the template."""
    groups: dict[int, list[tuple[_Ask, _Ask]]] = {}
    for pair in pairs:
        groups.setdefault(pair[0].requirement, []).append(pair)
    chosen = []
    for group in groups.values():
        if len(group) >= HALF:
            start = (turn * HALF) % (len(group) // HALF * HALF)
            chosen += group[start : start + HALF]
    return chosen[:MOST_SLOTS]


# Reading.


@cache
def builtin_families() -> tuple[Family, ...]:
    """The crossed families that ship, in order of file name."""
    return tuple(read_family(document) for document in _documents("families"))


@cache
def filler_tasks() -> tuple[Task, ...]:
    """The tasks with fillers that ship, in order of file name."""
    return tuple(task for document in _documents("filler_families") for task in read_tasks(document))


@cache
def families_digest() -> str:
    """A digest of the text of the families that ship, those of fine differences included."""
    found = hashlib.sha256()
    for path in (*_shipped("families"), *_shipped("fine_families")):
        found.update(f"{path.name}\n".encode() + path.read_bytes())
    return found.hexdigest()


def _documents(folder: str) -> list[YamlDocument]:
    return [parse_yaml(path.read_text(encoding="utf-8"), name=path.name) for path in _shipped(folder)]


def _shipped(folder: str) -> list[Traversable]:
    found = (files("umpirical.stimuli.controlled") / folder).iterdir()
    return sorted((path for path in found if path.name.endswith(".yaml")), key=lambda path: path.name)


def is_crossed(document: YamlDocument) -> bool:
    """Whether a file holds a crossed family: it tells what is asked from what is given."""
    return isinstance(document.data, Mapping) and "context" in document.data


def load_family(path: Path) -> Family | list[Task]:
    """A file of the user's: a crossed family, or tasks with fillers."""
    document = load_yaml(path)
    if not is_crossed(document):
        return read_tasks(document)
    family = read_family(document)
    with _as_config_error(document):
        # Every twin is made once, so that whatever is missing is found here, and named with its place.
        for _ in family.twins():
            pass
    return family


def read_family(document: YamlDocument) -> Family:
    """A crossed family."""
    with _as_config_error(document):
        return _family(document.data)


def _family(data: Mapping[str, Any]) -> Family:
    layout, language = str(data.get("layout", PROSE)), str(data.get("language", "en"))
    if layout not in get_args(Layout):
        raise TypeError(f"layout: expected one of {', '.join(get_args(Layout))}, got {layout!r:.60}")
    if language not in ASKED:
        raise TypeError(f"language: expected one of {', '.join(ASKED)}, got {language!r:.60}")
    requirements = _several(data, "requirements")
    _refuse_unknown(data, "family")
    for entry in requirements:
        _refuse_unknown(entry, "requirement")
        for fact in _several(entry, "facts"):
            _refuse_unknown(fact, "fact")
    if uneven := [entry for entry in requirements if len(_several(entry, "facts")) != 2 * HALF]:
        raise TypeError(f"{uneven[0]['name']}: expected four facts, got {len(uneven[0]['facts'])}")
    sets = data.get("parameters") or [{}]
    if any("id" not in values for values in sets if values):
        raise KeyError("id")
    if odd := [values for values in sets if set(values) != set(sets[0])]:
        names = ", ".join(sorted(map(str, set(odd[0]) ^ set(sets[0]))))
        raise TypeError(f"parameters: every set needs the same names, and {odd[0].get('id')} differs in {names}")
    return Family(
        id=str(data["id"]),
        domain=str(data["domain"]),
        language=language,
        layout=layout,  # type: ignore[arg-type]  # checked above
        reviewed=_reviewed(data),
        names=tuple(str(entry["name"]) for entry in requirements),
        sets=tuple(str(values["id"]) if values else "" for values in sets),
        data={**data, "parameters": sets},
    )


def _refuse_unknown(entry: Mapping[str, Any], kind: str) -> None:
    if unknown := [str(key) for key in entry if key not in KEYS[kind]]:
        raise TypeError(f"{unknown[0]}: is not a key of a {kind}; the keys are {', '.join(KEYS[kind])}")


def read_tasks(document: YamlDocument) -> list[Task]:
    """Tasks with fillers: one for each set of parameters, or one task if there are none."""
    with _as_config_error(document):
        sets = document.data.get("parameters") or [{}]
        return [_task(document.data, {str(name): str(value) for name, value in values.items()}) for values in sets]


@contextmanager
def _as_config_error(document: YamlDocument) -> Iterator[None]:
    """Says where a file is not what it should be."""
    try:
        yield
    except KeyError as error:
        raise ConfigError(f"not a task: {error} is missing", where=document.where(())) from None
    except (AttributeError, TypeError) as error:
        raise ConfigError(f"not a task: {error}", where=document.where(())) from None


def _task(data: Mapping[str, Any], parameters: Mapping[str, str]) -> Task:
    family, filled = str(data["id"]), _filler(parameters)
    return Task(
        id=f"{family}.{parameters['id']}" if parameters else family,
        family=family,
        domain=str(data["domain"]),
        prompt=filled(data["prompt"]).strip(),
        requirements=tuple(
            Requirement(
                str(entry["name"]),
                tuple(
                    Fact(*(tuple(map(filled, _several(fact, part))) for part in ("check", "forms", "fillers")))
                    for fact in _several(entry, "facts")
                ),
            )
            for entry in _several(data, "requirements")
        ),
        reviewed=_reviewed(data),
    )


def _filler(parameters: Mapping[str, str]) -> Filled:
    """Only a parameter's own name in braces is a placeholder, so that code may hold braces."""
    names = [name for name in parameters if name != "id"]
    pattern = re.compile("|".join(rf"\{{{re.escape(name)}\}}" for name in names) or r"(?!)")
    return lambda text: pattern.sub(lambda match: parameters[match[0][1:-1]], str(text))


def _reviewed(data: Mapping[str, Any]) -> bool:
    """Whether a person has read it. A task that a person wrote needs no such line."""
    found = data.get("reviewed", True)
    if not isinstance(found, bool):
        raise TypeError(f"reviewed: expected true or false, got {found!r:.60}")
    return found


def _several(entry: Mapping[str, Any], name: str) -> list[Any]:
    """A list with something in it: a bare text would be taken for a list of letters."""
    found = entry[name]
    if not isinstance(found, list) or not found:
        raise TypeError(f"{name}: expected a list with something in it, got {found!r:.60}")
    return found
