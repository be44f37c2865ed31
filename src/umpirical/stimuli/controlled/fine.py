"""Fine differences: long answers of which one has a few details wrong, and the details have to be worked out.

A task gives rules and a list of cases, and asks for five things about each case: a date, a price, a time. The list is
given in two versions that differ in a few figures. Two reports state every detail, in different words: one has those
details right for the first version, the other for the second, and all others are right under both. So a judge that
does not read the task is right exactly half of the time, and as no detail is written in the task, neither does matching
words help. An answer of 20 details with one of them wrong lacks a quarter of a requirement: a fifth of what is asked.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.stimuli import Family, GivenWinner, Stimulus
from umpirical.stats.seeds import generator
from umpirical.store.yaml_files import parse_yaml

MAKER = "fine/1"

FOLDER = files("umpirical.stimuli.controlled") / "fine_families"

REQUIREMENTS = 5
"""What an answer states is as many requirements, however long it is."""

SHAPES = ((20, 1), (100, 1), (50, 5), (20, 1), (100, 5), (10, 1), (50, 1), (20, 1))
"""How many details an answer states, and how many of them one of two has wrong that the other has right."""

WRONG = 5
"""Of so many details one is wrong in both answers, and mostly wrong in two ways: where the answers differ, neither need
be right."""

CLEAN = 3
"""One in so many crossed pairs has no such details. They are much easier: to find the difference is to know enough."""

SHARED = "shared"
"""Marks the others."""

MOST_LISTS = 100
"""Lists that are drawn until one has enough details that can be wrong. The shipped families hardly need a second."""

Forms = NDArray[np.int64] | None
"""By case, which of a family's paragraphs tells of it."""

VERSIONS = "P", "Q"

T = TypeVar("T")

Value = int | Fraction | str
Givens = Mapping[str, Value]

NEW_YEAR = date(2027, 1, 1)

# Not by `strftime`: a host program may have set another language.
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip

DATES = f"All dates are in {NEW_YEAR.year}. From March 1 to March 2 is one day."

NAME = r"[\w'. -]+?"

FORMS = {
    "date": r"[A-Z][a-z]+ \d{1,2}",
    "time": r"\d\d:\d\d",
    "money": r"\$\d+(?:\.\d\d)?",
    "number": r"\d+(?:\.\d+)?",
}
"""How a value of each kind is written."""


@lru_cache(maxsize=1 << 13)
def written(value: Value, form: str) -> str:
    """A value as a text gives it. Raises ValueError for one that nobody would write so."""
    if isinstance(value, str):
        return value
    if value < 0 or (form != "number" and value.denominator > 1) or (100 * value).denominator > 1:
        raise ValueError(f"{value} cannot be written as a {form}")
    match form:
        case "date":
            day = NEW_YEAR + timedelta(days=int(value))
            if day.year > NEW_YEAR.year:
                raise ValueError(f"{value} days are more than a year")
            return f"{MONTHS[day.month - 1]} {day.day}"
        case "time":
            hour, minute = divmod(int(value), 60)
            if hour >= 24:
                raise ValueError(f"{value} minutes are more than a day")
            return f"{hour:02}:{minute:02}"
        case "money":
            return f"${int(value) / 100:.2f}".removesuffix(".00")
        case _:
            return f"{float(value):.2f}".rstrip("0").rstrip(".")


def read(text: str, form: str) -> int | Fraction:
    """The value that a text gives."""
    match form:
        case "date":
            month, day = text.split()
            return (date(NEW_YEAR.year, MONTHS.index(month) + 1, int(day)) - NEW_YEAR).days
        case "time":
            hour, minute = map(int, text.split(":"))
            return 60 * hour + minute
        case "money":
            dollars, _, cents = text.removeprefix("$").partition(".")
            return 100 * int(dollars) + int(cents or 0)
        case _:
            return Fraction(text)


def worked_out(rule: object, givens: Givens) -> Value:
    """The value of a rule: a figure, the name of a given, or an operation and what it is done with."""
    match rule:
        case int():
            return rule
        case str():
            return givens[rule]
        case [str(operation), *operands]:
            values = [worked_out(operand, givens) for operand in operands]
            return OPERATIONS[operation](*values)
        case _:
            raise TypeError(f"not a rule: {rule!r}")


TRUTH = {True: "yes", False: "no"}

