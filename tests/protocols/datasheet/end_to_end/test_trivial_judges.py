"""Judges that read nothing, measured as a user would measure them: the datasheet shows that each is no judge."""

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from tests.stimuli.built import lend_stimuli
from umpirical.stimuli.controlled.datasheet_set import RECIPES
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run

STEPS = [f"{step:g}" for step in sorted({*RECIPES["standard"].steps} - {*RECIPES["standard"].unshown})]
FINE = ["", "0.05", "0.1", "0.25", "0.5"]
BY_CONTENT = ["longer", "shorter", "alphabetical", "readability", "gzip_size"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Each judge at the standard size: its datasheet, and its results by measure and part."""
    folder = tmp_path_factory.mktemp("trivial")
    lend_stimuli(folder, size="standard")
    names = ["first_slot", *BY_CONTENT]
    judges = "".join(
        f"  - {{name: {name}, callable: 'umpirical.stimuli.controlled.trivial:{name}'}}\n" for name in names
    )
    study = parse_study(f"study: trivial\ndesign: {{size: standard}}\njudges:\n{judges}", folder)
    found = {}
    for judge in study.spec.judges:
        datasheet = complete_run(prepare_run(study, judge), 4, lambda *_: Silent()).record
        found[judge.name] = datasheet, {(m.name, m.stratum): m.result for m in datasheet.measures}
    return found


@pytest.mark.parametrize("judge", ["first_slot", *BY_CONTENT])
def test_it_is_not_to_be_used(measured, judge):
    datasheet, _ = measured[judge]
    assert datasheet.complete
    assert datasheet.decision.verdict == "do-not-use"


def test_the_first_slot_is_all_position_whatever_is_in_it(measured):
    _, found = measured["first_slot"]
    for part in ("", "empty", "whitespace", "identical"):
        assert found["dark-current", part].value == 1
    assert found["positional-false-preference", ""].value == 1
    assert found["stable-cross-sensitivity", ""].value == 0
    assert found["raw-false-preference", ""].value == 1
    assert all(found["target-sensitivity", step].value == 0.5 for step in STEPS)
    assert all(found["fine-sensitivity", step].value == 0.5 for step in FINE)
    assert all(found["tie-rate", step].value == 0 for step in ["0", *STEPS])


@pytest.mark.parametrize("judge", BY_CONTENT)
def test_by_the_surface_it_sees_no_quality_at_any_step(measured, judge):
    _, found = measured[judge]
    for step in STEPS:
        # A tie, where the surface is the same, is half a guess.
        right, ties = found["target-sensitivity", step].value, found["tie-rate", step].value
        assert right + ties / 2 == pytest.approx(0.5, abs=1e-12), step
    assert found["task-following", ""].value == 0


@pytest.mark.parametrize("judge", BY_CONTENT)
def test_by_the_surface_it_keeps_to_one_of_two_equal_answers(measured, judge):
    _, found = measured[judge]
    assert found["stable-cross-sensitivity", ""].interval.low > 0.8
    assert found["positional-false-preference", ""].value == 0


@pytest.mark.parametrize(
    ("judge", "rate"), [("longer", 1.0), ("shorter", 1.0), ("alphabetical", 1.0), ("readability", 0.0)]
)
def test_what_it_makes_of_blanks_is_what_its_rule_makes_of_them(measured, judge, rate):
    _, found = measured[judge]
    assert found["dark-current", "whitespace"].value == rate
    assert found["dark-current", "empty"].value == found["dark-current", "identical"].value == 0
