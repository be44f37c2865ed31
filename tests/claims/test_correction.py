"""Corrections, from a file to a record: each method, what it refuses, and who would cheat."""

import json

import numpy as np
import pytest

import umpirical
from tests.claims.tables import planted_rows, write_table
from umpirical.claims.methods import FEWEST_LABELS
from umpirical.claims.record import BoundsRecord, Correction
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.measures import Estimate, Undefined
from umpirical.reports.record import record_json
from umpirical.stats.corrections import Counted, powered_mean, rogan_gladen

TRUTH = 0.4 + 0.2 / 2


@pytest.fixture
def table(tmp_path):
    def make(rows, name="verdicts.csv"):
        return write_table(tmp_path / name, rows)

    return make


def only(correction):
    (system,) = correction.systems
    return system


def refused(correction):
    found = only(correction).corrected
    assert isinstance(found, Undefined)
    return found.reason


# By labels that are a random sample.


def test_a_leaning_judge_is_put_right(table):
    system = only(umpirical.correct(table(planted_rows(seed=2)), estimate="win-rate"))
    assert system.uncorrected.interval.low > TRUTH
    assert system.corrected.interval.low < TRUTH < system.corrected.interval.high
    assert (system.labels, system.method, system.rows, system.warnings) == (300, "labels", 1200, [])
    assert 0 < system.tuning <= 1
    assert system.with_missing is None


def test_the_figures_are_those_of_the_kernel(table):
    rows = list(planted_rows(rows=500, labelled=250))
    score = {"win": 1.0, "tie": 0.5, "loss": 0.0}
    said, labels = [score[r["verdict"]] for r in rows], [score[r["label"]] for r in rows if r["label"]]
    mean = powered_mean(labels, said[:250], said[250:])
    found = only(umpirical.correct(table(rows), estimate="win-rate")).corrected
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx((mean.value, mean.low, mean.high))
    assert (found.numerator, found.denominator, found.unit) == (sum(labels), 250, "item")


def test_few_labels_are_warned_about_and_very_few_refused(table):
    (warning,) = only(umpirical.correct(table(planted_rows(labelled=150)), estimate="win-rate")).warnings
    assert "150 labels" in warning
    found = umpirical.correct(table(planted_rows(labelled=FEWEST_LABELS - 1)), estimate="win-rate")
    assert "19 labels, but at least 20" in refused(found)


def test_rows_of_one_cluster_count_as_what_they_are(table):
    rows = [row | {"cluster": f"c{number // 10}"} for number, row in enumerate(planted_rows())]
    system = only(umpirical.correct(table(rows), estimate="win-rate"))
    assert system.corrected.clusters == 30
    same = [row | {"cluster": "c"} for row in planted_rows()]
    assert "from only one cluster" in refused(umpirical.correct(table(same), estimate="win-rate"))
    few = [row | {"cluster": f"c{number % 9}"} for number, row in enumerate(planted_rows())]
    assert "labels from 9 clusters, but at least 10" in refused(umpirical.correct(table(few), estimate="win-rate"))


def test_a_mean_score_is_on_its_scale(table):
    draw = np.random.default_rng(1)
    truth = draw.integers(1, 6, size=800)
    said = np.clip(truth + draw.integers(0, 2, size=800), 1, 5)
    rows = [{"score": s, "label": t if k < 250 else ""} for k, (s, t) in enumerate(zip(said, truth, strict=True))]
    correction = umpirical.correct(table(rows), estimate="mean-score", scale="1..5")
    found = only(correction).corrected
    mean = powered_mean((truth[:250] - 1) / 4, (said[:250] - 1) / 4, (said[250:] - 1) / 4)
    assert found.value == pytest.approx(1 + 4 * mean.value)
    assert (found.interval.low, found.interval.high) == pytest.approx((1 + 4 * mean.low, 1 + 4 * mean.high))
    assert found.numerator == truth[:250].sum()
    assert any("could not be checked" in sentence for sentence in correction.assumptions)


