"""Our own format, `umpirical-review/1`: JSONL that holds a whole review and loses nothing.

The first line names the format. People, items, guidelines, revisions and decisions follow, each on its own line.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewDecision, ReviewItem
from umpirical.review.people import name_key
from umpirical.review.records import LONGEST_TEXT, Revision
from umpirical.text.problems import plain_problem

LONGEST_LINE = 8_000_000
"""Bytes; several times as long as the longest texts that an item can hold."""

LONGEST_FILE = 512_000_000
"""Bytes of a file of many lines."""

LONGEST_LIST = 128_000_000
"""Bytes of a file that is a single JSON value: what is read from it takes many times as much memory."""


class BadLine(UsageError):
    """A line that cannot be imported."""

    def __init__(self, place: str, message: str, *, fix: str = "nothing was imported; correct the file") -> None:
        super().__init__(f"{place}: {message}", fix=fix)


def json_line(payload: Json) -> str:
    """One line of ASCII: whatever the texts hold, they can neither control a terminal nor end the line."""
    return json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)


def json_lines(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a JSONL file, each with its place, such as `review.jsonl:3`. Blank lines are skipped."""
    with file.open("rb") as lines:
        number = size = 0
        while line := lines.readline(LONGEST_LINE + 1):
            number += 1
            size += len(line)
            place = f"{file.name}:{number}"
            if size > LONGEST_FILE:
                raise BadLine(place, f"the file is longer than {LONGEST_FILE:,} bytes")
            if len(line) > LONGEST_LINE:
                raise BadLine(place, f"the line is longer than {LONGEST_LINE:,} bytes")
            if line.strip():
                yield place, _object(_parsed(line, place), place)


