"""Labelled pairs are read as they stand, and what is no pair is counted."""

import pytest

from tests.protocols.pairs.pair_studies import labelled, write_rows
from umpirical.datasets.pairs import CONTRADICTED, REPEATED, SAME, PairDatasetSpec, read_pairs
from umpirical.domain.errors import ConfigError, UsageError


def read(folder, rows, **keys):
    write_rows(folder / "pairs.jsonl", rows)
    return read_pairs(PairDatasetSpec.model_validate({"path": "pairs.jsonl", **keys}), folder)


def row(prompt="p", chosen="yes", rejected="no", **more):
    return {"prompt": prompt, "chosen": chosen, "rejected": rejected, **more}


def test_columns_are_found_by_the_names_that_reward_bench_gives_them(tmp_path):
    more = {"chosen_model": "a", "rejected_model": "b"}
    found = read(tmp_path, [{**each, **more} for each in labelled(6)])
    assert found.columns == {
        "task": "prompt", "chosen": "chosen", "rejected": "rejected", "id": "id", "strata": "subset",
    }  # fmt: skip
    assert [pair.strata for pair in found.pairs[:2]] == [{"subset": "easy"}, {"subset": "hard"}]
    assert found.pairs[3].name == "3 (pairs.jsonl:4)"
    assert (found.rows, found.taken, len(found.pairs)) == (6, 6, 6)


def test_columns_that_are_named_are_taken_and_the_others_found(tmp_path):
    rows = [{"q": f"q{n}", "good": "a", "rejected": "b", "kind": str(n % 2)} for n in range(3)]
    found = read(tmp_path, rows, columns={"task": "q", "chosen": "good", "strata": ["kind"]})
    assert found.pairs[1].chosen == "a"
    assert found.pairs[1].strata == {"kind": "1"}


def test_what_is_not_called_so_has_to_be_named(tmp_path):
    with pytest.raises(ConfigError, match=r"no column 'chosen'; columns: q, a, rejected") as error:
        read(tmp_path, [{"q": "?", "a": "x", "rejected": "y"}])
    assert "columns: {chosen: COLUMN}" in error.value.fix


@pytest.mark.parametrize("cell", [None, ["a", "b"], {"role": "user"}, 1.5, True, [{"role": "user", "content": "x"}]])
@pytest.mark.parametrize("column", ["prompt", "chosen", "rejected"])
def test_a_cell_that_is_no_text_is_an_error_and_never_excluded(tmp_path, column, cell):
    with pytest.raises(ConfigError, match=f"column '{column}': expected text"):
        read(tmp_path, [row(prompt="q"), row(**{column: cell})])


def test_a_row_without_an_answer_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="no column 'rejected'"):
        read(tmp_path, [row(), {"prompt": "q", "chosen": "yes"}])


def test_no_rows(tmp_path):
    with pytest.raises(ConfigError, match="no rows"):
        read(tmp_path, [])


def test_what_is_no_question_of_its_own_is_excluded_and_counted(tmp_path):
    rows = [
        row("1", "same", "same"), row("2", "same ", " same"),
        row("3"), row("3"), row("3", "yes", "other"),
        row("4", "yes", "no"), row("4", "no", "yes"), row("4", "yes", "no"),
    ]  # fmt: skip
    found = read(tmp_path, rows)
    assert found.excluded == {SAME: 2, REPEATED: 1, CONTRADICTED: 3}
    assert [(pair.task, pair.rejected) for pair in found.pairs] == [("3", "no"), ("3", "other")]


def test_pairs_of_one_prompt_are_one_cluster_and_a_column_may_say_otherwise(tmp_path):
    rows = [row("p", "a", "b", who="x"), row("p ", "c", "d", who="y"), row("q", "a", "b", who="x")]
    first, second, third = read(tmp_path, rows).pairs
    assert first.cluster == second.cluster != third.cluster
    assert [pair.cluster for pair in read(tmp_path, rows, columns={"cluster": "who"}).pairs] == ["x", "y", "x"]


def test_without_a_prompt_of_its_own_each_pair_is_a_cluster(tmp_path):
    rows = [{"chosen": "a", "rejected": f"b{n}"} for n in range(3)]
    assert len({pair.cluster for pair in read(tmp_path, rows, task_text="Which is better?").pairs}) == 3
    assert len({pair.cluster for pair in read(tmp_path, rows).pairs}) == 3


def test_an_id_that_begins_again_in_every_subset_is_only_shown_and_a_named_one_is_held_to_its_word(tmp_path):
    rows = [row(str(n), id=n % 2) for n in range(4)]
    assert [pair.name[0] for pair in read(tmp_path, rows).pairs] == ["0", "1", "0", "1"]
    with pytest.raises(ConfigError, match="is already the id of"):
        read(tmp_path, rows, columns={"id": "id"})


def test_the_longer_answer_is_the_one_with_more_characters(tmp_path):
    rows = [row("1", "long answer", "no"), row("2", "no", "long answer"), row("3", "ja", "no")]
    assert [pair.longer for pair in read(tmp_path, rows).pairs] == ["chosen", "rejected", "neither"]


def test_a_sample_is_drawn_by_subset_and_is_the_same_again(tmp_path):
    sample = {"size": 10, "by": ["subset"], "allocation": "even"}
    found = read(tmp_path, labelled(40), sample=sample)
    assert [pair.strata["subset"] for pair in found.pairs].count("easy") == 5
    assert found == read(tmp_path, labelled(40), sample=sample)
    assert (found.rows, found.taken) == (40, 10)
    with pytest.raises(UsageError, match=r"sample.by: 'label'"):
        read(tmp_path, labelled(40), sample={"size": 10, "by": ["label"]})


@pytest.mark.parametrize(
    "columns",
    [{"chosen": "a", "rejected": "a"}, {"task": "a", "chosen": "a"}, {"strata": ["longer"]}, {"answer": "a"}],
)
def test_columns_that_cannot_be(columns):
    with pytest.raises(ValueError, match=r"three different|longer|permitted"):
        PairDatasetSpec.model_validate({"path": "p.csv", "columns": columns})
