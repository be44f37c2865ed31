"""The conformance kit for dataset readers: one call in a test checks everything that a reader promises.

- every row: all rows are given, in order, and reading again gives the same rows;
- values: a value is exactly what the file holds; nothing is stripped, converted or guessed;
- places: each row says where it is, by the file's name and an increasing number;
- columns: the table names its columns in order, or leaves that to the rows;
- only what is asked for: a format that can leave columns unread does so, and a missing column does not break it;
- limits: a file that exceeds the limit on rows, bytes or characters in a field is refused, never cut;
- refusals: a missing file, a broken one and one in another encoding give a ConfigError that names the file (and the
  line, if the file is text) and says what to do; any damage gives either that error or rows, and no other error;
- options: an unknown option is refused with a list of the known ones, and an option of the wrong type is refused;
- the data is left unchanged.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from umpirical.datasets.readers import DatasetReader, Row, Source, Table
from umpirical.datasets.spec import LimitsSpec, OptionValue
from umpirical.domain.errors import ConfigError

Rows = Sequence[Mapping[str, object]]

COLUMNS = ("text", "label", "note")

TEXTS = (
    "plain",
    "  padded  ",
    "two\nlines",
    "and\r\ntwo more",
    "a,b;c\td|e",
    'say "yes"',
    "=1+1",
    "007",
    "1.0",
    "NaN",
    "null",
    "true",
    "",
    "café, 漢字, 🙂",
    "\\n",
    '{"a": [1]}',
    "the longest of them, by far",
)
"""Values that programs tend to strip, convert or misread."""

LONGEST = max(map(len, TEXTS))

TYPED: Rows = (
    {"text": "1", "whole": 1, "part": 2.5, "agreed": True, "said": None},
    {"text": "2", "whole": 20_000_000_000, "part": 1.0, "agreed": False, "said": "so"},
)

UNKNOWN = "no-such-option"


@dataclass(frozen=True, slots=True)
class Format:
    """What is to be known about a reader's format."""

    write: Callable[[Path, Rows], None]
    """Writes rows, which all have the same columns, to a path."""
    spoil: Callable[[Path], None]
    """Makes what was written unreadable."""
    name: str = "data"
    """What the file, or folder, is called."""
    typed: bool = False
    """Whether it keeps integers, numbers, booleans and null besides text."""
    selects: bool = False
    """Whether only some columns can be read."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Those without which the reader cannot work."""


def check_reader(reader: DatasetReader, of: Format, folder: Path) -> None:
    """Raises AssertionError with the broken promise and how it is broken. Files are written below `folder`."""
    _check_card(reader)
    kit = _Kit(reader, of, folder)
    _check_rows(kit)
    if of.typed:
        _check_types(kit)
    _check_wanted(kit)
    _check_limits(kit)
    _check_missing(kit)
    _check_broken(kit)
    _check_damage(kit)
    _check_encoding(kit)
    _check_options(kit)


@dataclass(frozen=True, slots=True)
class _Kit:
    """The reader under test, and where its files go."""

    reader: DatasetReader
    of: Format
    folder: Path

    def written(self, purpose: str, rows: Rows) -> Path:
        """Writes rows to a subfolder of their own, and returns the path."""
        place = self.folder / purpose
        place.mkdir(parents=True)
        self.of.write(place / self.of.name, rows)
        return place / self.of.name

    def source(
        self,
        path: Path,
        *,
        columns: tuple[str, ...] = (),
        limits: LimitsSpec | None = None,
        options: Mapping[str, OptionValue] | None = None,
    ) -> Source:
        return Source(
            path,
            path.name,
            columns=columns,
            limits=limits or LimitsSpec(),
            options=self.of.options if options is None else options,
            written=path.name,
        )

    def table(self, source: Source, promise: str) -> tuple[Table, list[Row]]:
        """Reads a table; reading must succeed."""
        try:
            table = self.reader.open(source)
            return table, list(table.rows)
        except Exception as error:  # noqa: BLE001  # whatever it is, it would end a study
            fix = f" (fix: {error.fix})" if isinstance(error, ConfigError) else ""
            self.broken(promise, f"raised {type(error).__name__}: {error}{fix}")

    def refusal(self, source: Source, promise: str, what: str, *, line: bool = False) -> ConfigError:
        """Returns the error of a refusal, which must say where, by line if wanted, and what to do."""
        error = self.outcome(source)
        if not isinstance(error, ConfigError):
            self.broken(promise, f"{what}: expected a ConfigError, got {error:.300}")
        if not error.where.startswith(source.name):
            self.broken(promise, f"{what}: expected a place that starts with {source.name}, got {error.where!r}")
        if line and not re.match(rf"{re.escape(source.name)}:\d+", error.where):
            self.broken(promise, f"{what}: expected the line, such as {source.name}:3, got {error.where!r}")
        if not error.fix.strip():
            self.broken(promise, f"{what}: expected a fix, got only the message {str(error)!r}")
        return error

    def outcome(self, source: Source) -> ConfigError | str:
        """Returns the resulting ConfigError, or any other result in words."""
        try:
            return f"{len(list(self.reader.open(source).rows))} rows"
        except ConfigError as error:
            return error
        except Exception as error:  # noqa: BLE001  # any other one is what the promises rule out
            return f"{type(error).__name__}: {error}"

    def broken(self, promise: str, message: str) -> NoReturn:
        raise AssertionError(f"{self.reader.format}, promise {promise!r}: {message}")


