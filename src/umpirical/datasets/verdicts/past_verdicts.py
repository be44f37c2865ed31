"""A verdict that was given in the past, in the words and on the scale of whoever wrote it down."""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from umpirical.datasets.readers import READERS, Row, Source
from umpirical.datasets.spec import LimitsSpec
from umpirical.datasets.text_lines import check_size
from umpirical.datasets.values import is_missing, number_of, plain_text
from umpirical.domain.digests import digest
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.judgments import Abstained, Failed, Unparsed
from umpirical.domain.scales import Choice, GradeScale, JudgeKind
from umpirical.domain.trials import Order

Given = Choice | str | Abstained | Unparsed | Failed
"""A position, or a grade as the file spells it; or why there is no verdict. The absence of one is never a grade."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What a person says about a file; whatever is left open is guessed from the file, or not known."""

    columns: dict[str, str] = field(default_factory=dict)
    """Maps a role to the column that has it: verdict, item, order, repeat, label, judge, task."""
    kind: JudgeKind | None = None
    scale: GradeScale | None = None


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """One answer of one judge, as a file has kept it."""

    judge: str
    item: str
    """What was judged: the same for repeats, and for both orders of a pair."""
    given: Given
    task: str = ""
    """Items of one task are not independent of each other; empty if every item is a task of its own."""
    order: Order | None = None
    """Which content was in position 1; None if the file does not say, and for a grade."""
    repeat: str = ""
    """What the file calls the repeat; empty if it counts none, and the rows stand in their order."""
    gold: str = ""
    """The right grade; for a pair, the better content, `a` or `b`, or `tie`. Empty if it is not known."""
    strata: Mapping[str, str] = field(default_factory=dict)
    """What the item belongs to, by column: results are split by it."""


@dataclass(frozen=True, slots=True)
class PassRate:
    """What another tool counts as passed, in one stratum."""

    judge: str
    stratum: str
    passed: int
    total: int


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """Everything that a file holds."""

    format: str
    kind: JudgeKind
    verdicts: tuple[PastVerdict, ...]
    scale: GradeScale | None = None
    """The scale of the grades, if the format says so; None if it has to be found in the grades."""
    notes: tuple[str, ...] = ()
    """What the format hides or changes, so that no measure of it can tell."""
    passes: tuple[PassRate, ...] = ()
    """What the tool that wrote the file counts itself."""


def item_of(*parts: object) -> str:
    """Returns a name for what was judged, made from its texts: the same texts are the same item."""
    return digest("item", [str(part) for part in parts])


# The words of others for a verdict: positions, ties, the absence of a verdict, orders.

POSITION_1 = frozenset({"1", "a", "first", "[[a]]", "a>b", "a>>b", "slot 1", "position 1", "answer 1", "response_a"})
POSITION_2 = frozenset({"2", "b", "second", "[[b]]", "b>a", "b>>a", "slot 2", "position 2", "answer 2", "response_b"})
TIES = frozenset({"tie", "tied", "draw", "equal", "same", "both", "a=b", "b=a", "c", "[[c]]"})
ABSTAINED = frozenset({"abstain", "abstained", "abstention", "cannot say"})
FAILED = frozenset({"error", "failed", "failure", "timeout", "refused"})
NOTHING = frozenset({"nan", "none", "null", "n/a", "na", "unparsed", "-"})
"""Words that programs write where there is no verdict."""

UNCLEAR = frozenset({"failed", "failure"})
"""Words for a response that does not pass, and for a call that did not work: which one is not for us to guess."""

PASSING = frozenset({"pass", "passed", "fail"})
"""Words beside which these are unclear; beside grades they say that a call did not work."""

ORDERS = (
    ({"uv"}, {"vu"}),
    ({"ab"}, {"ba"}),
    ({"0"}, {"1"}),
    ({"1"}, {"2"}),
    ({"original", "first", "normal", "forward"}, {"swapped", "second", "reversed", "reverse", "flipped", "backward"}),
    ({"false"}, {"true"}),
)
"""What the two orders are called: the one in which contents are named, and the other."""