def test_a_judge_that_always_says_the_same_adds_nothing_to_the_labels(table):
    rows = [row | {"verdict": "win"} for row in planted_rows()]
    system = only(umpirical.correct(table(rows), estimate="win-rate"))
    assert system.tuning == 0
    assert any("verdicts are ignored" in warning for warning in system.warnings)
    labels = [{"win": 1, "tie": 0.5, "loss": 0}[row["label"]] for row in rows[:300]]
    assert system.corrected.value == pytest.approx(np.mean(labels))


def test_labels_that_are_all_alike_are_refused(table):
    rows = [row | {"label": "win" if row["label"] else ""} for row in planted_rows()]
    assert "all 300 labels are the same" in refused(umpirical.correct(table(rows), estimate="win-rate"))


# Labels that are no random sample.


def test_labels_on_one_verdict_alone_are_refused(table):
    rows = [row | ({"label": ""} if row["verdict"] != "win" else {}) for row in planted_rows(labelled=600)]
    assert "gave every labeled row the same verdict" in refused(umpirical.correct(table(rows), estimate="win-rate"))


def test_labels_chosen_by_the_verdict_are_refused(table):
    rows = [
        row | ({"label": ""} if row["verdict"] == "loss" and number % 4 else {})
        for number, row in enumerate(planted_rows(labelled=800))
    ]
    assert "not a random sample" in refused(umpirical.correct(table(rows), estimate="win-rate"))


# By labels of each kind.


def test_so_many_of_each_label_are_rogan_and_gladen(table):
    draw = np.random.default_rng(3)
    rows = [{"verdict": "pass" if draw.random() < 0.9 else "fail", "label": "pass"} for _ in range(100)]
    rows += [{"verdict": "pass" if draw.random() < 0.2 else "fail", "label": "fail"} for _ in range(100)]
    rows += [{"verdict": "pass" if draw.random() < 0.41 else "fail", "label": ""} for _ in range(1000)]
    system = only(umpirical.correct(table(rows), estimate="pass-rate", labels="by-label"))
    right = [sum(r["verdict"] == r["label"] == kind for r in rows) for kind in ("pass", "fail")]
    hits = sum(r["verdict"] == "pass" for r in rows[200:])
    by_hand = rogan_gladen(Counted(hits, 1000), Counted(right[0], 100), Counted(right[1], 100))
    assert system.corrected.value == pytest.approx(by_hand.value)
    assert system.corrected.interval.high == pytest.approx(by_hand.high)
    assert system.separation == pytest.approx(by_hand.separation)
    assert system.corrected.denominator == 1000


def test_ties_are_inverted_as_three_kinds(table):
    draw = np.random.default_rng(4)
    words = ["win", "tie", "loss"]
    matrix = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]
    rows = [{"verdict": draw.choice(words, p=matrix[k]), "label": words[k]} for k in range(3) for _ in range(150)]
    truths = draw.choice(3, size=2000, p=[0.5, 0.2, 0.3])
    rows += [{"verdict": draw.choice(words, p=matrix[k]), "label": ""} for k in truths]
    system = only(umpirical.correct(table(rows), estimate="win-rate", labels="by-label"))
    assert system.method == "confusion"
    assert system.corrected.interval.low < 0.6 < system.corrected.interval.high
    assert [rate.denominator for rate in system.error_rates] == [150, 150, 150]


@pytest.mark.parametrize("said", ["pass", "fail"])
def test_a_judge_that_always_says_the_same_is_refused_with_the_remedy(table, said):
    rows = [{"verdict": said, "label": "pass" if k < 50 else "fail"} for k in range(100)]
    rows += [{"verdict": said, "label": ""} for _ in range(100)]
    system = only(umpirical.correct(table(rows), estimate="pass-rate", labels="by-label"))
    assert system.separation == 0
    assert "Youden's index 0.00" in system.corrected.reason
    assert "Label a random sample" in system.corrected.reason


def test_a_label_of_which_there_are_few_is_named(table):
    rows = [{"verdict": "win", "label": "win"}] * 50 + [{"verdict": "loss", "label": "loss"}] * 50
    rows += [{"verdict": "tie", "label": ""}] * 100
    reason = refused(umpirical.correct(table(rows), estimate="win-rate", labels="by-label"))
    assert "0 labels of tie" in reason


# By error rates from elsewhere.


