"""Real essays: in how many each perturbation finds something to change, and how much it changes."""

import csv
import re
from pathlib import Path

import pytest

from umpirical.domain.stimuli import GivenLabel, Stimulus
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS
from umpirical.stimuli.perturbations.proof import proved_stimuli

ESSAYS = Path(__file__).parents[4] / "shared" / "data" / "persuade" / "essays.csv"

pytestmark = pytest.mark.skipif(not ESSAYS.exists(), reason="needs the PERSUADE essays, which are not ours to ship")

SHARES = {
    "vertical-spacing": 0.95,
    "inline-spacing": 1.0,
    "indentation": 1.0,
    "list-or-prose": 0.85,
    "markdown-or-plain": 1.0,
    "look-alike-punctuation": 1.0,
    "heading-case": 0.02,
    "typos": 1.0,
}
"""The least share of essays with something to change. Few of them have headings."""


@pytest.fixture(scope="module")
def originals():
    with ESSAYS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Stimulus(
            task_id=row["essay_id"],
            task=row["assignment"],
            candidates=(row["full_text"],),
            expectation=GivenLabel(row["holistic_essay_score"]),
            maker="original/1",
            family="original",
            gold=row["holistic_essay_score"],
            gold_from="label",
        )
        for row in rows
    ]


@pytest.mark.parametrize("name", SHARES)
def test_it_finds_something_to_change_and_proves_it(originals, name):
    made = list(proved_stimuli(PERTURBATIONS.get(name), originals, seed=1))
    changed = [stimulus for _, stimulus in made if stimulus is not None]
    assert len(made) == len(originals) >= 90
    assert len(changed) / len(made) >= SHARES[name]
    assert len({stimulus.id for stimulus in changed}) == len(changed)
    assert all("proof" in stimulus.evidence for stimulus in changed)


@pytest.mark.parametrize("name", ["vertical-spacing", "inline-spacing", "indentation"])
def test_spacing_keeps_every_word(originals, name):
    for original, made in proved_stimuli(PERTURBATIONS.get(name), originals, seed=2):
        if made is not None:
            assert made.candidates[0].split() == original.candidates[0].split()


def test_typos_come_at_two_in_a_hundred_words(originals):
    typos = words = 0
    for _, made in proved_stimuli(PERTURBATIONS.get("typos"), originals, seed=3):
        changed, out_of = map(int, re.findall(r"(\d+) of (\d+) words", made.evidence["changed"].replace(",", ""))[0])
        typos, words = typos + changed, words + out_of
        assert abs(changed - 0.02 * out_of) <= 1
    assert typos / words == pytest.approx(0.02, abs=0.001)


def test_extra_blanks_come_at_about_one_gap_in_ten(originals):
    clusters = gaps = 0
    for original, made in proved_stimuli(PERTURBATIONS.get("inline-spacing"), originals, seed=4):
        pattern = r"(?<=[a-z]) {n}(?=[a-z])"
        gaps += len(re.findall(pattern.replace("{n}", ""), original.candidates[0]))
        clusters += len(re.findall(pattern.replace("{n}", "{3,7}"), made.candidates[0]))
    assert clusters / gaps == pytest.approx(0.1, abs=0.01)
