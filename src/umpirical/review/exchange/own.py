"""Our own format, `umpirical-review/1`: JSONL that holds a whole review and loses nothing.

The first line names the format. Items, guidelines, revisions and decisions follow, each on its own line.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from umpirical.domain.reviews import ReviewDecision, ReviewItem
from umpirical.review.exchange.json_files import BadLine, json_line, json_lines
from umpirical.review.records import Revision

__all__ = ["FORMAT", "Bundle", "own_lines", "read_own"]

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
            revisions.append(_read(Revision, kind, record, place))
            places[revisions[-1]] = place
        elif kind == "decision":
            decisions.append(_read(ReviewDecision, kind, record, place))
            places[decisions[-1]] = place
        else:
            raise BadLine(place, f"record {str(kind)[:60]!r} is not known")
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
        raise BadLine(place, "guideline: expected the version that is in force")
    return version


def _guideline(record: Mapping[str, Any], place: str) -> tuple[int, str]:
    version, text = record.get("version"), record.get("text")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1 or not isinstance(text, str):
        raise BadLine(place, "expected a version of 1 or more, and a text")
    return version, text


def _read(record_type: type[Record], kind: str, record: Mapping[str, Any], place: str) -> Record:
    from pydantic import TypeAdapter, ValidationError

    expected = {each.name for each in fields(record_type)}
    if stray := sorted(record.keys() ^ expected):
        what = "is not known" if stray[0] in record else "is missing"
        raise BadLine(place, f"{kind}: {stray[0][:60]!r} {what}")
    try:
        return TypeAdapter(record_type).validate_python(dict(record))
    except ValidationError as error:
        problem = error.errors()[0]
        raise BadLine(place, f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None


def _refuse_repeats(bundle: Bundle, name: str) -> None:
    for what, keys in (
        ("item", [item.id for item in bundle.items]),
        ("guideline", [version for version, _ in bundle.guidelines]),
        ("revision", [(revision.item, revision.number) for revision in bundle.revisions]),
        ("decision", [decision.number for decision in bundle.decisions]),
    ):
        if repeated := _repeated(keys):
            raise BadLine(name, f"{what} {str(repeated[0])[:80]} appears twice")


def _repeated(keys: Sequence[object]) -> list[object]:
    return [key for key, times in Counter(keys).items() if times > 1]