def test_counts_of_errors_are_carried_over(table):
    rows = [{"verdict": "pass" if k < 300 else "fail"} for k in range(1000)]
    correction = umpirical.correct(table(rows), estimate="pass-rate", sensitivity="90/100", specificity="160/200")
    found = only(correction).corrected
    assert found.value == pytest.approx(1 / 7)
    assert any("also apply" in sentence for sentence in correction.assumptions)


def test_a_poor_judge_is_refused_from_elsewhere_too(table):
    rows = [{"verdict": "pass" if k < 300 else "fail"} for k in range(1000)]
    correction = umpirical.correct(table(rows), estimate="pass-rate", sensitivity="60/100", specificity="120/200")
    assert "Youden's index 0.20" in refused(correction)


def test_one_calibration_is_not_shared_between_systems(table):
    rows = [{"verdict": "pass", "system": system} for system in "ab" for _ in range(50)]
    with pytest.raises(UsageError, match="2 systems but only one pair of error rates"):
        umpirical.correct(table(rows), estimate="pass-rate", sensitivity="90/100", specificity="80/100")


@pytest.mark.parametrize("given", ["0.9", "101/100", "0/0", "a/b", "", "1e3/1e4", "9" * 30 + "/1"])
def test_a_share_without_its_counts_is_no_sensitivity(table, given):
    with pytest.raises(UsageError, match="invalid sensitivity"):
        umpirical.correct(
            table([{"verdict": "pass"}] * 3), estimate="pass-rate", sensitivity=given, specificity="80/100"
        )


# Systems.


def test_each_system_is_corrected_by_its_own_labels(table):
    rows = [*planted_rows(system="a", right=0.95), *planted_rows(system="b", right=0.6, seed=2)]
    correction = umpirical.correct(table(rows), estimate="win-rate")
    alone = umpirical.correct(table(planted_rows(right=0.6, seed=2), "b.csv"), estimate="win-rate")
    assert [system.system for system in correction.systems] == ["a", "b"]
    assert correction.systems[1].corrected == only(alone).corrected
    assert correction.systems_differ < 0.001
    assert any("share no calibration" in sentence for sentence in correction.assumptions)


def test_systems_on_which_the_judge_errs_alike_are_not_said_to_differ(table):
    found = []
    for seed in range(20):
        rows = [
            row
            for k, system in enumerate("abc")
            for row in planted_rows(rows=220, labelled=200, seed=100 * seed + k, system=system)
        ]
        found.append(umpirical.correct(table(rows), estimate="win-rate").systems_differ < 0.05)
    assert np.mean(found) <= 0.2


# Rows without a verdict.


def test_missing_verdicts_are_counted_and_bounded_and_never_imputed(table):
    rows = [row | ({"verdict": ["", "error", "abstain"][k % 3]} if k % 20 == 0 else {})
            for k, row in enumerate(planted_rows())]  # fmt: skip
    system = only(umpirical.correct(table(rows), estimate="win-rate"))
    assert system.without == {"abstained": 20, "failed": 20, "unparsed": 20}
    assert system.labels == 285
    low, high = system.corrected.interval.low, system.corrected.interval.high
    assert system.with_missing == pytest.approx((0.95 * low, 0.95 * high + 0.05))


def test_too_many_missing_verdicts_are_refused(table):
    rows = [row | ({"verdict": ""} if k % 8 == 0 else {}) for k, row in enumerate(planted_rows())]
    assert "150 of 1,200 rows have no verdict, more than 10%" in refused(
        umpirical.correct(table(rows), estimate="win-rate")
    )


def test_a_table_without_any_verdict_has_no_figure(table):
    rows = [row | {"verdict": ""} for row in planted_rows()]
    system = only(umpirical.correct(table(rows), estimate="win-rate"))
    assert isinstance(system.uncorrected, Undefined)
    assert isinstance(system.corrected, Undefined)