def unclear(word: str, place: str) -> ConfigError:
    """Returns the error for a word that may be a verdict or none."""
    return ConfigError(
        f"{word!r} could be a verdict or a failed call",
        where=place,
        fix="write fail for a response that fails; leave the cell empty if the judge gave no answer",
    )


def choice_of(value: object) -> Given:
    """Returns which position a verdict names."""
    if (missing := _no_verdict(value)) is not None:
        return missing
    word = plain_text(value).strip().casefold()
    if word in POSITION_1:
        return Choice.POSITION_1
    if word in POSITION_2:
        return Choice.POSITION_2
    if word in TIES:
        return Choice.TIE
    return Unparsed(plain_text(value)[:400], "it names neither a position nor a tie")


def grade_of(value: object) -> Given:
    """Returns a grade as text: a number in its shortest spelling, true and false as these words."""
    if (missing := _no_verdict(value)) is not None:
        return missing
    if isinstance(value, bool | int | float | str):
        return plain_text(value).strip()
    return Unparsed(str(value)[:400], f"a {type(value).__name__} is not a verdict")


def content_of(value: object) -> str:
    """Returns which content a label calls the better one, in the order in which contents are named; empty if none."""
    return (
        {Choice.POSITION_1: "a", Choice.POSITION_2: "b", Choice.TIE: "tie"}.get(found, "")
        if isinstance(found := choice_of(value), Choice)
        else ""
    )


def swapped(choice: Choice) -> Choice:
    """Returns the same content's position in the other order."""
    return {Choice.POSITION_1: Choice.POSITION_2, Choice.POSITION_2: Choice.POSITION_1}.get(choice, choice)


def orders_of(words: Collection[str], where: str) -> dict[str, Order]:
    """Returns what each word for an order means. Raises ConfigError if the words do not tell."""
    folded = {word: word.strip().casefold() for word in words}
    for first, second in ORDERS:
        if set(folded.values()) <= first | second:
            return {word: Order.AB if fold in first else Order.BA for word, fold in folded.items()}
    raise ConfigError(
        f"the orders are named {', '.join(sorted(words)[:5])}, so it is unclear which is which",
        where=where,
        fix="name them ab and ba: in ab, the first position shows the answer that the label calls 1",
    )


def _no_verdict(value: object) -> Abstained | Unparsed | Failed | None:
    if is_missing(value) or (isinstance(value, float) and not math.isfinite(value)):
        return Unparsed("", "the verdict is empty")
    if not isinstance(value, str):
        return None
    word = value.strip().casefold()
    if word in ABSTAINED:
        return Abstained()
    if word in FAILED:
        return Failed("judge-error", f"the file contains {word}")
    return Unparsed(value[:400], f"the file contains {word}") if word in NOTHING else None


# The scale of grades that nobody has described, found in the grades themselves.

LABEL_ORDERS = (
    ("I", "C"),
    ("I", "P", "C"),
    ("false", "true"),
    ("no", "yes"),
    ("fail", "pass"),
    ("incorrect", "correct"),
)
"""Labels whose order is known, lowest first: Inspect's, and plain words."""

MOST_STEPS = 20
"""Whole numbers that lie no farther apart than this are grades of an ordinal scale, used or not."""

OTHER = "(any other)"
"""Stands for the labels that were never used, where only one was."""


def scale_of(grades: Iterable[str]) -> GradeScale:
    """Returns the least scale that holds all grades. A scale whose ends were never used looks shorter than it is."""
    found = sorted(set(grades))
    numbers = [number for number in map(number_of, found) if number is not None]
    if found and len(numbers) == len(found):
        return _numeric(min(numbers), max(numbers), whole=all(number.is_integer() for number in numbers))
    for labels in LABEL_ORDERS:
        if found and set(found) <= set(labels):
            return GradeScale("binary" if len(labels) == 2 else "ordinal", labels)
    return GradeScale("nominal", tuple(found) if len(found) > 1 else (*found, OTHER, "")[:2] if found else (OTHER, ""))


