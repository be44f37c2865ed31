"""Judges on labelled essays that nobody should use, and one that is sound: what the labels say decides."""

import csv
import json
import zlib
from pathlib import Path

import pytest

import umpirical as front_door
from tests.datasets.described import PERSUADE

USED, REFUSED, OPEN = 0, 3, 4
TESTS = ["inline-spacing", "stability"]
SETTINGS = {"response": "full_text", "label": "holistic_essay_score", "progress": False, "seed": 1}


def essays():
    if not PERSUADE.is_dir():
        pytest.skip("needs the essays of ../shared/data/persuade")
    with (PERSUADE / "essays.csv").open(encoding="utf-8", newline="") as file:
        return [{name: row[name] for name in ("full_text", "holistic_essay_score")} for row in csv.DictReader(file)]


class Judge:
    """A judge that grades by a function of the words alone, so that spaces never change its verdict."""

    def __init__(self, name, grade):
        self.__name__, self._grade = name, grade

    def __call__(self, _, response):
        return str(min(6, max(1, round(self._grade(" ".join(response.split()))))))


def coin(text):
    return 1 + zlib.crc32(text.encode()) % 6


def judges(rows):
    gold = {" ".join(row["full_text"].split()): int(row["holistic_essay_score"]) for row in rows}
    ranked = sorted(gold, key=len)
    longest = dict(zip(ranked, sorted(gold.values()), strict=True))
    noise = {text: (zlib.crc32(text.encode()) % 10 < 2) - (zlib.crc32(text.encode()) % 10 > 7) for text in gold}
    return {
        "constant": lambda _: 3,
        "inverted": lambda text: 7 - gold[text],
        "coin": coin,
        "longer is better": longest.__getitem__,
        "words by the hundred": lambda text: len(text.split()) / 100,
        "sound": lambda text: gold[text] + noise[text],
    }


def measured(folder: Path, name):
    rows = essays()
    judge = Judge(name, judges(rows)[name])
    return front_door.stress(
        judge, rows, tests=TESTS, repeats=2, folder=folder, name=name.replace(" ", "-"), **SETTINGS
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of each judge on all essays, made when it is first asked for."""
    made = {}

    def run(name):
        if name not in made:
            made[name] = measured(tmp_path_factory.mktemp("essays"), name)
        return made[name]

    return run


@pytest.mark.parametrize("name", ["constant", "inverted", "coin", "longer is better", "words by the hundred"])
def test_a_judge_that_does_not_judge_is_never_accepted(name, runs, umpirical):
    folder = runs(name).folder
    code, out, _ = umpirical("gate", folder, "--json")
    assert code in {REFUSED, OPEN}
    assert json.loads(out)["verdict"] in {"do-not-use", "not-enough-data"}
    assert umpirical("report", folder)[0] == code


@pytest.mark.parametrize("name", ["constant", "inverted", "coin"])
def test_what_is_no_better_than_chance_is_refused(name, runs, umpirical):
    code, out, _ = umpirical("gate", runs(name).folder, "--json")
    assert code == REFUSED
    [agreement] = [one for one in json.loads(out)["checks"] if one["measure"] == "weighted-kappa"]
    assert (agreement["stratum"], agreement["effect"]) == ("original", "fail")


def test_a_sound_judge_is_accepted(runs, umpirical):
    code, out, _ = umpirical("gate", runs("sound").folder, "--json")
    assert (code, json.loads(out)["verdict"]) == (USED, "use")
    assert umpirical("report", runs("sound").folder)[0] == USED


def test_from_constant_to_inverted_is_worse(runs, umpirical):
    code, out, _ = umpirical("gate", runs("inverted").folder, "--baseline", runs("constant").folder, "--json")
    worse = {row["measure"] for row in json.loads(out)["baseline"]["rows"] if row["standing"] == "worse"}
    assert (code, worse) == (REFUSED, {"weighted-kappa"})


UNLABELLED = """\
study: unlabelled
dataset:
  path: essays.jsonl
  columns: {response: full_text}
  scale: {kind: ordinal, labels: ["1", "2", "3", "4", "5", "6"]}
stress: {tests: [inline-spacing, stability], repeats: 2}
judges:
  - {name: constant, callable: "judge.py:grade"}
"""


def test_without_labels_it_is_never_a_plain_use(tmp_path, umpirical):
    lines = [json.dumps({"full_text": row["full_text"]}) for row in essays()]
    (tmp_path / "essays.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "judge.py").write_text("def grade(task, response):\n    return '3'\n")
    (tmp_path / "umpirical.yaml").write_text(UNLABELLED)
    code, out, _ = umpirical("run", tmp_path, "--yes", "--trust", "--json")
    assert (code, json.loads(out)[0]["decision"]) == (USED, "use-with-restrictions")
    code, out, _ = umpirical("gate", tmp_path, "--json")
    assert (code, json.loads(out)["verdict"]) == (USED, "use-with-restrictions")
    assert "Correctness was not measured because the data has no labels." in json.loads(out)["line"]


def test_a_comparison_tells_constant_from_inverted(runs, umpirical, tmp_path):
    code, out, _ = umpirical("compare", runs("constant").folder, runs("inverted").folder, "--out", tmp_path, "--json")
    assert code == 0
    [agreement] = [
        row
        for study in json.loads(out)["studies"]
        for row in study["differences"]
        if (row["measure"], row["stratum"]) == ("weighted-kappa", "original")
    ]
    assert (agreement["family"], agreement["difference"]["value"] < -0.5) == ("primary", True)
    assert agreement["adjusted_p"] < 0.001
