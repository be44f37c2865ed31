"""Datasets described in a line, and what reading them says."""

from pathlib import Path
from typing import Any

import pytest

from umpirical.datasets.items import DatasetSummary, read_items
from umpirical.datasets.readers import READERS, Row, Source
from umpirical.datasets.spec import DatasetSpec, LimitsSpec
from umpirical.domain.errors import UmpiricalError
from umpirical.domain.stimuli import Item

PERSUADE = Path(__file__).parents[2].parent / "shared" / "data" / "persuade"
"""Real essays, which lie beside the repository and not in it."""

COLUMNS = {"response": "text", "label": "label"}


def described(path: str = "data.csv", **parts: Any) -> DatasetSpec:
    """A dataset with the columns text and label and the labels yes and no, but for what is said otherwise."""
    scale = {"kind": "binary", "labels": ["no", "yes"]}
    return DatasetSpec.model_validate({"path": path, "columns": COLUMNS, "scale": scale, **parts})


def read(path: Path, **parts: Any) -> tuple[list[Item], DatasetSummary]:
    return read_items(described(path.name, **parts), path.parent)


def refusal(path: Path, **parts: Any) -> UmpiricalError:
    """What is said of a dataset that cannot be read."""
    with pytest.raises(UmpiricalError) as refused:
        read(path, **parts)
    return refused.value


def rows(path: Path, kind: str, *, columns: tuple[str, ...] = (), **limits: int) -> list[Row]:
    """What a reader gives, before anything is made of it."""
    source = Source(path=path, name=path.name, columns=columns, limits=LimitsSpec(**limits), written=str(path))
    return list(READERS.get(kind).open(source).rows)
