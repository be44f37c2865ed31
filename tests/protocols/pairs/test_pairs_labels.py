"""Judges of pairs of real essays that nobody should use, and one that is sound: what the labels say decides."""

import csv
import json
import zlib

import pytest

import umpirical as front_door
from tests.datasets.described import PERSUADE

USED, REFUSED, OPEN = 0, 3, 4
PAIRS = 100


def essays():
    if not PERSUADE.is_dir():
        pytest.skip("needs the essays of ../shared/data/persuade")
    with (PERSUADE / "essays.csv").open(encoding="utf-8", newline="") as file:
        return {row["full_text"]: int(row["holistic_essay_score"]) for row in csv.DictReader(file)}


def pairs(scores):
    """Pairs of essays whose scores differ; of the better ones, most are longer."""
    both = [(one, other) for one in scores for other in scores if scores[one] > scores[other]]
    both.sort(key=lambda pair: zlib.crc32("".join(pair).encode()))
    return [
        {"prompt": f"Which essay is better? {number}", "chosen": one, "rejected": other}
        for number, (one, other) in enumerate(both[:PAIRS])
    ]


def sides(condition):
    return "1" if condition else "2"


SCORES = essays() if PERSUADE.is_dir() else {}

JUDGES = {
    "position 1": lambda *_: "1",
    "inverted": lambda first, second: sides(SCORES[first] < SCORES[second]),
    "coin": lambda first, second: sides(zlib.crc32(f"{first}|{second}".encode()) % 2),
    "always a tie": lambda *_: "tie",
    "longer is better": lambda first, second: sides(len(first) > len(second)),
    "sound": lambda first, second: sides(SCORES[first] > SCORES[second]),
}


def measured(folder, name, **settings):
    judge = JUDGES[name]
    return front_door.pairs(
        lambda task, first, second: judge(first, second),  # noqa: ARG005  # as a judge is called
        pairs(essays()),
        folder=folder,
        name="judge",
        edits=[],
        progress=False,
        **settings,
    )


@pytest.mark.parametrize("name", [name for name in JUDGES if name != "sound"])
def test_a_judge_that_does_not_judge_is_refused(name, tmp_path, umpirical):
    report = measured(tmp_path, name)
    code, out, _ = umpirical("gate", report.folder, "--json")
    assert (code, report.decision) == (REFUSED, "do-not-use")
    effects = {one["measure"]: one["effect"] for one in json.loads(out)["checks"]}
    assert effects["pair-agreement-beyond-length"] == "fail"
    assert (effects["pair-agreement"] == "fail") == (name != "longer is better")


def test_a_policy_that_asks_for_little_accuracy_does_not_let_a_coin_through(tmp_path):
    report = measured(tmp_path, "coin", policy={"accuracy": 0.1, "same_position": 0.9})
    assert report.decision == "do-not-use"


def test_a_sound_judge_is_accepted(tmp_path, umpirical):
    report = measured(tmp_path, "sound")
    assert umpirical("gate", report.folder)[0] == USED
    # Nothing was edited, which is said.
    assert report.decision == "use-with-restrictions"


def test_from_one_position_to_inverted_is_worse(tmp_path, umpirical):
    before, now = (measured(tmp_path / name, name) for name in ("position 1", "inverted"))
    code, out, _ = umpirical("gate", now.folder, "--baseline", before.folder, "--json")
    worse = {row["measure"] for row in json.loads(out)["baseline"]["rows"] if row["standing"] == "worse"}
    assert code == REFUSED
    assert worse == {"pair-agreement", "pair-agreement-beyond-length"}
