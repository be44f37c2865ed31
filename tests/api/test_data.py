"""Data frames where files are: the same rows give the same figures, and a missing cell stays missing."""

import datetime as dt
import json

import pytest

import umpirical
from tests.cases import each
from umpirical.api.data import data_file
from umpirical.domain.errors import UsageError

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


class Interchanged:
    """A data frame of a library that has the older protocol only."""

    def __init__(self, frame):
        self._frame = frame

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self._frame.__dataframe__(nan_as_null, allow_copy)


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "interchange": lambda columns: Interchanged(pa.table(columns)),
}

PAIRS = {
    "question": [f"Name {n} rivers." for n in range(12)],
    "better": [f"The rivers are {', '.join('abcdefghijklm'[: n + 2])}." for n in range(12)],
    "worse": ["A river." for _ in range(12)],
    "author": [f"author {n // 3}" for n in range(12)],
}


def test_nan_is_a_missing_cell_in_rows_too(tmp_path):
    path = data_file([{"label": float("nan"), "text": "a"}, {"label": 1.0, "text": "b"}], tmp_path)
    assert path.read_text() == '{"label": null, "text": "a"}\n{"label": 1.0, "text": "b"}\n'


def first_answer_is_longer(_task, first, second):
    return "1" if len(first) > len(second) else "2"


def pairs_of(data, folder, **options):
    roles = {"chosen": "better", "rejected": "worse", "task": "question", **options}
    return umpirical.pairs(first_answer_is_longer, data, folder=folder, edits=[], progress=False, **roles)


def test_pairs_in_a_frame_are_those_of_a_file(tmp_path):
    pd.DataFrame(PAIRS).to_csv(tmp_path / "pairs.csv", index=False)
    from_file = pairs_of(tmp_path / "pairs.csv", tmp_path / "file")
    from_frame = pairs_of(pd.DataFrame(PAIRS), tmp_path / "frame")
    assert repr(from_frame.measures) == repr(from_file.measures)
    assert from_frame.measure("both-orders-accuracy").result.numerator == 12
    # The same rows are the same data, whoever holds them: nothing is asked again.
    assert pairs_of(pl.DataFrame(PAIRS), tmp_path / "frame").folder == from_frame.folder


def test_pairs_are_clustered_as_you_say(tmp_path):
    clustered = pairs_of(pd.DataFrame(PAIRS), tmp_path, cluster="author")
    assert clustered.measure("both-orders-accuracy").result.clusters == 4
    assert set(clustered.judgments()["cluster"]) == set(PAIRS["author"])


@each("name", FRAMES)
def test_a_missing_cell_stays_missing(name, tmp_path):
    columns = {"response": ["a", "b", "c"], "label": [1.0, None, 3.0], "note": ["x", None, "z"]}
    rows = [json.loads(line) for line in data_file(FRAMES[name](columns), tmp_path).read_text().splitlines()]
    assert [row["label"] for row in rows] == [1.0, None, 3.0]
    assert [row["note"] for row in rows] == ["x", None, "z"]
    assert data_file(FRAMES[name](PAIRS), tmp_path).name == data_file(pd.DataFrame(PAIRS), tmp_path).name


def test_nan_is_missing_and_an_index_is_no_column(tmp_path):
    frame = pl.DataFrame({"label": [1.0, float("nan")]})
    assert data_file(frame, tmp_path).read_text() == '{"label": 1.0}\n{"label": null}\n'
    filtered = pd.DataFrame({"label": [1, 2, 3]}).iloc[[0, 2]]
    assert data_file(filtered, tmp_path).read_text() == '{"label": 1}\n{"label": 3}\n'
    dated = pa.table({"on": [dt.date(2026, 1, 2)]})
    assert data_file(dated, tmp_path).read_text() == '{"on": "2026-01-02"}\n'


def test_labels_that_are_missing_are_counted_as_such(tmp_path):
    frame = pd.DataFrame(
        {
            "question": ["Why?"] * 12,
            "answer": [f"Because of {n} things." for n in range(12)],
            "grade": pd.array([1, 2, None] * 4, dtype="Int64"),
        }
    )
    report = umpirical.stress(
        "simulated:sound-examiner", frame, tests=["stability"], folder=tmp_path, progress=False, scale=["1", "2"]
    )
    assert report.measure("accuracy", stratum="original").result.denominator == 8
    assert report.judgments()["gold"].isna().sum() == len(report.judgments()) // 3


def test_past_verdicts_and_corrections_in_a_frame(tmp_path):
    columns = {"verdict": ["pass", "fail"] * 20, "label": ["pass", "fail", "fail", "fail"] * 10}
    columns["item"] = list(range(40))
    pd.DataFrame(columns).to_csv(tmp_path / "verdicts.csv", index=False)
    [from_file] = umpirical.measure_verdicts(tmp_path / "verdicts.csv", kind="grade", scale="fail,pass")
    [from_frame] = umpirical.measure_verdicts(pl.DataFrame(columns), kind="grade", scale="fail,pass")
    assert repr(from_frame.measures) == repr(from_file.measures)
    assert from_frame.counts == from_file.counts
    corrected = [
        umpirical.correct(data, estimate="pass-rate") for data in (tmp_path / "verdicts.csv", pa.table(columns))
    ]
    assert corrected[0].systems == corrected[1].systems


@each(
    "frame, said",
    [
        (pd.DataFrame([["a", "b"]], columns=["same", "same"]), "cannot read the data frame"),
        (pd.DataFrame({"mixed": ["a", 1, 2.5]}), "cannot read the data frame"),
        (pa.table({"picture": [b"\x00"]}), "a cell is a bytes"),
        ([{"odd": object()}], "a cell is a object"),
    ],
)
def test_what_cannot_be_data_says_what_to_do(frame, said, tmp_path):
    with pytest.raises(UsageError, match=said) as raised:
        data_file(frame, tmp_path)
    assert raised.value.fix
