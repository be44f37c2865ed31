"""A stranger's run: a small file that unfolds to gigabytes is refused before it fills the memory."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.attack.commands import umpirical
from tests.attack.runs import copy_study
from umpirical.store.manifests import Damaged, file_sha256, write_manifest
from umpirical.store.parquet import read_rows
from umpirical.store.schemas import response_schema

MOST = 1_000
"""MB of memory that a command may take on a hostile run."""


def bomb(path, *, rows, size):
    """Writes a file of responses that all have the same text: once in the file, once per row in memory."""
    same = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * size]))
    columns = {}
    for field in response_schema():
        if field.name == "trial_id":
            columns[field.name] = pa.array([f"{number:032x}" for number in range(rows)])
        elif field.name == "text":
            columns[field.name] = same
        else:
            columns[field.name] = pa.array(["" if field.type == pa.string() else 0] * rows, field.type)
    columns["failure"] = pa.nulls(rows, pa.string())
    columns["cost"] = pa.nulls(rows, pa.string())
    pq.write_table(pa.table(columns), path, compression="zstd", store_schema=False, dictionary_pagesize_limit=2 * size)


def test_a_file_that_unfolds_to_gigabytes_is_named(tmp_path):
    path = tmp_path / "00000-0.parquet"
    bomb(path, rows=6000, size=1_000_000)
    assert path.stat().st_size < 2_000_000
    lengths = (len(row["text"]) for row in read_rows(path))
    with pytest.raises(Damaged, match="unpacks to more than"):
        sum(lengths)


def test_a_file_that_is_large_and_honest_is_read(tmp_path):
    path = tmp_path / "large.parquet"
    rows = [f"{number} " * 20_000 for number in range(600)]
    pq.write_table(pa.table({"text": rows}), path, compression="zstd")
    assert [row["text"] for row in read_rows(path)] == rows


def test_commands_on_a_hostile_run_stay_within_their_memory(sound, tmp_path):
    run = copy_study(sound, tmp_path / "study")
    path = run / "responses" / "00000-0.parquet"
    bomb(path, rows=6000, size=1_000_000)
    receipt = {
        "shard": 0,
        "generation": 0,
        "answered": 6000,
        "failed": 0,
        "sha256": "",
        "file_sha256": file_sha256(path),
    }
    identity = run.name.rpartition("-")[2]
    write_manifest(path.with_suffix(".json"), {"run": identity, **receipt})
    for what in ("list", "report", "verify", "rescore"):
        done = umpirical(what, str(tmp_path / "study" if what == "list" else run), folder=tmp_path)
        assert done.peak < MOST
        assert done.code == (0 if what == "list" else 1), done.said
        assert what == "list" or "00000-0.parquet unpacks to more than" in done.said