# What is wrong with a file.


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"label": "great"}, "the label 'great' is not on the scale"),
        ({"label": "nan"}, "not on the scale"),
        ({"label": "inf"}, "not on the scale"),
        ({"item": "q7"}, "appears twice, first at verdicts.csv:9"),
        ({"item": ""}, "the item is empty"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_place(table, change, words):
    rows = list(planted_rows(rows=50, labelled=50))
    rows[30] |= change
    with pytest.raises(ConfigError, match=words) as raised:
        umpirical.correct(table(rows), estimate="win-rate")
    assert "verdicts.csv:32" in str(raised.value)


@pytest.mark.parametrize("label", ["6", "0", "NaN", "1e400", "five"])
def test_a_label_outside_the_scale_of_a_score_is_an_error(table, label):
    rows = [{"score": "3", "label": label}] * 3
    with pytest.raises(ConfigError, match="not on the scale"):
        umpirical.correct(table(rows), estimate="mean-score", scale="1..5")


def test_a_score_outside_its_scale_is_no_verdict(table):
    rows = [{"score": s, "label": said} for s, said in [("9", "3"), ("nan", "2"), ("3", "")] * 30]
    system = only(umpirical.correct(table(rows), estimate="mean-score", scale="1..5"))
    assert system.without == {"unparsed": 60}


def test_nan_in_json_is_missing(tmp_path):
    file = tmp_path / "v.jsonl"
    rows = [{"verdict": "win", "label": "win" if k % 2 else "loss"} for k in range(40)]
    text = "".join(json.dumps(row) + "\n" for row in rows) + '{"verdict": "win", "label": NaN}\n'
    file.write_text(text)
    assert only(umpirical.correct(file, estimate="win-rate")).rows == 41


def test_grades_are_not_taken_for_wins(table):
    rows = [{"verdict": str(k % 3), "label": ""} for k in range(30)]
    with pytest.raises(UsageError, match="unclear whether 0 or 2 means a win"):
        umpirical.correct(table(rows), estimate="win-rate")


def test_failed_is_not_guessed_to_be_a_verdict_or_none(table):
    with pytest.raises(ConfigError, match="could be a verdict or a failed call"):
        umpirical.correct(table([{"verdict": "failed"}]), estimate="pass-rate")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"estimate": "win-rate"}, "has no labels, and you gave"),
        ({"estimate": "mean-score"}, "needs a scale"),
        ({"estimate": "mean-score", "scale": "bad,good"}, "must be numbers"),
        ({"estimate": "win-rate", "scale": "1..5"}, "does not apply"),
        ({"estimate": "median"}, "unknown estimate 'median'"),
        ({"estimate": "win-rate", "columns": {"verdict": "wiener"}}, "no column 'wiener'"),
    ],
)
def test_what_cannot_be_asked_is_said(table, asked, words):
    with pytest.raises(UsageError, match=words):
        umpirical.correct(table([{"verdict": "1"}] * 3), **asked)


def test_labels_and_error_rates_are_not_mixed(table):
    with pytest.raises(UsageError, match="are not used"):
        umpirical.correct(table(planted_rows()), estimate="win-rate", sensitivity="9/10", specificity="9/10")


@pytest.mark.parametrize("name", ["none.csv", "table.txt", "empty.csv", "head.csv"])
def test_a_file_that_is_no_table_is_said_to_be_none(tmp_path, name):
    if name != "none.csv":
        (tmp_path / name).write_text("verdict\n" if name == "head.csv" else "")
    with pytest.raises(UsageError):
        umpirical.correct(tmp_path / name, estimate="win-rate")


def test_a_file_of_more_rows_than_are_read_is_refused(table, monkeypatch):
    from umpirical.datasets.spec import LimitsSpec
    from umpirical.datasets.verdicts import past_verdicts

    monkeypatch.setattr(past_verdicts, "LIMITS", LimitsSpec(rows=100))
    with pytest.raises(ConfigError, match="more than 100 rows"):
        umpirical.correct(table(planted_rows()), estimate="win-rate")


def test_thousands_of_systems_are_a_wrong_column(table):
    with pytest.raises(UsageError, match="more than 1,000 systems"):
        umpirical.correct(table({"verdict": "win", "system": str(k)} for k in range(1001)), estimate="win-rate")


def test_a_record_is_read_back_as_it_was(table):
    correction = umpirical.correct(table(planted_rows()), estimate="win-rate")
    assert Correction.model_validate_json(record_json(correction)) == correction
    assert isinstance(only(correction).corrected, Estimate)
    assert not isinstance(only(correction).corrected, BoundsRecord)
