"""Drafts of crossed families as a model writes them: read strictly, and what a program finds wrong with them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError

from umpirical.domain.errors import ConfigError
from umpirical.stimuli.controlled.family_files import Family, builtin_families, read_family
from umpirical.stimuli.controlled.gates import REQUEST_GAP
from umpirical.stimuli.controlled.tasks import Task, Twin, check_twins
from umpirical.store.yaml_files import YamlDocument, parse_yaml
from umpirical.text.problems import plain_problem

LEAST, MOST = 2, 5
"""Fewest and most requirements: an answer has two sentences for each, and no more than ten."""

FACTS, FORMS = 4, 4
"""Facts of each requirement, and forms of each fact."""

LEAST_SETS, MOST_SETS = 2, 6
"""Fewest and most sets of parameters, of which each is a task."""

SPREAD = 1
"""By how many words the forms of a requirement may differ: they take each other's places in an answer."""

DRAFT_COUNTS = {
    "least": LEAST,
    "most": MOST,
    "facts": FACTS,
    "forms": FORMS,
    "least_sets": LEAST_SETS,
    "most_sets": MOST_SETS,
}
"""What the instruction for drafting says in figures."""

_FENCED = re.compile(r"\A.*?^```[a-z]*\n(.*?)^```\s*?$", re.DOTALL | re.MULTILINE)
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def _as_text(value: object) -> object:
    """A whole number that was left without quotes. Others might be spelt otherwise than they were written."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True), BeforeValidator(_as_text)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Fact(_Entry):
    asks: _Text
    check: list[_Text]
    forms: list[_Text]


class _Requirement(_Entry):
    name: _Text
    about: _Text
    facts: list[_Fact]


class _Draft(_Entry):
    id: _Text
    domain: _Text
    language: Literal["en", "de", "es"] = "en"
    context: _Text
    request: _Text
    givens: list[_Text] = []
    parameters: list[dict[_Text, _Text]]
    requirements: list[_Requirement]


def read_draft(text: str, *, name: str) -> Family:
    """The family in a reply, with or without a fence around it. Raises ConfigError if it holds anything else."""
    fenced = _FENCED.match(text)
    document = parse_yaml(fenced[1] if fenced else text, name=name)
    try:
        data = _Draft.model_validate(document.data).model_dump()
    except ValidationError as error:
        raise _config_error(document, error) from None
    return read_family(YamlDocument(data, document.name, document.text))


def _config_error(document: YamlDocument, error: ValidationError) -> ConfigError:
    problem = error.errors()[0]
    path = tuple(problem["loc"])
    place = ".".join(map(str, path))
    keys = ", ".join(_Draft.model_fields)
    message = (
        f"is not a key here; those of a family are {keys}"
        if problem["type"] == "extra_forbidden"
        else plain_problem(problem)
    )
    return ConfigError(f"{place}: {message}", where=document.where(path))


def draft_data(family: Family) -> dict[str, Any]:
    """The family as the data of a file that nobody has reviewed yet."""
    return {"reviewed": False, **family.data}


def draft_problems(family: Family) -> Iterator[str]:
    """What is wrong with a draft: with its counts and names first, since the rest follows from them."""
    outer = [*_naming(family), *_counts(family), *_parameters(family)]
    yield from outer
    if not outer:
        yield from _contents(family)


def _naming(family: Family) -> Iterator[str]:
    if not _ID.fullmatch(family.id):
        yield f"the id {family.id[:64]!r} must consist of lower-case letters, digits and hyphens"
    if family.id in {known.id for known in builtin_families()}:
        yield f"the id {family.id} belongs to a built-in family: choose another"
    for name in (name for name, times in Counter(family.names).items() if times > 1):
        yield f"two requirements are named {name}"


def _counts(family: Family) -> Iterator[str]:
    requirements, sets = family.data["requirements"], family.sets
    if not LEAST <= len(requirements) <= MOST:
        yield f"it has {len(requirements)} requirements, not {LEAST} to {MOST}"
    if not LEAST_SETS <= len(sets) <= MOST_SETS:
        yield f"it has {len(sets)} sets of parameters, not {LEAST_SETS} to {MOST_SETS}"
    for requirement in requirements:
        for fact in requirement["facts"]:
            if (found := len(set(fact["forms"]))) != FORMS:
                yield f"requirement {requirement['name']}, {fact['asks']!r}: it has {found} forms, not {FORMS}"
        for text in (requirement["about"], *(fact["asks"] for fact in requirement["facts"])):
            if text[-1] in ".:;,?!":
                yield f"requirement {requirement['name']}: {text!r} is a part of a list, and ends in {text[-1]!r}"
    if family.data["request"][-1] in ".:;,?!":
        yield "the request goes before a list, and must end in a word such as State, without a mark after it"


def _parameters(family: Family) -> Iterator[str]:
    sets: list[Mapping[str, str]] = family.data["parameters"]
    names = set(sets[0]) if sets else set()
    for place, values in enumerate(sets, 1):
        if not _ID.fullmatch(values.get("id", "")):
            yield f"set {place} of the parameters needs an id of lower-case letters, digits and hyphens"
    for name in (name for name, times in Counter(family.sets).items() if times > 1):
        yield f"two sets of parameters have the id {name}"
    used = set(_PLACEHOLDER.findall(" ".join(_template(family.data))))
    yield from (f"{{{name}}} is in a text, but is not a parameter" for name in sorted(used - names | used & {"id"}))
    yield from (f"the parameter {name} is in no text" for name in sorted(names - used - {"id"}))
    yield from (f"givens: {name} is not a parameter" for name in family.givens if name not in names - {"id"})


def _template(data: Mapping[str, Any]) -> Iterator[str]:
    yield from (data["context"], data["request"])
    for requirement in data["requirements"]:
        yield requirement["about"]
        for fact in requirement["facts"]:
            yield from (fact["asks"], *fact["check"], *fact["forms"])


def _contents(family: Family) -> Iterator[str]:
    """Problems of the first twin that has any: those of the others are mostly the same, with other values."""
    twins = sorted(family.twins(), key=lambda twin: twin.kind)
    for twin in twins:
        found = [*check_twins([twin])]
        if twin.kind == "asked":
            found += [*_uneven_requests(*twin.versions), *_uneven_forms(twin)]
        if found:
            # The two versions of a task have most of their problems in common.
            once = {problem.partition(": ")[2]: problem for problem in reversed(found)}
            yield from reversed(once.values())
            return
    if family.givens and all(twin.kind == "asked" for twin in twins):
        yield "givens: too few facts change with them: let two facts of two requirements state figures that follow"


def _uneven_requests(first: Task, second: Task) -> Iterator[str]:
    short, long = sorted(len(task.request.split()) for task in (first, second))
    if long - short > REQUEST_GAP * long:
        yield (
            f"task {first.id}: the two halves of the facts make requests of {short} and {long} words: make asks of the "
            "first two facts of a requirement as long as those of the last two"
        )


def _uneven_forms(twin: Twin) -> Iterator[str]:
    # The facts of one version and, as what stands in for them, those of the other.
    for requirement in twin.versions[0].requirements:
        texts = [text for fact in requirement.facts for text in (*fact.forms, *fact.fillers)]
        lengths = sorted({len(text.split()) for text in texts})
        if lengths[-1] - lengths[0] > SPREAD:
            odd = min(texts, key=lambda text: len(text.split()))
            yield (
                f"task {twin.id}: the forms of {requirement.name} have {lengths[0]} to {lengths[-1]} words, and may "
                f"differ by {SPREAD}: {odd!r} has {lengths[0]}"
            )
