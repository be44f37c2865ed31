"""Calls and test cases as data frames: they agree with the record, and an analysis of them recovers known flaws."""

import pytest

import umpirical
from umpirical.api.frames import CALLS, CASES, DIFFERENCES, MEASURES, WORDS
from umpirical.domain.errors import UsageError

pd = pytest.importorskip("pandas")
sm = pytest.importorskip("statsmodels.api")

JUDGES = ("careful", "slot-locked", "short-sighted", "mumbling")


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames")
    return {
        name: umpirical.datasheet(f"simulated:{name}", size="screen", folder=folder / name, progress=False)
        for name in JUDGES
    }


def test_every_planned_call_is_a_row_and_every_column_is_explained(reports):
    for name, report in reports.items():
        calls, cases = report.judgments(), report.stimuli()
        assert list(calls.columns) == list(CALLS)
        assert list(cases.columns) == list(CASES)
        assert len(calls) == report.record.run.trials
        assert calls["trial_id"].is_unique
        assert cases["stimulus_id"].is_unique
        assert set(calls["stimulus_id"]) <= set(cases["stimulus_id"])
        counted = calls["outcome"].value_counts().to_dict()
        assert counted.get("unparsed", 0) == sum(row.unparsed for row in report.record.audit)
        assert counted.get("failed", 0) == sum(row.failed for row in report.record.audit)
        # What is no verdict is missing, and is neither right nor wrong.
        missing = calls[~calls["outcome"].isin(["verdict", "abstained"])]
        assert missing["correct"].isna().all()
        assert missing["answer"].isna().all()
        assert missing["trouble"].notna().all()
        assert (len(missing) > 10) == (name == "mumbling")


def test_accuracy_counted_from_the_rows_is_that_of_the_record(reports):
    for report in reports.values():
        calls = report.judgments()
        graded = calls[(calls["family"] == "graded") & (calls["outcome"] == "verdict")]
        for step, rows in graded.groupby("step"):
            # A pair counts only if both of its orders were answered.
            whole = rows.groupby("stimulus_id")["correct"].filter(lambda each: len(each) == 2)
            measure = report.measure("target-sensitivity", stratum=f"{step:g}").result
            assert int(whole.sum()) == pytest.approx(2 * measure.numerator)
            assert len(whole) == 2 * measure.denominator


def test_a_clustered_regression_recovers_each_flaw(reports):
    effects = {}
    for name, report in reports.items():
        calls = report.judgments()
        rows = calls[calls["family"].isin(["graded", "equal"]) & (calls["outcome"] == "verdict")]
        first = (rows["answer"] == "1").astype(float)
        better = rows["better_position"].map({1: 1.0, 2: -1.0}).fillna(0.0).astype(float)
        model = sm.OLS(first, pd.DataFrame({"first": 1.0, "better": better}))
        groups = pd.factorize(rows["cluster"])[0]
        effects[name] = model.fit(cov_type="cluster", cov_kwds={"groups": groups})
    # How often position 1 is named where neither is better, and how far the better answer moves that.
    assert effects["slot-locked"].params["first"] > 0.7
    assert effects["careful"].params["first"] < 0.55
    assert effects["slot-locked"].params["better"] < 0.3
    assert effects["careful"].params["better"] > 0.4
    low, _ = effects["careful"].conf_int().loc["better"]
    _, high = effects["short-sighted"].conf_int().loc["better"]
    assert low > high


def test_differences_of_a_comparison_are_those_of_its_record(reports):
    compared = umpirical.compare(reports["careful"], reports["slot-locked"])
    rows = compared.to_pandas()
    assert len(rows) == len(compared.record.differences) > 20
    assert set(rows["first"]) == {"careful"}
    worst = rows.loc[rows["adjusted_p"].astype("float").idxmin()]
    [one] = [
        each
        for each in compared.record.differences
        if (each.measure, each.stratum, each.variant) == (worst["measure"], worst["stratum"], worst["variant"])
    ]
    assert worst["difference"] == one.difference.value
    assert worst["adjusted_p"] == one.adjusted_p < 0.001
    assert rows["difference"].isna().sum() == rows["undefined"].notna().sum()


def test_calls_of_a_grading_judge_on_your_own_data(tmp_path):
    rows = [{"question": "Why?", "answer": f"Because of {n} things.", "grade": str(1 + n % 3)} for n in range(12)]
    pd.DataFrame(rows).to_csv(tmp_path / "answers.csv", index=False)
    (tmp_path / "umpirical.yaml").write_text(
        "study: own\n"
        "dataset:\n"
        "  path: answers.csv\n"
        "  columns: {response: answer, task: question, label: grade}\n"
        '  scale: {kind: ordinal, labels: ["1", "2", "3"]}\n'
        "stress: {tests: [inline-spacing, stability]}\n"
        "judges: [{name: sound, model: {adapter: simulated, name: sound-examiner}}]\n"
    )
    [report] = umpirical.run(tmp_path, progress=False)
    calls = report.judgments()
    originals = calls[calls["family"] == "original"]
    assert set(originals["gold"]) == {"1", "2", "3"}
    assert originals["correct"].mean() == pytest.approx(report.measure("accuracy", stratum="original").result.value)
    assert calls["text_2"].isna().all()
    assert calls["better_position"].isna().all()
    assert set(report.stimuli()["family"]) == {"original", "inline-spacing"}


def test_a_word_has_one_meaning_and_every_word_is_used(reports):
    tables = [CALLS, CASES, MEASURES, DIFFERENCES]
    assert {name for columns in tables for name in columns} == WORDS.keys()
    assert all(columns[name] is WORDS[name] for columns in tables for name in columns)
    assert len({about for _, about in WORDS.values()}) == len(WORDS)
    compared = umpirical.compare(reports["careful"], reports["slot-locked"])
    assert list(compared.to_pandas().columns) == list(DIFFERENCES)
    assert list(reports["careful"].to_pandas().columns) == list(MEASURES)
    assert set(compared.to_pandas()["role"]) == {"primary", "exploratory"}


def test_a_report_without_its_run_says_so(reports, tmp_path):
    report = umpirical.load(reports["careful"].save(tmp_path).json)
    with pytest.raises(UsageError, match="no calls"):
        report.judgments()