def on_scale(grade: str, scale: GradeScale) -> str | float | None:
    """Returns a grade as the scale has it: a label or, on an interval scale, a number; None if it is not on it."""
    number = number_of(grade)
    if scale.kind == "interval":
        return number if number is not None and scale.holds(number) else None
    if grade in scale.labels:
        return grade
    # 4.0 is the grade 4, as programs store whole numbers beside missing ones.
    whole = f"{number:.0f}" if number is not None and number.is_integer() else ""
    return whole if whole in scale.labels else None


def parse_scale(text: str) -> GradeScale:
    """Returns the scale that a person has typed: `1..5`, `0..1`, or labels with commas, lowest first."""
    low, dots, high = text.partition("..")
    if dots:
        ends = number_of(low.strip()), number_of(high.strip())
        if ends[0] is None or ends[1] is None or ends[0] >= ends[1]:
            raise UsageError(f"invalid scale {text!r}", fix="for example 1..5, or bad,fair,good")
        steps = ends[1] - ends[0]
        return _numeric(ends[0], ends[1], whole=ends[0].is_integer() and ends[1].is_integer() and steps > 1)
    labels = tuple(label.strip() for label in text.split(",") if label.strip())
    if len(set(labels)) != len(labels) or len(labels) < 2:
        raise UsageError(f"invalid scale {text!r}", fix="give at least two different labels: bad,fair,good")
    return GradeScale("binary" if len(labels) == 2 else "ordinal", labels)


def _numeric(low: float, high: float, *, whole: bool) -> GradeScale:
    if whole and 1 <= high - low <= MOST_STEPS:
        labels = tuple(str(number) for number in range(math.floor(low), math.floor(high) + 1))
        return GradeScale("binary" if len(labels) == 2 else "ordinal", labels)
    return GradeScale("interval", low=low, high=high if high > low else low + 1)


# JSON documents of others, read within limits.

LIMITS = LimitsSpec(bytes=1 << 28, depth=64)
"""A document is parsed as a whole, and takes ten times its size in memory."""

_FORMAT = "name the format with --format, or export the file again"


def read_document(path: Path) -> Any:  # noqa: ANN401  # foreign JSON
    """Returns the JSON in a file. Raises ConfigError for one that is too large, nested too deeply, or no JSON."""
    source = Source(path, path.name, limits=LIMITS)
    check_size(source)
    return parse_document(path.read_bytes(), path.name)


def parse_document(text: bytes, where: str) -> Any:  # noqa: ANN401  # foreign JSON
    try:
        found: Any = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_distinct)
    except RecursionError:
        raise ConfigError("nested too deeply to be read", where=where, fix=_FORMAT) from None
    except ValueError as error:
        raise ConfigError(f"not valid JSON: {str(error)[:200]}", where=where, fix=_FORMAT) from None
    return found


def table_rows(path: Path, form: str) -> Iterator[Row]:
    """Yields the rows of a table: CSV, JSON Lines or Parquet, by the readers of datasets, and in their limits."""
    yield from READERS.get(form).open(Source(path, path.name, limits=LIMITS)).rows


def entries(found: object, *path: str, where: str) -> Sequence[Mapping[str, Any]]:
    """Returns a list of objects inside a document. Raises ConfigError if something else stands there."""
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(each, Mapping) for each in found):
        place = ".".join(path) or "the document"
        raise ConfigError(f"{place} is not a list of objects", where=where, fix=_FORMAT)
    return found


def text_of(value: object) -> str:
    """Returns a name or an id as text; empty if there is none."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, sort_keys=True)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same field twice")
    return found