def json_list(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a JSON list, each with its place, such as `tasks.json: task 3`."""
    with file.open("rb") as whole:
        text = whole.read(LONGEST_LIST + 1)
    if len(text) > LONGEST_LIST:
        raise BadLine(file.name, f"the file is longer than {LONGEST_LIST:,} bytes", fix="split it")
    found = _parsed(text, file.name)
    if not isinstance(found, list):
        raise BadLine(file.name, f"expected a list of tasks, got {_kind(found)}")
    for number, entry in enumerate(found, 1):
        place = f"{file.name}: task {number}"
        yield place, _object(entry, place)


def _parsed(text: bytes, place: str) -> Any:  # noqa: ANN401  # whatever the JSON holds
    try:
        return json.loads(text)
    except RecursionError:
        raise BadLine(place, "the JSON is nested too deeply") from None
    except ValueError as error:
        raise BadLine(place, f"this is not valid JSON: {error}") from None


def text_of(record: Mapping[str, Any], name: str, place: str, *, most: int = LONGEST_LINE) -> str:
    """A text field of a record; empty if there is none."""
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadLine(place, f"{name}: expected a text, got {_kind(value)}")
    if len(value) > most:
        raise BadLine(place, f"{name}: {len(value):,} characters; the limit is {most:,}")
    return value


def _object(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadLine(place, f"expected a JSON object, got {_kind(value)}")
    return value


def _kind(value: object) -> str:
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return kinds.get(type(value), "null")


# The people of a file, and who they are here.


class FilePeople:
    """Names in a file to names in this review. Names that differ only in case are one person.

    A file can be written by anyone, in anyone's name. So it speaks for a person who takes part here only if whoever
    imports it says so, by naming them.
    """

    def __init__(self, names: Mapping[str, str], *, members: Iterable[str], decided: Iterable[str]) -> None:
        here = {name_key(name): name for name in members}
        self._named = dict(names)
        self._members = frozenset(here)
        self._known = {name_key(name): name for name in decided} | here

    def name_of(self, theirs: str) -> str:
        """The name here of a person in the file."""
        name = self._named.get(theirs, theirs)
        return self._known.setdefault(name_key(name), name)

    def check_may_speak(self, theirs: str, place: str) -> None:
        """Raises BadLine for a new decision of someone who takes part here, unless they were named."""
        name = self.name_of(theirs)
        if theirs not in self._named and name_key(name) in self._members:
            raise BadLine(
                place,
                f"this is a decision by {name}, who also takes part in this review",
                fix=f"nothing was imported; if they are the same person, add: --as {theirs}={name}",
            )


# Our own format, `umpirical-review/1`: JSONL that holds a whole review and loses nothing.


FORMAT = "umpirical-review/1"

Record = TypeVar("Record", ReviewItem, Revision, ReviewDecision)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A whole review."""

    items: tuple[ReviewItem, ...]
    guidelines: tuple[tuple[int, str], ...]
    """Version and text, in order."""
    in_force: int
    """Version of the guideline; 0 for none."""
    revisions: tuple[Revision, ...]
    """Without the generated texts, which are in the items."""
    decisions: tuple[ReviewDecision, ...]
    places: Mapping[object, str] = field(default_factory=dict, compare=False)
    """Where in the file each revision and decision is."""


def own_lines(bundle: Bundle) -> Iterator[str]:
    """The lines of a file. The same review always gives the same lines."""
    yield json_line({"record": "review", "format": FORMAT, "guideline": bundle.in_force})
    yield from (json_line({"record": "item", **asdict(item)}) for item in bundle.items)
    for version, text in bundle.guidelines:
        yield json_line({"record": "guideline", "version": version, "text": text})
    yield from (json_line({"record": "revision", **asdict(revision)}) for revision in bundle.revisions)
    yield from (json_line({"record": "decision", **asdict(decision)}) for decision in bundle.decisions)


def read_own(file: Path) -> Bundle:
    """The review in a file. Raises BadLine at the first line that does not fit."""
    in_force: int | None = None
    items: list[ReviewItem] = []
    guidelines: list[tuple[int, str]] = []
    revisions: list[Revision] = []
    decisions: list[ReviewDecision] = []
    places: dict[object, str] = {}
    for place, line in json_lines(file):
        record = dict(line)
        kind = record.pop("record", None)
        if in_force is None:
            in_force = _opening(kind, record, place)
        elif kind == "item":
            items.append(_read(ReviewItem, kind, record, place))
        elif kind == "guideline":
            guidelines.append(_guideline(record, place))
        elif kind == "revision":
            revisions.append(_checked_text(_read(Revision, kind, record, place), place))
            places[revisions[-1]] = place
        elif kind == "decision":
            decisions.append(_read(ReviewDecision, kind, record, place))
            places[decisions[-1]] = place
        else:
            raise BadLine(place, f"unknown record {str(kind)[:60]!r}")
    if in_force is None:
        raise BadLine(file.name, "the file is empty")
    bundle = Bundle(tuple(items), tuple(guidelines), in_force, tuple(revisions), tuple(decisions), places)
    _refuse_repeats(bundle, file.name)
    return bundle


def _opening(kind: object, record: Mapping[str, Any], place: str) -> int:
    if kind != "review" or record.get("format") != FORMAT:
        raise BadLine(place, f"expected the first line of a {FORMAT} file")
    version = record.get("guideline", 0)
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise BadLine(place, "guideline: expected the current version")
    return version


def _guideline(record: Mapping[str, Any], place: str) -> tuple[int, str]:
    version, text = record.get("version"), record.get("text")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1 or not isinstance(text, str):
        raise BadLine(place, "expected a version of 1 or more and a text")
    _check_length(text, "text", place)
    return version, text


def _checked_text(revision: Revision, place: str) -> Revision:
    """A revision that is a text of its own: number 0 is the generator's."""
    if revision.number < 1 or not revision.text.strip():
        raise BadLine(place, "expected a revision number of 1 or more and a text")
    return revision


def _check_length(text: str, name: str, place: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise BadLine(place, f"{name}: {len(text):,} characters; the limit is {LONGEST_TEXT:,}")


def _read(record_type: type[Record], kind: str, record: Mapping[str, Any], place: str) -> Record:
    from pydantic import TypeAdapter, ValidationError

    expected = {each.name for each in fields(record_type)}
    if stray := sorted(record.keys() ^ expected):
        what = "is not known" if stray[0] in record else "is missing"
        raise BadLine(place, f"{kind}: {stray[0][:60]!r} {what}")
    for name, hint in get_type_hints(record_type).items():
        # As exported: "true" is not true here, nor is 1.
        if type(record[name]) not in _types(hint):
            raise BadLine(place, f"{name}: invalid value for a {kind}")
        if isinstance(record[name], str):
            _check_length(record[name], name, place)
    try:
        return TypeAdapter(record_type).validate_python(dict(record))
    except ValidationError as error:
        problem = error.errors()[0]
        raise BadLine(place, f"{'.'.join(map(str, problem['loc']))}: {plain_problem(problem)}") from None


def _types(hint: Any) -> frozenset[type]:  # noqa: ANN401  # whatever annotates a field
    """The types in JSON of what a field can hold."""
    if get_origin(hint) is Literal:
        return frozenset({str})
    if get_origin(hint) is tuple:
        return frozenset({list})
    parts = get_args(hint)
    return frozenset().union(*map(_types, parts)) if parts else frozenset({NoneType if hint is None else hint})


def _refuse_repeats(bundle: Bundle, name: str) -> None:
    for what, keys in (
        ("item", [item.id for item in bundle.items]),
        ("guideline", [version for version, _ in bundle.guidelines]),
        ("revision", [(revision.item, revision.number) for revision in bundle.revisions]),
        ("decision", [decision.number for decision in bundle.decisions]),
    ):
        if repeated := [key for key, times in Counter(keys).items() if times > 1]:
            raise BadLine(name, f"{what} {str(repeated[0])[:80]} appears twice")
