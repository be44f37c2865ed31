"""The table of what the decision does: it is what the counts say, counts are what is drawn, and the promise holds."""

import importlib.util
import sys
from pathlib import Path

import pytest

from umpirical.stimuli.controlled.datasheet_set import RECIPES

FOLDER = Path(__file__).parents[2] / "docs" / "explanation" / "reliability"

ACCEPTED = ("use", "use-with-restrictions")
ERROR = 2.6 * (0.05 * 0.95 / 500) ** 0.5
"""A share of .05 of 500 runs is off by less than this in 99 of 100 cases."""


@pytest.fixture(scope="module")
def write():
    spec = importlib.util.spec_from_file_location("operating_write", FOLDER / "write.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["operating_write"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(write):
    return write.Page(write.kept_counts())


def test_the_page_is_what_the_counts_say(write, page):
    assert page.text() == write.PAGE.read_text(encoding="utf-8")


def test_every_judge_was_run_often_enough_at_every_size_that_ships(write, page):
    assert page.runs >= 500
    current = page.calls == {size: made.calls for size, made in RECIPES.items()}
    assert current or "These results are from an earlier design" in write.PAGE.read_text(encoding="utf-8")
    assert not current or set(page.found) == set(write.all_cells())
    assert all(sum(counts.values()) == page.runs for found in page.found.values() for counts in found.values())
    assert len(write.JUDGES) >= 12


@pytest.mark.parametrize("judge", ["perfect", "1 % lapses, DC .7 %"])
@pytest.mark.parametrize(("size", "least"), [("standard", 0.80), ("full", 0.90)])
def test_a_sound_judge_is_told_to_be_used(page, judge, size, least):
    assert page.share((judge, size, 0.05), ["use"]) >= least


def test_no_sound_judge_is_refused_too_often(write, page):
    sound = [name for name, judge in write.JUDGES.items() if judge.sound]
    assert len(sound) == 6
    drawn = [judge for judge in sound if (judge, "standard", 0.05) in page.found]
    assert max(page.share((judge, size, 0.05), ["do-not-use"]) for judge in drawn for size in RECIPES) <= 0.05


def test_no_judge_at_an_essential_check_is_accepted_too_often(write, page):
    judges = [judge for judge in write.at_limits() if (judge, "standard", 0.05) in page.found]
    shares = {(judge, size): page.share((judge, size, 0.05), ACCEPTED) for judge in judges for size in RECIPES}
    assert max(shares.values()) <= 0.05 + ERROR, shares


def test_no_judge_at_a_check_that_can_be_made_up_for_is_told_use_too_often(write, page):
    judges = [judge for judge in write.at_curable_limits() if (judge, "standard", 0.05) in page.found]
    shares = {(judge, size): page.share((judge, size, 0.05), ["use"]) for judge in judges for size in RECIPES}
    assert max(shares.values()) <= 0.05 + ERROR, shares


@pytest.mark.parametrize(
    "judge",
    [
        "random",
        "always a tie",
        "always slot 1",
        "always abstains",
        "reversed",
        "task-blind",
        "task-blind in half of the quads",
        "longer is better, else sound",
        "always unparsed",
        "half unparsed, else perfect",
        "dark current .20",
    ],
)
def test_no_bad_judge_is_ever_accepted(page, judge):
    for size in RECIPES:
        for policy in ("ranking", "adjudication", "claim"):
            assert page.share((judge, size, 0.05), ACCEPTED, policy) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "decided"),
    [
        ("perfect", "use"),
        ("task-blind", "do-not-use"),
        ("1 % lapses, DC .7 %", "use"),
        ("dark current .10", "do-not-use"),
        ("stable preference .20", "use-with-restrictions"),
    ],
)
def test_the_counts_are_what_is_drawn(write, page, judge, decided):
    """A few runs once more: a check that moved, or counts that were kept too long, show here."""
    cell, runs = (judge, "standard", 0.05), 60
    again, kept = write.decisions(cell, write.planned("standard"), runs)["ranking"], page.share(cell, [decided])
    assert abs(again.get(decided, 0) / runs - kept) <= 4 * (kept * (1 - kept) / runs) ** 0.5
