"""From a dataset to items."""

from pathlib import Path

from umpirical.datasets.columns import missing_column
from umpirical.datasets.intake import Intake
from umpirical.datasets.readers import READERS, Source, Table, format_of
from umpirical.datasets.sample import sample_items
from umpirical.datasets.spec import DatasetSpec
from umpirical.datasets.summary import DatasetSummary
from umpirical.domain.stimuli import Item

__all__ = ["read_items"]


def read_items(spec: DatasetSpec, folder: Path, *, seed: int = 1) -> tuple[list[Item], DatasetSummary]:
    """The items of a dataset, in its order, sampled as its spec says, and what was found in all of it.

    Items are named by the id column, or by file and line. Every row is read, whether it is taken or not; one that
    cannot be read is an error, never left out. `seed` is the study's, for a sample that names none.
    """
    columns = spec.columns.named()
    table = _open_table(spec, folder, columns=columns)
    if table.columns is not None and (absent := [name for name in columns if name not in table.columns]):
        raise missing_column(absent[0], table.columns, where=table.where)
    intake = Intake(spec, Path(spec.path).name)
    for row in table.rows:
        intake.take(row)
    intake.check()
    taken = sample_items(intake.items, spec.sample, seed=seed)
    return taken, intake.summary(format_of(spec.path, folder, named=spec.format), taken)


def _open_table(spec: DatasetSpec, folder: Path, *, columns: tuple[str, ...]) -> Table:
    """The rows of a dataset, read as they are asked for: of `columns` and no others."""
    source = Source(
        path=folder / spec.path,
        name=Path(spec.path).name,
        columns=columns,
        limits=spec.limits,
        split=spec.split,
        config_name=spec.config_name,
        written=spec.path,
    )
    return READERS.get(format_of(spec.path, folder, named=spec.format))(source)
