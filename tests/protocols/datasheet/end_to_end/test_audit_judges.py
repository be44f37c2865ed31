"""Judges whose worth is known, measured by the command line: no bad one is let through, and no sound one turned away.

They are those of the audit of the statistics, and some more: whatever a judge has to hide or does not look at.
"""

import json
from pathlib import Path

import pytest

from tests.stimuli.built import lend_stimuli
from umpirical.domain.errors import JudgeUnreadable

JUDGES = Path(__file__).parent / "judges" / "audit_judges.py"

SOUND = {"perfect": "compare", "lapsing": "compare", "perfect_grader": "grade"}

BAD = {
    "at_random": "compare",
    "always_tie": "compare",
    "position_1": "compare",
    "abstaining": "compare",
    "upside_down": "compare",
    "never_read": "compare",
    "half_read": "compare",
    "hides_its_taste": "compare",
    "likes_length": "compare",
    "right_on_longer_tasks": "compare",
    "right_if_longer": "compare",
    "idle": "compare",
    "bag_of_words": "compare",
    "texts_only": "compare",
    "grades_at_random": "grade",
    "grades_upside_down": "grade",
    "always_3": "grade",
    "grades_half_read": "grade",
    "grades_texts_only": "grade",
}

EXITS = {"use": 0, "use-with-restrictions": 0, "do-not-use": 3, "not-enough-data": 4}

QUICK = ("perfect", "half_read", "texts_only")
"""Those that CI measures: a sound judge, and two whose faults are the hardest to see."""

SCALE = "    kind: grade\n    scale: {kind: ordinal, labels: ['1', '2', '3', '4', '5']}\n"


def named(judges):
    """Judges that CI does not measure are slow."""
    return [judge if judge in QUICK else pytest.param(judge, marks=pytest.mark.slow) for judge in judges]


def write_study(folder: Path, size: str) -> Path:
    """A study of all judges at one size; they share its stimuli."""
    (folder / "audit_judges.py").write_text(JUDGES.read_text())
    lend_stimuli(folder, size=size)
    judges = "".join(
        f"  - name: {name}\n    callable: audit_judges:{name}\n{SCALE if kind == 'grade' else ''}"
        for name, kind in (SOUND | BAD).items()
    )
    file = folder / "umpirical.yaml"
    file.write_text(f"study: audit\ndesign: {{size: {size}}}\njudges:\n{judges}")
    return file


@pytest.fixture(scope="module")
def standard(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("standard"), "standard")


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("full"), "full")


@pytest.fixture
def decided(umpirical):
    """Measures a judge as a program would, and returns what it is told."""

    def decide(study: Path, judge: str) -> str:
        # Some answer nothing that can be read, which the preflight would find out.
        code, out, err = umpirical("run", study, "--judge", judge, "--yes", "--no-preflight", "--json")
        (result,) = json.loads(out)
        assert result["complete"], err
        assert code == EXITS[result["decision"]]
        return result["decision"]

    return decide


@pytest.mark.parametrize("judge", named(SOUND))
def test_a_sound_judge_is_used_after_the_standard_run(standard, decided, judge):
    assert decided(standard, judge) == "use"


@pytest.mark.parametrize("judge", named(BAD))
def test_a_bad_judge_is_not_let_through_by_the_standard_run(standard, decided, judge):
    assert decided(standard, judge) in {"do-not-use", "not-enough-data"}


@pytest.mark.slow
@pytest.mark.parametrize("judge", SOUND)
def test_a_sound_judge_is_used_after_the_full_run(full, decided, judge):
    assert decided(full, judge) == "use"


@pytest.mark.slow
@pytest.mark.parametrize("judge", BAD)
def test_a_bad_judge_is_not_let_through_by_the_full_run(full, decided, judge):
    assert decided(full, judge) in {"do-not-use", "not-enough-data"}


def test_the_preflight_stops_at_answers_that_cannot_be_read(standard, umpirical):
    code, out, err = umpirical("run", standard, "--judge", "never_read", "--yes", "--json")
    assert code == JudgeUnreadable.exit_code
    assert out == ""
    assert "4 of 4 preflight calls got an answer that is not on its scale" in err
