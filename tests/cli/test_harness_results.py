"""Result files of the harness, measured test by test beside the pass rate that the harness would report."""

import json

import pytest

from tests.cli.harnesses import write_csv
from tests.datasets.workbooks import write_table
from umpirical.api import measure_verdicts

FAILED = "Error during LLM call: 429 Too Many Requests"


def result(test, number, given, label, *, reason="because", checked="because"):
    return {
        "test_name": test,
        "original_idx": f"seed_{number}",
        "perturbed_idx": f"{test}_{number}",
        "validation_score": label,
        "validation_reasoning": checked,
        "autograder_score": given,
        "autograder_reasoning": reason,
    }


def flips():
    """Twelve rows: eight right, two wrong, and two failed calls that are saved as False, one where False is right."""
    rows = [result("label_flip", number, "True", "1") for number in range(5)]
    rows += [result("label_flip", number, "False", "0") for number in range(5, 8)]
    rows += [result("label_flip", number, "True", "0") for number in (8, 9)]
    rows += [
        result("label_flip", 10, "False", "0", reason=FAILED),
        result("label_flip", 11, "False", "1", reason=FAILED),
    ]
    return rows


def paraphrases(grade="1"):
    return [result("semantic_paraphrase", number, grade, str(number % 2)) for number in range(8)]


def one(measured, name, group=""):
    [found] = [each for each in measured.measures if each.name == name and getattr(each, "group", "") == group]
    return found.result.numerator, found.result.denominator


def test_each_test_is_measured_beside_the_pass_rate_of_the_harness(umpirical, tmp_path):
    write_csv(tmp_path / "label_flip_results_openai_gpt-4o.csv", flips())
    write_table(tmp_path / "semantic_paraphrase_results_openai_gpt-4o.xlsx", paraphrases())
    [measured] = measure_verdicts(tmp_path)
    assert (measured.judge, measured.format) == ("openai_gpt-4o", "harness")
    assert (measured.counts["rows"], measured.counts["failed"], measured.counts["verdict"]) == (20, 2, 18)
    assert [(rate.stratum, rate.passed, rate.total) for rate in measured.passes] == [
        ("label_flip", 9, 12),
        ("semantic_paraphrase", 4, 8),
    ]
    # A failed call is no verdict, right or wrong.
    assert one(measured, "accuracy", "test_name=label_flip") == (8, 10)
    assert one(measured, "accuracy", "test_name=semantic_paraphrase") == (4, 8)
    assert one(measured, "accuracy") == (12, 18)
    assert one(measured, "failure-rate") == (2, 20)
    code, out, _ = umpirical("measure", tmp_path)
    assert code == 0
    assert "label_flip: the harness's pass rate 75% (9/12); accuracy on the same items 80% [" in out


def test_the_agreement_that_is_held_is_that_of_all_tests_together(tmp_path):
    write_csv(tmp_path / "label_flip_results_a.csv", flips())
    write_csv(tmp_path / "semantic_paraphrase_results_a.csv", paraphrases())
    [measured] = measure_verdicts(tmp_path)
    whole = measured.measures.get("weighted-kappa", stratum="original")
    assert f"{whole.result.value:.2f}" in measured.agreement.why


def test_one_file_is_recognized_by_its_columns_and_needs_no_options(umpirical, tmp_path):
    file = write_csv(tmp_path / "label_flip_results_openai_gpt-4o.csv", flips())
    code, out, _ = umpirical("measure", file)
    assert code == 0
    assert "openai_gpt-4o: a judge that grades, harness" in out
    assert "accuracy on the same items 80%" in out


def test_the_page_has_both_numbers_in_a_row_and_begins_no_cell_of_its_own(umpirical, tmp_path):
    rows = [row | {"test_name": "a|b<script>"} for row in flips()]
    file, page = write_csv(tmp_path / "x_results_y.csv", rows), tmp_path / "page.md"
    code, _, err = umpirical("measure", file, "--out", page)
    assert (code, f"wrote {page}" in err) == (0, True), err
    [row] = [line for line in page.read_text().splitlines() if "75% (9/12)" in line]
    assert row.startswith("| a\\|b\\<script\\> | 75% (9/12) | 80% [")
    assert "counts a failed call as the score False" in page.read_text()


