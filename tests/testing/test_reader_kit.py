"""The conformance kit for readers: those there are keep every promise, and each promise can be broken."""

import csv
import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import umpirical.testing
from tests.datasets.workbooks import write_table
from umpirical.datasets.readers import READERS, DatasetReader, ReaderOption, Row, Table, counted
from umpirical.datasets.text_lines import numbered_lines
from umpirical.domain.errors import ConfigError
from umpirical.testing import Format, check_reader


def write_csv(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_jsonl(path, rows):
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(list(rows)), path)


def append(text):
    def spoil(path):
        path.write_bytes(path.read_bytes() + text)

    return spoil


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


FILES = {
    "csv": (write_csv, append(b'one,two\n"and'), {}),
    "jsonl": (write_jsonl, append(b'{"text": \n'), {"typed": True}),
    "parquet": (write_parquet, cut, {"typed": True, "selects": True}),
    "xlsx": (write_table, cut, {}),
}


@pytest.mark.parametrize("name", FILES)
def test_the_readers_of_files_keep_every_promise(name, tmp_path):
    write, spoil, about = FILES[name]
    check_reader(READERS.get(name), Format(write, spoil, f"data.{name}", **about), tmp_path)


def test_the_reader_of_hugging_face_keeps_every_promise(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    library = pytest.importorskip("datasets", reason="needs the extra huggingface")
    library.disable_progress_bars()

    def write(path, rows):
        library.Dataset.from_list([dict(row) for row in rows]).save_to_disk(str(path))

    def spoil(path):
        for file in path.glob("*.arrow"):
            file.write_bytes(file.read_bytes()[:40])

    check_reader(READERS.get("huggingface"), Format(write, spoil, typed=True, selects=True), tmp_path / "kit")


def test_every_reader_there_is_is_checked():
    assert READERS.names()[:5] == [*FILES, "huggingface"]
    assert [READERS.get(name).format for name in READERS.names()] == READERS.names()


def test_the_kit_is_exported():
    assert "check_reader" in umpirical.testing.__all__


# A reader of one's own: JSON Lines whose first line names the columns, with an option of its own.


def rows_of(source):
    lines = numbered_lines(source)
    columns = parsed(*next(lines, (1, "null")), source)
    return columns, (
        Row(f"{source.name}:{number}", dict(zip(columns, parsed(number, line, source), strict=True)))
        for number, line in lines
    )


def parsed(number, line, source):
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ConfigError(str(error), where=f"{source.name}:{number}", fix="write a list to each line") from None
    if not isinstance(found, list) or len(found) not in (3, 5):
        raise ConfigError("not a list of columns", where=f"{source.name}:{number}", fix="write a list to each line")
    return found


def read(source):
    columns, rows = rows_of(source)
    return Table(f"{source.name}:1", tuple(columns), counted(rows, source))


SOUND = DatasetReader("lists", read, {"strictly": ReaderOption("Whether strictly.", bool)})


def write(path, rows):
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")


def broken_by(tmp_path, reader, **about):
    with pytest.raises(AssertionError) as caught:
        check_reader(reader, Format(write, append(b"[1,\n"), "data.lists", **{"typed": True, **about}), tmp_path)
    return str(caught.value)


def test_a_sound_reader_passes(tmp_path):
    check_reader(SOUND, Format(write, append(b"[1,\n"), "data.lists", typed=True), tmp_path)


def with_rows(change):
    """A reader that makes something else of the rows."""

    def changed(source):
        table = read(source)
        return replace(table, rows=iter(change(list(table.rows), source)))

    return replace(SOUND, read=changed)


def with_values(change):
    def changed(rows, _):
        return [replace(row, values={name: change(value) for name, value in row.values.items()}) for row in rows]

    return with_rows(changed)


def with_table(**changes):
    return replace(SOUND, read=lambda source: replace(read(source), **changes))


def without_limits(source):
    columns, rows = rows_of(source)
    return Table(f"{source.name}:1", tuple(columns), rows)


def cutting(source):
    """Leaves out what is too much, and says nothing."""
    columns, rows = rows_of(source)
    return Table(f"{source.name}:1", tuple(columns), iter(list(rows)[: source.limits.rows]))


def saying(change):
    """A reader that says something else when it refuses."""

    def changed(source):
        try:
            table = read(source)
            return replace(table, rows=iter(list(table.rows)))
        except ConfigError as error:
            raise change(error, source) from None

    return replace(SOUND, read=changed)


def lenient(source):
    """Leaves out what comes after a line that it cannot read."""
    table = read(source)

    def readable():
        try:
            yield from table.rows
        except ConfigError as error:
            if "limits" in error.fix:
                raise

    return replace(table, rows=readable())


def guessing(source):
    """Reads every file as UTF-8, and replaces what is not."""
    if not source.path.exists():
        return read(source)
    copy = source.path.with_name(f".{source.name}")
    copy.write_text(source.path.read_bytes().decode("utf-8", "replace").replace("\0", ""), encoding="utf-8")
    try:
        table = read(replace(source, path=copy))
        return replace(table, rows=iter(list(table.rows)))
    finally:
        copy.unlink()


def absent(source):
    if not source.path.exists():
        return Table(source.name, ("text", "label", "note"), iter(()))
    return read(source)


def only_first_column(source):
    table = read(source)
    if not source.columns:
        return table
    return replace(table, rows=(replace(row, values={"text": row.values["text"]}) for row in table.rows))


def needs_every_column(source):
    table = read(source)
    for name in source.columns:
        table.columns.index(name)
    return table


def leaves_a_note(source):
    source.path.with_suffix(".read").touch()
    return read(source)


class Forgetful:
    """Leaves out the first row when it reads a second time."""

    def __init__(self):
        self.times = 0

    def __call__(self, source):
        self.times += 1
        table = read(source)
        return replace(table, rows=iter(list(table.rows)[self.times > 1 :]))


class Anything(DatasetReader):
    """Takes any option."""

    def open(self, source):
        return self.read(source)


class Careless(DatasetReader):
    """Knows its options by name, and takes any value for them."""

    def open(self, source):
        known = {name: True for name in source.options if name in self.options}
        DatasetReader.open(self, replace(source, options={**source.options, **known}))
        return self.read(source)


class Terse(DatasetReader):
    """Does not say which options there are."""

    def open(self, source):
        try:
            return DatasetReader.open(self, source)
        except ConfigError as error:
            raise ConfigError("no such option: 'no-such-option'", where=error.where, fix=error.fix) from None


def by(function):
    return replace(SOUND, read=function)


def placed(place):
    return with_rows(lambda rows, source: [replace(row, place=place(source, n)) for n, row in enumerate(rows)])


@pytest.mark.parametrize(
    ("promise", "said", "reader"),
    [
        ("every row", "expected 17 rows, got 16", with_rows(lambda rows, _: rows[:-1])),
        ("every row", "the rows are in a different order: label 16", with_rows(lambda rows, _: rows[::-1])),
        ("every row", "reading it again gives different rows", by(Forgetful())),
        ("every row", "raised ZeroDivisionError", by(lambda _: 1 / 0)),
        ("values", "expected '  padded  ', got 'padded'", with_values(lambda value: str(value).strip())),
        ("values", "expected '', got None", with_values(lambda value: value or None)),
        ("values", "expected '007', got 7", with_values(lambda value: 7 if value == "007" else value)),
        ("values", "got 'two lines'", with_values(lambda value: " ".join(str(value).split("\n")))),
        ("values", "expected 1, got 1.0", with_values(lambda value: float(value) if type(value) is int else value)),
        ("places", "got 'somewhere'", placed(lambda *_: "somewhere")),
        ("places", "expected increasing numbers, got", placed(lambda source, _: f"{source.name}:1")),
        ("places", "expected one such as data.lists:12", placed(lambda source, n: f"{source.path}:{n}")),
        ("columns", "got ('label', 'text', 'note')", with_table(columns=("label", "text", "note"))),
        (
            "columns",
            "expected text, label, note, got text, label, note, line",
            with_rows(lambda rows, _: [replace(row, values={**row.values, "line": 1}) for row in rows]),
        ),
        ("only what is asked for", "has different values", by(only_first_column)),
        ("only what is asked for", "raised ValueError", by(needs_every_column)),
        ("limits", "more than limits.rows: expected a ConfigError, got 17 rows", by(without_limits)),
        ("limits", "more than limits.rows: expected a ConfigError, got 16 rows", by(cutting)),
        (
            "limits",
            "expected a fix that names dataset.limits.rows, got 'take fewer'",
            saying(lambda error, _: ConfigError(str(error), where=error.where, fix="take fewer")),
        ),
        ("refusals", "a file that is not there: expected a ConfigError, got 0 rows", by(absent)),
        ("refusals", "a broken file: expected a ConfigError, got 17 rows", by(lenient)),
        ("refusals", "a file in latin-1: expected a ConfigError, got 3 rows", by(guessing)),
        ("the data is left as it was", "a file was written next to it", by(leaves_a_note)),
        ("options", "an option that it does not know: expected a ConfigError", Anything("lists", read)),
        ("options", "strictly is missing", Terse("lists", read, SOUND.options)),
        ("options", "'x' for strictly: expected a ConfigError", Careless("lists", read, SOUND.options)),
        ("a card in order", "expected a format such as `csv`", replace(SOUND, format="My Lists")),
        ("a card in order", "'Strictly'", replace(SOUND, options={"Strictly": ReaderOption("Whether.")})),
        ("a card in order", "strictly", replace(SOUND, options={"strictly": ReaderOption("")})),
    ],
)
def test_a_reader_that_breaks_a_promise_is_refused_with_its_name(tmp_path, promise, said, reader):
    whole = broken_by(tmp_path, reader)
    assert whole.startswith(f"{reader.format}, promise {promise!r}: ")
    assert said in whole


def said_otherwise(error, **parts):
    whole = {"where": error.where, "fix": error.fix, **parts}
    return ConfigError("no", **whole) if "limits" not in error.fix else error


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("expected a ConfigError, got KeyError: 'x'", lambda *_: KeyError("x")),
        ("expected a place that starts with data.lists", lambda error, _: said_otherwise(error, where="somewhere")),
        ("expected the line, such as data.lists:3", lambda error, at: said_otherwise(error, where=at.name)),
        ("expected a fix", lambda error, _: said_otherwise(error, fix="")),
    ],
)
def test_a_refusal_has_a_kind_a_place_and_a_fix(tmp_path, said, change):
    assert said in broken_by(tmp_path, saying(change))


