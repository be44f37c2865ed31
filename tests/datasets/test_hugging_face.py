"""Hugging Face datasets, offline: folders that the library saved, and folders of files."""

from types import SimpleNamespace

import pytest

from tests.datasets.described import COLUMNS, read, refusal
from umpirical.datasets.guess import guess_dataset

LABELS = ["yes", "no", "yes"]
TEXTS = ["a", "b\nc", ""]


def test_where_the_library_is_absent_the_way_to_install_it_is_said(tmp_path, monkeypatch):
    import umpirical.datasets.hugging_face as module

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", absent)
    error = refusal(tmp_path, format="huggingface")
    assert "require the `huggingface` extra" in str(error)
    assert error.fix == "pip install 'umpirical[huggingface]'"


def test_a_folder_that_is_called_like_the_library_is_not_it(tmp_path, monkeypatch):
    import umpirical.datasets.hugging_face as module

    monkeypatch.setattr(module, "import_module", lambda _: module)
    assert "require the `huggingface` extra" in str(refusal(tmp_path, format="huggingface"))


def test_a_version_that_could_run_a_datasets_own_script_is_refused(tmp_path, monkeypatch):
    import umpirical.datasets.hugging_face as module

    old = SimpleNamespace(__version__="3.6.0", load_from_disk=None)
    monkeypatch.setattr(module, "import_module", lambda _: old)
    assert "datasets 3.6.0 is installed, but version 4 or later is required" in str(
        refusal(tmp_path, format="huggingface")
    )


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    found = pytest.importorskip("datasets", reason="needs the extra huggingface")
    found.disable_progress_bars()
    return found


@pytest.fixture
def saved(library):
    return library.Dataset.from_dict({"text": TEXTS, "label": LABELS, "level": [1, 2, None]})


def test_a_folder_that_the_library_saved_is_read(saved, tmp_path):
    saved.save_to_disk(str(tmp_path / "answers"))
    items, summary = read(tmp_path / "answers", columns={**COLUMNS, "strata": ["level"]})
    assert [(item.response, item.labels) for item in items] == [("a", ("yes",)), ("b\nc", ("no",)), ("", ("yes",))]
    assert [item.name for item in items] == [f"answers:row {number}" for number in (1, 2, 3)]
    assert [item.strata for item in items] == [{"level": "1"}, {"level": "2"}, {}]
    assert (summary.format, summary.rows, summary.empty_responses) == ("huggingface", 3, 1)


def test_of_several_splits_one_has_to_be_named(saved, library, tmp_path):
    library.DatasetDict({"train": saved, "test": saved.select([1])}).save_to_disk(str(tmp_path / "answers"))
    error = refusal(tmp_path / "answers")
    assert str(error) == "answers: a split is required"
    assert error.fix == "add under dataset:  split: train or test"
    error = refusal(tmp_path / "answers", format="huggingface", split="tset")
    assert "unknown split 'tset'" in str(error)
    items, _ = read(tmp_path / "answers", format="huggingface", split="test")
    assert [item.response for item in items] == ["b\nc"]


def test_a_folder_of_files_is_read_by_its_split(saved, tmp_path):
    (tmp_path / "answers").mkdir()
    saved.to_parquet(str(tmp_path / "answers" / "test.parquet"))
    items, _ = read(tmp_path / "answers")
    assert [item.response for item in items] == TEXTS
    items, _ = read(tmp_path / "answers", format="huggingface", split="test[:2]")
    assert [item.response for item in items] == TEXTS[:2]
    error = refusal(tmp_path / "answers", format="huggingface", split="dev")
    assert 'answers: cannot load the dataset: Unknown split "dev"' in str(error)


def test_class_labels_are_read_by_name_and_unknown_ones_are_missing(library, tmp_path):
    features = library.Features({"text": library.Value("string"), "label": library.ClassLabel(names=["no", "yes"])})
    data = library.Dataset.from_dict({"text": TEXTS, "label": [1, 0, -1]}, features=features)
    data.save_to_disk(str(tmp_path / "answers"))
    items, summary = read(tmp_path / "answers")
    assert [item.labels for item in items] == [("yes",), ("no",), ()]
    assert summary.unlabelled == 1


def test_a_column_that_is_not_there_and_a_label_off_the_scale_are_named(saved, tmp_path):
    saved.save_to_disk(str(tmp_path / "answers"))
    error = refusal(tmp_path / "answers", columns={"response": "texts"})
    assert "no column 'texts'; columns: text, label, level" in str(error)
    scale = {"kind": "binary", "labels": ["ja", "no"]}
    assert "answers:row 1: column 'label': the label 'yes'" in str(refusal(tmp_path / "answers", scale=scale))


def test_what_is_above_a_limit_is_refused(saved, tmp_path):
    saved.save_to_disk(str(tmp_path / "answers"))
    assert "3 rows; the limit is 2" in str(refusal(tmp_path / "answers", limits={"rows": 2}))
    assert "bytes; the limit is 10" in str(refusal(tmp_path / "answers", limits={"bytes": 10}))
    assert "row 2: column 'text': 3 characters" in str(
        refusal(tmp_path / "answers", columns={"response": "text"}, limits={"field": 2})
    )


def test_what_is_nowhere_to_be_found_is_said_so(library, tmp_path):
    assert library is not None
    error = refusal(tmp_path / "nowhere", format="huggingface")
    assert "nowhere: cannot load the dataset" in str(error)
    assert "check the folder or the name of the dataset on the hub" in error.fix


def test_a_script_that_comes_with_a_dataset_is_not_run(library, tmp_path):
    assert library is not None
    folder, ran = tmp_path / "answers", tmp_path / "ran"
    folder.mkdir()
    (folder / "answers.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    assert "cannot load" in str(refusal(folder))
    assert not ran.exists()


def test_its_columns_are_guessed_like_those_of_a_file(saved, tmp_path):
    saved.save_to_disk(str(tmp_path / "answers"))
    guess = guess_dataset(tmp_path / "answers", told={})
    assert guess.columns["response"] == "text"
    assert guess.scale.scale.labels == ("no", "yes")