def test_as_json_each_measure_names_its_test(umpirical, tmp_path):
    write_csv(tmp_path / "label_flip_results_a.csv", flips())
    write_csv(tmp_path / "semantic_paraphrase_results_a.csv", paraphrases())
    _, out, _ = umpirical("measure", tmp_path, "--json")
    [measured] = json.loads(out)
    groups = {measure.get("group", "") for measure in measured["measures"]}
    assert groups == {"", "test_name=label_flip", "test_name=semantic_paraphrase"}
    assert measured["pass_rates"][0] == {"judge": "a", "stratum": "label_flip", "passed": 9, "total": 12}


def test_several_judges_have_a_majority_vote_in_which_a_tie_is_no_verdict(tmp_path):
    votes = {"a": "111100", "b": "110010", "c": "101000"}
    for judge, said in votes.items():
        rows = [result("label_flip", number, vote, "1") for number, vote in enumerate(said)]
        write_csv(tmp_path / f"label_flip_results_{judge}.csv", rows)
    *_, majority = measure_verdicts(tmp_path)
    assert majority.judge == "majority vote"
    assert one(majority, "accuracy") == (3, 6)
    assert not majority.passes
    (tmp_path / "label_flip_results_c.csv").unlink()
    *_, majority = measure_verdicts(tmp_path)
    assert (majority.counts["verdict"], majority.counts["unparsed"]) == (3, 3)
    assert one(majority, "accuracy") == (2, 3)


def test_a_label_that_stands_for_a_failed_validator_is_none(tmp_path):
    rows = [*paraphrases(), result("semantic_paraphrase", 9, "1", "False", checked=FAILED)]
    [measured] = measure_verdicts(write_csv(tmp_path / "semantic_paraphrase_results_a.csv", rows))
    assert (measured.counts["with_gold"], measured.counts["rows"]) == (8, 9)
    assert one(measured, "accuracy") == (4, 8)


def test_the_pass_rate_is_that_of_the_harness_with_its_faults(tmp_path):
    # Scores of two types: whatever is no number counts as 0, so that ten wrong classes and one error are all right.
    rows = [result("multiclass", number, "Response_2", "Response_1") for number in range(10)]
    rows.append(result("multiclass", 10, "False", "Response_1", reason=FAILED))
    [measured] = measure_verdicts(write_csv(tmp_path / "multiclass_results_a.csv", rows))
    assert (measured.passes[0].passed, measured.passes[0].total) == (11, 11)
    assert one(measured, "accuracy") == (0, 10)


def test_a_column_of_any_table_can_be_a_stratum(tmp_path):
    rows = [{"id": str(n), "grade": str(n % 2), "gold": "1", "set": "ab"[n % 2]} for n in range(8)]
    columns = {"verdict": "grade", "item": "id", "label": "gold", "stratum": "set"}
    [measured] = measure_verdicts(write_csv(tmp_path / "own.csv", rows), columns=columns)
    assert one(measured, "accuracy", "set=a") == (0, 4)
    assert one(measured, "accuracy", "set=b") == (4, 4)


@pytest.mark.parametrize("files", [{}, {"notes.csv": [{"a": "1"}]}])
def test_a_folder_without_results_is_refused(umpirical, tmp_path, files):
    for name, rows in files.items():
        write_csv(tmp_path / name, rows)
    code, _, err = umpirical("measure", tmp_path)
    assert (code, "has no result files" in err) == (2, True), err


def test_a_result_file_without_scores_is_refused_with_its_place(umpirical, tmp_path):
    rows = [{name: value for name, value in row.items() if name != "validation_score"} for row in flips()]
    write_csv(tmp_path / "label_flip_results_a.csv", rows)
    code, _, err = umpirical("measure", tmp_path)
    assert (code, "label_flip_results_a.csv:2: the column validation_score is missing" in err) == (2, True), err