def _check_card(reader: DatasetReader) -> None:
    if not isinstance(reader, DatasetReader):
        # Not a TypeError: as with every other promise, the test should fail and not end in an error.
        raise AssertionError(f"expected a DatasetReader, got {type(reader).__name__}")  # noqa: TRY004
    card = "a card in order"
    if not re.fullmatch(r"[a-z][a-z0-9-]*", reader.format):
        raise AssertionError(f"{reader.format}, promise {card!r}: expected a format such as `csv`")
    for name, option in reader.options.items():
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or not re.fullmatch(r"(?s)\S.*[.]", option.about):
            said = f"expected a lowercase name and a sentence, got {name!r}: {option.about!r}"
            raise AssertionError(f"{reader.format}, promise {card!r}: {said}")


def _sample(texts: Sequence[str] = TEXTS) -> list[dict[str, str]]:
    """Returns as many rows as texts, no two alike."""
    return [
        dict(zip(COLUMNS, (text, f"label {number}", texts[-number]), strict=True)) for number, text in enumerate(texts)
    ]


# What is given.


def _check_rows(kit: _Kit) -> None:
    rows = _sample()
    path = kit.written("rows", rows)
    before = _content(path)
    table, found = kit.table(kit.source(path), "every row")
    _check_same_rows(kit, rows, found)
    _check_places(kit, path.name, [row.place for row in found])
    if table.columns is not None and tuple(table.columns) != COLUMNS:
        kit.broken("columns", f"expected {', '.join(COLUMNS)}, or None, got {table.columns!r}")
    _, again = kit.table(kit.source(path), "every row")
    if again != found:
        kit.broken("every row", "reading it again gives different rows")
    if _content(path) != before:
        kit.broken("the data is left as it was", f"{path.name} has changed, or a file was written next to it")


def _check_same_rows(kit: _Kit, rows: Rows, found: Sequence[Row]) -> None:
    if len(found) != len(rows):
        kit.broken("every row", f"expected {len(rows)} rows, got {len(found)}")
    labels, expected = [row.values.get("label") for row in found], [row["label"] for row in rows]
    if labels != expected and sorted(map(str, labels)) == sorted(map(str, expected)):
        kit.broken("every row", f"the rows are in a different order: {', '.join(map(str, labels[:5]))}, ...")
    for row, given in zip(found, rows, strict=True):
        _check_values(kit, row, given)


def _check_values(kit: _Kit, row: Row, given: Mapping[str, object]) -> None:
    if dict.fromkeys(row.values) != dict.fromkeys(given):
        kit.broken("columns", f"{row.place}: expected {', '.join(given)}, got {', '.join(row.values)}")
    for column, value in given.items():
        got = row.values[column]
        if got != value or type(got) is not type(value):
            kit.broken("values", f"{row.place}, column {column!r}: expected {value!r}, got {got!r}")


def _check_types(kit: _Kit) -> None:
    path = kit.written("types", TYPED)
    _, found = kit.table(kit.source(path), "values")
    if len(found) != len(TYPED):
        kit.broken("every row", f"expected {len(TYPED)} rows, got {len(found)}")
    for row, given in zip(found, TYPED, strict=True):
        _check_values(kit, row, given)


def _check_places(kit: _Kit, name: str, places: Sequence[str]) -> None:
    numbers = []
    for place in places:
        number = re.fullmatch(rf"{re.escape(name)}:(?:\D*\s)?(\d+)", place)
        if number is None:
            kit.broken("places", f"expected one such as {name}:12 or {name}:row 12, got {place!r}")
        numbers.append(int(number[1]))
    if numbers != sorted(set(numbers)):
        kit.broken("places", f"expected increasing numbers, got {', '.join(places[:5])}, ...")


