"""Every text that a judge may read of a crossed family: contexts, requests and statements, filled in."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from umpirical.stimuli.controlled.family_files import Family
from umpirical.stimuli.controlled.tasks import PROSE, Twin

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
NUMBER = re.compile(r"\d+")

EVERY = slice(None)


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and the task that it is of."""

    task: str
    language: str
    text: str

    @property
    def words(self) -> set[str]:
        return set(WORD.findall(self.text))


def texts_of(
    family: Family, places: Iterable[int], *, exchanged: bool = False, wordings: slice = EVERY
) -> Iterator[Text]:
    """The texts of some sets of parameters; `exchanged`: also with the figures of the next set.

    `wordings` says which statements of a fact are given. Of texts that differ in their figures alone, one is given.
    """
    seen: set[str] = set()
    for place in places:
        twins = [family.asked(place)]
        if exchanged and (figures := family.figures(place, (place + 1) % len(family.sets))):
            twins.append(figures)
        for twin in twins:
            for text in _texts(twin, wordings):
                if (shape := NUMBER.sub(_kind, text)) not in seen:
                    seen.add(shape)
                    yield Text(twin.id, family.language, text)


def names_of(family: Family) -> set[str]:
    """The words with a capital that parameters bring in: names of people, places and things."""
    values = (str(value) for values in family.data["parameters"] for value in values.values())
    return {word for value in values for word in WORD.findall(value) if word != word.lower()}


def _texts(twin: Twin, wordings: slice) -> Iterator[str]:
    for task in twin.versions:
        yield task.prompt.removesuffix(task.request).strip()
        yield task.request
        for fact in task.facts:
            forms = fact.forms[wordings]
            yield from forms if task.layout == PROSE else map(_values, forms)


def _values(member: str) -> str:
    """The text in a member of a JSON object, its name left out."""
    return "\n".join(map(str, json.loads(f"{{{member}}}").values()))


def _kind(number: re.Match[str]) -> str:
    """One number of each kind that the words around it depend on: one thing, `an` eighth, and all others."""
    if number[0] == "1":
        return "1"
    return "8" if number[0][0] == "8" or number[0] in {"11", "18"} else "9"
