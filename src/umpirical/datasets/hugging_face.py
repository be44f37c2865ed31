"""Datasets of Hugging Face's `datasets`: folders it saved, folders of files, and names on the hub."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from umpirical.datasets.confined_folder import check_links, check_saved, declared_patterns, readable_files
from umpirical.datasets.readers import DatasetReader, ReaderOption, Row, Source, Table, counted
from umpirical.domain.errors import ConfigError, UsageError

INSTALL = "pip install 'umpirical[huggingface]'"

BATCH = 256
"""Rows decoded at a time."""


def _read(source: Source) -> Table:
    """One split of a dataset. A column of class labels gives their names: the numbers are only how they are stored.

    Nothing that comes with a dataset is run: one that needs a script of its own is refused.
    """
    library = _library()
    loaded = _one_split(_loaded(library, source), source)
    columns = tuple(loaded.column_names)
    if len(loaded) > source.limits.rows:
        raise ConfigError(
            f"{len(loaded):,} rows; the limit is {source.limits.rows:,}",
            where=source.name,
            fix="select a part with split, such as test[:10%], or raise dataset.limits.rows",
        )
    # Only what is wanted: pictures in another column would be decoded one by one.
    wanted = loaded.select_columns([name for name in source.columns or columns if name in columns])
    _check_size(wanted.data.nbytes, source)
    return Table(source.name, columns, counted(_rows(wanted, source), source))


def _library() -> Any:  # noqa: ANN401  # an optional package
    try:
        library: Any = import_module("datasets")
    except ImportError:
        library = None
    # A folder of that name on the path would be imported as well, and is not the library.
    if not hasattr(library, "load_from_disk"):
        raise UsageError("Hugging Face datasets require the `huggingface` extra", fix=INSTALL)
    # Before version 4 it can be made to run a script that comes with a dataset.
    if int(library.__version__.partition(".")[0]) < 4:
        raise UsageError(
            f"datasets {library.__version__} is installed, but version 4 or later is required", fix=INSTALL
        )
    return library


def _loaded(library: Any, source: Source) -> Any:  # noqa: ANN401  # types of an optional package
    try:
        if not source.path.is_dir():
            return _from_hub(library, source)
        _check_size(check_links(source.path), source)
        if any((source.path / name).is_file() for name in ("dataset_info.json", "dataset_dict.json")):
            check_saved(source.path)
            return library.load_from_disk(str(source.path))
        return _from_files(library, source)
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001  # whatever the library raises, the dataset cannot be read
        text = (str(error).splitlines() or [type(error).__name__])[0]
        fix = "check the folder or the name of the dataset on the hub, and its split"
        raise ConfigError(f"cannot load the dataset: {text}", where=source.written, fix=fix) from None


def _from_files(library: Any, source: Source) -> Any:  # noqa: ANN401
    """The files of a folder. The library gets their names, and nothing that lies beside them."""
    files: Any = import_module("datasets.data_files")
    folder = source.path.resolve()
    declared = declared_patterns(folder, _text(source, "config_name"))
    patterns = files.get_data_patterns(str(folder)) if declared is None else files.sanitize_patterns(declared)
    form, chosen = readable_files(folder, files.DataFilesDict.from_patterns(patterns, base_path=str(folder)))
    separated = {"sep": "\t"} if form == "tsv" else {}
    name = "csv" if form == "tsv" else form
    return library.load_dataset(name, data_files=chosen, split=_text(source, "split"), **separated)


def _from_hub(library: Any, source: Source) -> Any:  # noqa: ANN401
    name, config = source.written, source.options.get("config_name")
    builder = library.load_dataset_builder(name, config)
    # A dataset's own README may name files of this machine, or of another server.
    for path in (path for files in (builder.config.data_files or {}).values() for path in files):
        if not str(path).startswith(f"hf://datasets/{name}@"):
            raise ConfigError(
                f"it refers to {path}, which is outside the dataset", where=name, fix="use another dataset"
            )
    _check_size(builder.info.download_size or 0, source)
    return library.load_dataset(name, config, split=source.options.get("split"))


def _text(source: Source, option: str) -> str | None:
    value = source.options.get(option)
    return None if value is None else str(value)


def _one_split(loaded: Any, source: Source) -> Any:  # noqa: ANN401
    if not isinstance(loaded, dict):
        return loaded
    split = source.options.get("split")
    if split is None and len(loaded) == 1:
        return next(iter(loaded.values()))
    if split not in loaded:
        got = "a split is required" if split is None else f"unknown split {split!r}"
        fix = f"add under dataset:  split: {' or '.join(map(str, loaded))}"
        raise ConfigError(got, where=source.written, fix=fix)
    return loaded[split]


def _check_size(size: int, source: Source) -> None:
    if size > source.limits.bytes:
        raise ConfigError(
            f"{size:,} bytes; the limit is {source.limits.bytes:,}",
            where=source.written,
            fix="make a file with only the rows and columns you need, or raise dataset.limits.bytes",
        )


def _rows(loaded: Any, source: Source) -> Iterator[Row]:  # noqa: ANN401
    # Recognised by what it can do, because its class would have to be imported.
    names = {column: kind.names for column, kind in loaded.features.items() if hasattr(kind, "int2str")}
    number = 0
    # As Arrow stores it: to decode a picture, the library opens the path or the URL that stands there.
    for table in loaded.with_format("arrow").iter(batch_size=BATCH):
        batch = table.to_pydict()
        for values in zip(*batch.values(), strict=True):
            number += 1
            row = dict(zip(batch, values, strict=True))
            row.update({column: _class_name(row[column], known) for column, known in names.items()})
            yield Row(f"{source.name}:row {number}", row)


def _class_name(value: int | None, names: list[str]) -> str | None:
    """The name of a class; None for -1, which is how the library stores an unknown one."""
    return None if value is None or value < 0 else names[value]


READER = DatasetReader(
    "huggingface",
    _read,
    {
        "split": ReaderOption("The split to read, such as test, or a part of one, such as test[:10%]."),
        "config_name": ReaderOption("The configuration of the dataset."),
    },
)