def _check_wanted(kit: _Kit) -> None:
    promise = "only what is asked for"
    rows = _sample()
    path = kit.written("wanted", rows)
    for wanted in (("label",), ("label", "absent")):
        table, found = kit.table(kit.source(path, columns=wanted), promise)
        if [row.values.get("label") for row in found] != [row["label"] for row in rows]:
            kit.broken(promise, "a column has different values if it is read alone")
        if table.columns is not None and tuple(table.columns) != COLUMNS:
            kit.broken(
                "columns", f"expected the names of all columns, even if only some are read, got {table.columns!r}"
            )
        for row in found:
            if set(row.values) not in ({"label"}, set(COLUMNS)) or (kit.of.selects and set(row.values) != {"label"}):
                kit.broken(promise, f"{row.place}: expected only label, got {', '.join(row.values)}")
    if kit.of.selects:
        # A column that is not read cannot be too long.
        least = LimitsSpec(field=LONGEST - 1)
        kit.table(kit.source(path, columns=("label",), limits=least), promise)


def _check_limits(kit: _Kit) -> None:
    promise = "limits"
    rows = _sample()
    path = kit.written("limits", rows)
    at_most = LimitsSpec(rows=len(rows), field=LONGEST)
    _, found = kit.table(kit.source(path, limits=at_most), promise)
    if len(found) != len(rows):
        kit.broken(promise, f"at the limits: expected {len(rows)} rows, got {len(found)}")
    above = {
        "rows": LimitsSpec(rows=len(rows) - 1),
        "field": LimitsSpec(field=LONGEST - 1),
        "bytes": LimitsSpec(bytes=8),
    }
    for name, limits in above.items():
        error = kit.refusal(kit.source(path, limits=limits), promise, f"more than limits.{name}")
        if f"limits.{name}" not in error.fix:
            kit.broken(promise, f"expected a fix that names dataset.limits.{name}, got {error.fix!r}")


# What is refused.


def _check_missing(kit: _Kit) -> None:
    path = kit.folder / "missing" / kit.of.name
    kit.refusal(kit.source(path), "refusals", "a file that is not there")


def _check_broken(kit: _Kit) -> None:
    path = kit.written("broken", _sample())
    is_text = _is_text(path)
    kit.of.spoil(path)
    kit.refusal(kit.source(path), "refusals", "a broken file", line=is_text)


def _check_damage(kit: _Kit) -> None:
    """Cuts off or replaces bytes: the result must be rows or an error that says where, and never another error."""
    path = kit.written("damage", _sample())
    if not path.is_file():
        return
    sound = path.read_bytes()
    for damaged in _damaged(sound):
        path.write_bytes(damaged)
        outcome = kit.outcome(kit.source(path))
        if not isinstance(outcome, ConfigError) and not re.fullmatch(r"\d+ rows", outcome):
            what = f"a file of {len(damaged)} bytes, damaged"
            kit.broken("refusals", f"{what}: expected rows or a ConfigError, got {outcome:.300}")


def _damaged(sound: bytes) -> Iterator[bytes]:
    for part in (0, 1, 4, len(sound) // 3, len(sound) // 2, len(sound) - 1):
        yield sound[:part]
    for place in range(0, len(sound), max(1, len(sound) // 16)):
        for byte in (b"\x00", b"\xff", b"\n", b'"'):
            yield sound[:place] + byte + sound[place + 1 :]


def _check_encoding(kit: _Kit) -> None:
    path = kit.written("encoding", _sample(["plain", "café", "and more"]))
    if not _is_text(path):
        return
    text = path.read_text(encoding="utf-8")
    for encoding in ("latin-1", "utf-16"):
        path.write_bytes(text.encode(encoding))
        kit.refusal(kit.source(path), "refusals", f"a file in {encoding}", line=True)


def _check_options(kit: _Kit) -> None:
    path = kit.written("options", _sample())
    unknown = {**kit.of.options, UNKNOWN: "x"}
    error = kit.refusal(kit.source(path, options=unknown), "options", "an option that it does not know")
    said = f"{error} {error.fix}"
    if lacking := [name for name in (UNKNOWN, *kit.reader.options) if name not in said]:
        kit.broken(
            "options",
            f"expected an error that names the unknown option and all known ones, but {lacking[0]} is missing: {error}",
        )
    for name, option in kit.reader.options.items():
        wrong = {**kit.of.options, name: "x" if option.kind is not str else 1}
        error = kit.refusal(kit.source(path, options=wrong), "options", f"{wrong[name]!r} for {name}")
        if name not in f"{error}":
            kit.broken("options", f"expected an error that names the option {name}, got {error}")


def _is_text(path: Path) -> bool:
    """Whether what was written is a single UTF-8 text file."""
    if not path.is_file():
        return False
    content = path.read_bytes()
    try:
        return b"\0" not in content and bool(content.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _content(path: Path) -> dict[str, bytes]:
    """Returns every file beside a path and in it, with its contents."""
    files = sorted(found for found in path.parent.rglob("*") if found.is_file())
    return {str(found.relative_to(path.parent)): found.read_bytes() for found in files}
