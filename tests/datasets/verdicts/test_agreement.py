"""Verdicts of the past that have labels: agreement beyond chance, and what a file cannot show."""

import csv
import json
import random

import pytest

import umpirical

GRADES = [1 + number % 5 for number in range(120)]


def graded(path, judge):
    """A file of 120 grades with labels."""
    rng = random.Random(1)  # noqa: S311  # no secret
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["item", "verdict", "label"])
        table.writerows([f"i{number}", judge(gold, rng), gold] for number, gold in enumerate(GRADES))
    return umpirical.measure_verdicts(path, scale="1..5")[0]


def compared(path, judge, *, orders=("uv", "vu"), better=lambda number: "1" if number % 2 else "2"):
    """A file of 60 pairs in both orders, of which one answer is better."""
    rng = random.Random(1)  # noqa: S311  # no secret
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["item", "order", "verdict", "label"])
        for number in range(60):
            for order in orders:
                right = better(number) if order == "uv" else "12".replace(better(number), "")
                table.writerow([f"i{number}", order, judge(right, rng), better(number)])
    return umpirical.measure_verdicts(path, kind="compare")[0]


GRADERS = {
    "constant": (lambda *_: 3, "FAIL"),
    "inverted": (lambda gold, _: 6 - gold, "FAIL"),
    "coin": (lambda _, rng: rng.randint(1, 5), "FAIL"),
    "sound": (lambda gold, rng: min(5, max(1, gold + rng.choice([0, 0, 0, 1, -1]))), "PASS"),
}

CHOOSERS = {
    "constant": (lambda *_: "1", "FAIL"),
    "inverted": (lambda right, _: "12".replace(right, ""), "FAIL"),
    "coin": (lambda _, rng: rng.choice("12"), "FAIL"),
    "always a tie": (lambda *_: "tie", "FAIL"),
    "sound": (lambda right, rng: right if rng.random() < 0.95 else "12".replace(right, ""), "PASS"),
}


@pytest.mark.parametrize("name", GRADERS)
def test_grades(name, tmp_path):
    judge, verdict = GRADERS[name]
    found = graded(tmp_path / "grades.csv", judge)
    assert (found.agreement.measure, found.agreement.verdict) == ("weighted-kappa", verdict)


@pytest.mark.parametrize("name", CHOOSERS)
def test_choices(name, tmp_path):
    judge, verdict = CHOOSERS[name]
    found = compared(tmp_path / "choices.csv", judge)
    assert (found.agreement.measure, found.agreement.verdict) == ("krippendorff-alpha", verdict)


def test_a_better_answer_that_always_comes_first_shows_nothing(tmp_path):
    """A judge that always names the first position is right about every pair, and agreement is not known."""
    found = compared(tmp_path / "choices.csv", lambda *_: "1", orders=("uv",), better=lambda _: "1")
    [accuracy] = [one for one in found.measures if one.name == "accuracy"]
    assert accuracy.result.value == 1
    assert found.agreement.verdict == "N/A"


def test_which_answer_is_called_the_first_does_not_matter(tmp_path):
    """Names of contents carry no chance: a sound judge agrees even where the better one has always the same name."""
    found = compared(tmp_path / "choices.csv", CHOOSERS["sound"][0], better=lambda _: "1")
    assert found.agreement.verdict == "PASS"


def test_without_labels_correctness_was_not_measured(tmp_path, umpirical):
    (tmp_path / "grades.csv").write_text("item,verdict\n" + "".join(f"i{n},{n % 5}\n" for n in range(40)))
    code, out, _ = umpirical("measure", tmp_path / "grades.csv")
    assert code == 0
    assert "Agreement with the labels: N/A, correctness was not measured because the data has no labels" in out
    _, out, _ = umpirical("measure", tmp_path / "grades.csv", "--json")
    assert json.loads(out)[0]["agreement"]["verdict"] == "N/A"
    assert any("Length bias" in line for line in json.loads(out)[0]["cannot_tell"])