OPERATIONS: dict[str, Callable[..., Value]] = {
    "plus": lambda *values: sum(values),
    "minus": lambda one, other: one - other,
    "times": lambda *values: prod(values),
    "share": lambda value, percent: Fraction(value * percent, 100),
    "over": Fraction,
    "whole": lambda one, other: -(-one // other),
    "rest": lambda one, other: one % other,
    "least": min,
    "most": max,
    "at-least": lambda one, other: TRUTH[one >= other],
    "over-limit": lambda one, other: TRUTH[one > other],
    "both": lambda *values: TRUTH[set(values) == {"yes"}],
    "either": lambda *values: TRUTH["yes" in values],
    "not": lambda value: TRUTH[value == "no"],
    "if": lambda condition, one, other: one if condition == "yes" else other,
}


@dataclass(frozen=True)
class Detail:
    """One of the things asked about each case."""

    name: str
    kind: str
    """What a judge that misses it gets wrong: dates, rates, rules and so on."""
    turns: str
    """The given that no other detail depends on: another value makes this detail another one."""
    form: str
    rule: object
    wordings: Mapping[str, Sequence[str]]
    """For a detail that holds or does not: how either is said."""

    @property
    def pattern(self) -> str:
        if self.form != "choice":
            return FORMS[self.form]
        return "|".join(re.escape(text) for texts in self.wordings.values() for text in texts)


class Turned(NamedTuple):
    """A case with another figure."""

    distance: int
    """How many steps it is from the first one."""
    givens: Givens


@dataclass(frozen=True)
class Worked:
    """A family of tasks whose answers have to be worked out."""

    id: str
    domain: str
    data: Mapping[str, Any] = field(hash=False)

    @cached_property
    def details(self) -> tuple[Detail, ...]:
        return tuple(
            Detail(
                entry["name"], entry["kind"], entry["turns"], entry["as"], entry["value"],
                {said: entry[said] for said in ("yes", "no") if said in entry},
            )
            for entry in self.data["facts"]
        )  # fmt: skip

    def drawn(self, part: str, rng: np.random.Generator, shared: Givens | None = None) -> Givens:
        """Givens by chance, redrawn until every detail is a value that somebody would write."""
        for _ in range(1000):
            found: dict[str, Value] = dict(shared or {})
            for name, [limits] in ((name, kind.values()) for name, kind in self.data[part].items()):
                low, high, step = (*limits, 1)[:3]
                found[name] = low + step * int(rng.integers((high - low) // step + 1))
            try:
                if part == "each":
                    self.values(found)
            except ValueError:
                continue
            return found
        raise ValueError(f"family {self.id}: no figures fit together")

    def values(self, givens: Givens) -> list[str]:
        """Every detail of a case."""
        return [written(worked_out(detail.rule, givens), detail.form) for detail in self.details]

    def turned(self, givens: Givens, place: int, rng: np.random.Generator) -> "Turned | None":
        """The same case with another figure, which changes one detail alone."""
        detail = self.details[place]
        [[low, high, *step]] = self.data["each"][detail.turns].values()
        size, own, sign = (step or [1])[0], int(givens[detail.turns]), int(rng.choice([-1, 1]))
        start = 1 if detail.form == "choice" else int(rng.integers(1, 4))
        before = self.values(givens)
        for distance in range(start, 60):
            for other in (own + sign * size * distance, own - sign * size * distance):
                changed = {**givens, detail.turns: other}
                if low <= other <= high and self._differ(before, changed, place):
                    return Turned(distance, changed)
        return None

    def _differ(self, before: Sequence[str], changed: Givens, place: int) -> bool:
        try:
            after = self.values(changed)
        except ValueError:
            return False
        differ = [number for number, (one, two) in enumerate(zip(before, after, strict=True)) if one != two]
        if differ and differ != [place]:
            raise ValueError(f"family {self.id}: {self.details[place].turns} changes more than one detail")
        return bool(differ)

    def names(self, rng: np.random.Generator) -> list[str]:
        """What the cases may be called, in a drawn order."""
        if own := self.data.get("names"):
            return list(map(str, rng.permutation(own)))
        return [f"{rng.choice(TITLES)} {name}" for name in rng.permutation(_surnames())]

    # Writing.

    def filled(self, text: str, givens: Givens, *parts: str) -> str:
        forms = {name: form for part in parts for name, [form] in self.data[part].items()}
        return text.format_map({name: written(value, forms.get(name, "name")) for name, value in givens.items()})

    def prompt(self, shared: Givens, cases: Sequence[Givens]) -> str:
        lines = [f"- {self.filled(self.data['record'], case, 'common', 'each')}" for case in cases]
        given = self.filled(self.data["given"], shared, "common")
        dated = (
            ["", DATES]
            if "date" in {form for part in ("common", "each") for [form] in self.data[part].values()}
            else []
        )
        return "\n".join([self.data["about"], "", given, *dated, "", *lines, "", self.data["request"]])

    def report(
        self,
        cases: Sequence[Givens],
        said: Sequence[Sequence[str]],
        opening: str,
        rng: np.random.Generator,
        but: Forms,
    ) -> tuple[str, Forms]:
        """A report of these details, and the form of each of its paragraphs: never that in `but`."""
        answers = self.data["answers"]
        own = rng.integers(len(answers), size=len(cases))
        forms = own if but is None else (but + 1 + own % (len(answers) - 1)) % len(answers)
        paragraphs = [
            answers[form].format_map({"name": case["name"], **self._worded(values, rng)})
            for case, values, form in zip(cases, said, forms.tolist(), strict=True)
        ]
        return "\n\n".join([f"{opening} {paragraphs[0]}", *paragraphs[1:]]), forms

    def _worded(self, values: Sequence[str], rng: np.random.Generator) -> dict[str, str]:
        return {
            detail.name: str(rng.choice(detail.wordings.get(value, [value])))
            for detail, value in zip(self.details, values, strict=True)
        }

    # Reading: what the texts themselves say, whatever they were made from.

    def cases_in(self, prompt: str) -> list[Givens]:
        shared = self._read(self.data["given"], prompt, "common")
        lines = [line for line in prompt.splitlines() if line.startswith("- ")]
        return [shared | self._read(f"- {self.data['record']}", line, "each") for line in lines]

    def _read(self, template: str, text: str, part: str) -> dict[str, Value]:
        forms = {name: form for name, [form] in self.data[part].items()}
        found = self._patterns[template, part].search(text)
        if found is None:
            raise ValueError(f"family {self.id}: a prompt does not give what it should: {text[:80]!r}")
        return {name: read(text, forms[name]) if name in forms else text for name, text in found.groupdict().items()}

    @cached_property
    def _patterns(self) -> dict[tuple[str, str], re.Pattern[str]]:
        """How each text of the family is read again, by the text and what it is part of."""
        forms = {part: {name: FORMS[form] for name, [form] in self.data[part].items()} for part in ("common", "each")}
        forms["answers"] = {detail.name: detail.pattern for detail in self.details}
        first = {"answers": f"(?:(?:{'|'.join(map(re.escape, self.data['openings']))}) )?"}
        texts = [(self.data["given"], "common"), (f"- {self.data['record']}", "each")]
        texts += [(text, "answers") for text in self.data["answers"]]
        return {
            (text, part): re.compile(first.get(part, "") + _pattern(text, forms[part] | {"name": NAME}))
            for text, part in texts
        }

    def right_in(self, prompt: str, report: str) -> int:
        """How many details a report has right, by the prompt alone."""
        cases, paragraphs = self.cases_in(prompt), report.split("\n\n")
        return sum(self._right_in(case, text) for case, text in zip(cases, paragraphs, strict=True))

    def _right_in(self, case: Givens, text: str) -> int:
        found = [self._patterns[form, "answers"].fullmatch(text) for form in self.data["answers"]]
        match = next((each for each in found if each), None)
        if match is None or match["name"] != case["name"]:
            raise ValueError(f"not what family {self.id} says of {case['name']}: {text[:80]!r}")
        return sum(
            match[detail.name] in detail.wordings.get(right, (right,))
            for detail, right in zip(self.details, self.values(case), strict=True)
        )


def _pattern(template: str, patterns: Mapping[str, str]) -> str:
    parts = re.split(r"\{(\w+)\}", template)
    return "".join(f"(?P<{part}>{patterns[part]})" if n % 2 else re.escape(part) for n, part in enumerate(parts))


@cache
def _surnames() -> list[str]:
    return (FOLDER / "surnames.txt").read_text(encoding="utf-8").split()


@cache
def worked_families() -> tuple[Worked, ...]:
    """The families that ship, in order of file name."""
    paths = sorted((path for path in FOLDER.iterdir() if path.name.endswith(".yaml")), key=lambda path: path.name)
    documents = [parse_yaml(path.read_text(encoding="utf-8"), name=path.name).data for path in paths]
    return tuple(Worked(data["id"], data["domain"], data) for data in documents)


TITLES = "Ms", "Mr", "Dr"


def fine_stimuli(families: Sequence[Worked], quads: int, *, seed: int) -> Iterator[Stimulus]:
    """As many crossed pairs. Families and shapes take turns, in an order drawn for each round: no rhythm is shared."""
    if families:
        chosen = _in_rounds(families, quads, generator(seed, "fine", "families"))
        shapes = _in_rounds(SHAPES, quads, generator(seed, "fine", "shapes"))
        for turn, (family, shape) in enumerate(zip(chosen, shapes, strict=True)):
            yield from _crossed_pair(family, shape, turn, seed)


def _in_rounds(each: Sequence[T], count: int, rng: np.random.Generator) -> list[T]:
    order = [place for _ in range(0, count, len(each)) for place in rng.permutation(len(each)).tolist()]
    return [each[place] for place in order[:count]]


@dataclass(frozen=True)
class _Lists:
    """A list of cases in both versions, which differ in one detail of a few cases."""

    shared: Givens
    one: list[Givens]
    two: list[Givens]
    place: int
    """Which detail it is."""


def _lists(family: Worked, shape: tuple[int, int], rng: np.random.Generator) -> _Lists:
    details, wrong = shape
    for _ in range(MOST_LISTS):
        place, shared = int(rng.integers(len(family.details))), family.drawn("common", rng)
        names = family.names(rng)[: details // len(family.details)]
        one = [family.drawn("each", rng, {**shared, "name": name}) for name in names]
        turned = [(number, family.turned(case, place, rng)) for number, case in enumerate(one)]
        # The nearest: what is right in the neighboring case is wrong in this one.
        near = sorted(((found, number) for number, found in turned if found), key=lambda each: each[0].distance)[:wrong]
        if len(near) == wrong:
            other = {number: found.givens for found, number in near}
            return _Lists(shared, one, [other.get(number, case) for number, case in enumerate(one)], place)
    raise ValueError(f"family {family.id}: too few details can change")


def _crossed_pair(family: Worked, shape: tuple[int, int], turn: int, seed: int) -> Iterator[Stimulus]:
    details, wrong = shape
    rng = generator(seed, "fine", family.id, str(turn))
    lists = _lists(family, shape, rng)
    both = 0 if turn // len(SHAPES) % CLEAN == 1 else details // WRONG
    reports = _reports(family, (lists.one, lists.two), both, rng)
    better, delta = int(rng.integers(2)), REQUIREMENTS * wrong / details
    for cases, version, winner in zip((lists.one, lists.two), VERSIONS, (better, 1 - better), strict=True):
        yield Stimulus(
            task_id=f"{family.id}.{turn}.{version}",
            task_family=family.id,
            task=family.prompt(lists.shared, cases),
            candidates=reports if better == 0 else reports[::-1],
            expectation=GivenWinner(winner),
            maker=MAKER,
            family=Family.FINE,
            stratum="/".join([family.details[lists.place].kind, str(details), *([SHARED] if both else [])]),
            delta=delta,
            base=REQUIREMENTS * (details - both) / details - delta,
            crossed_pair=f"{family.id} {turn}",
            version=version,
        )


def _reports(
    family: Worked, versions: tuple[list[Givens], list[Givens]], both: int, rng: np.random.Generator
) -> tuple[str, str]:
    """A report that is right for each version, but for as many details that are wrong for both."""
    cases, size = versions[0], len(family.details)
    said = [[family.values(case) for case in version] for version in versions]
    for index in rng.permutation(len(cases) * size).tolist():
        number, place = divmod(index, size)
        if both == 0:
            break
        same = said[0][number][place] == said[1][number][place]
        others = [other for _ in said if same and (other := family.turned(cases[number], place, rng))]
        if len(others) == len(said):
            both -= 1
            for report, wrong in zip(said, others, strict=True):
                report[number][place] = family.values(wrong.givens)[place]
    if both:
        raise ValueError(f"family {family.id}: too few details can be wrong")
    openings = rng.permutation(family.data["openings"]).tolist()
    first, forms = family.report(cases, said[0], openings[0], rng, None)
    second, _ = family.report(cases, said[1], openings[1], rng, forms)
    return first, second