def test_a_file_that_is_damaged_must_not_end_in_another_error(tmp_path):
    def careless(source):
        if source.path.exists() and not source.path.read_bytes():
            raise EOFError("nothing there")
        return read(source)

    assert "a file of 0 bytes, damaged: expected rows or a ConfigError, got EOFError" in broken_by(
        tmp_path, replace(SOUND, read=careless)
    )


def test_what_can_leave_columns_unread_has_to(tmp_path):
    assert "promise 'only what is asked for': data.lists:2: expected only label, got text, label, note" in broken_by(
        tmp_path, SOUND, selects=True
    )

    def late(source):
        """Looks at every column, and then gives those that are asked for."""
        table = read(source)
        wanted = source.columns or table.columns
        rows = (replace(row, values={n: v for n, v in row.values.items() if n in wanted}) for row in table.rows)
        return replace(table, rows=rows)

    said = broken_by(tmp_path / "late", replace(SOUND, read=late), selects=True)
    assert "promise 'only what is asked for': raised ConfigError" in said


def test_what_is_no_reader_is_said_to_be_none(tmp_path):
    assert broken_by(tmp_path, read) == "expected a DatasetReader, got function"


def test_a_reader_that_needs_an_option_is_given_it(tmp_path):
    def needy(source):
        if not source.options.get("strictly"):
            raise ConfigError("is it strict?", where=source.name, fix="say so")
        return read(source)

    needing = replace(SOUND, read=needy)
    assert "is it strict?" in broken_by(tmp_path / "without", needing)
    strict = Format(write, append(b"[1,\n"), "data.lists", options={"strictly": True}, typed=True)
    check_reader(needing, strict, tmp_path)
