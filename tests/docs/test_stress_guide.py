"""The guide to stress tests does what it says, and its list of perturbations is the registry's."""

import re
import shlex

import pytest

from tests.docs.reading import ROOT, blocks, table
from tests.protocols.stress.samples import report as stress_sample
from tests.protocols.stress.samples import stress_test
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import CallTally, ChangeTally, Tallies
from umpirical.judges.simulated.profiles import EXAMINER_PROFILES
from umpirical.measures.catalogue import measure_all
from umpirical.protocols.stress.spec import ENOUGH, HARNESS_NAMES, HARNESS_SUITE, SAMPLE, SELF_PREFERENCE
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation
from umpirical.stimuli.simulated import FAULTS
from umpirical.study.file import parse_study

GUIDE = ROOT / "docs" / "data" / "stress-tests.md"
REFERENCE = ROOT / "docs" / "reference" / "perturbations.md"
(ANSWERS,) = blocks(GUIDE, "csv")
(COMMANDS,) = blocks(GUIDE, "sh")
STUDY, RESPONSES, OWN = blocks(GUIDE, "yaml")

SPACING = stress_test("vertical-spacing", name="spacing")
CALLS = (CallTally("0", "baseline", "spacing", "", None, 1, graded=1),)
ASKED = {"same-verdict": "the same verdict", "flipped-verdict": "another verdict", "given-label": "the target label"}


def test_the_commands_lead_from_a_file_to_a_report(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text(ANSWERS)
    for line in COMMANDS.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "umpirical"
        with pytest.raises(SystemExit) as stop:
            main(trusting(arguments))
        # Six answers are too few to decide, which `run` and `report` exit with.
        assert stop.value.code in {None, 0, 4}, capsys.readouterr().err
    index = (tmp_path / "my-study" / "report" / "index.html").read_text()
    assert "Vertical spacing" in index


def test_the_study_file_is_one(tmp_path):
    (tmp_path / "instruction.txt").write_text("Grade.")
    (tmp_path / "rubric.txt").write_text("6 is best.")
    study = parse_study(STUDY, tmp_path)
    assert [test.name for test in study.spec.stress.generated] == ["paraphrase", "verbosity-long", "label-flip"]
    assert len(study.spec.stress.proved) == 4
    assert study.spec.judges[0].kind == "grade"
    assert "6 is best." in study.spec.judges[0].prompts["baseline"]


def test_the_study_of_self_preference_is_one(tmp_path):
    (tmp_path / "instruction.txt").write_text("Grade.")
    (tmp_path / "rubric.txt").write_text("6 is best.")
    before, _, after = STUDY.partition("stress:\n")
    study = parse_study(before + OWN + after[after.index("judges:") :], tmp_path)
    assert set(study.spec.stress.tests) == {*SELF_PREFERENCE, "stability"}
    assert set(study.spec.stress.writers) == {"generator", "own-generator", "validator"}


def test_the_study_whose_responses_a_model_writes_is_rehearsed(tmp_path, umpirical):
    (tmp_path / "prompts.csv").write_text("id,prompt\na,Why is it dark?\nb,Why is it cold?\nc,Why is it late?\n")
    (tmp_path / "umpirical.yaml").write_text(RESPONSES)
    for command in ("generate", "run"):
        code, _, err = umpirical(command, tmp_path, "--yes")
        assert code == (4 if command == "run" else 0), err
    assert len((tmp_path / "generated" / "responses.jsonl").read_text().splitlines()) == 3


def test_every_perturbation_is_listed_with_what_it_does():
    expected = []
    for perturbation in PERTURBATIONS:
        generated = isinstance(perturbation, GeneratedPerturbation)
        asked = ASKED[perturbation.expectation if generated else "same-verdict"]
        expected.append([f"`{perturbation.name}`", perturbation.about, "generated" if generated else "proved", asked])
    assert table(REFERENCE, "perturbation") == expected


def test_every_simulated_examiner_is_listed_with_its_defect():
    expected = [[f"`{name}`", profile.about] for name, profile in EXAMINER_PROFILES.items()]
    assert table(GUIDE, "examiner") == expected


def test_the_table_of_the_harness_s_names_is_the_one_that_is_used():
    assert {row[0].strip("`"): row[1].strip("`") for row in table(GUIDE, "harness")} == HARNESS_NAMES
    assert all(name in GUIDE.read_text() for name in HARNESS_SUITE)


def test_every_fault_of_a_simulated_writer_is_listed():
    expected = [
        [f"`{name}`", f"`{fault}`", about] for name, faults in FAULTS.items() for fault, about in faults.items()
    ]
    assert table(GUIDE, "simulated") == expected


def test_the_guide_says_how_many_items_a_pass_takes_where_nothing_ever_changes():
    scale = GradeScale("binary", ("no", "yes"))

    def verdict(items, changes=0):
        # Up and down in turn, so that the mean does not shift.
        same = (
            ChangeTally(
                *(str(i), "baseline", "spacing", "", "same-verdict"), 1, changed=i < changes, retested=1,
                changed_retested=i < changes, distance=i < changes, shift=(i < changes) * (-1) ** i,
            )
            for i in range(items)
        )  # fmt: skip
        measured = measure_all(Tallies(changes=tuple(same), calls=CALLS, scale=scale), kind="grade", protocol="stress")
        report = stress_sample(
            "still", parts={}, measured=measured, tests=[SPACING], scale=scale, margin=0.05, calls=[]
        )
        return report.verdicts[0].verdict

    (said,) = re.findall(r"takes (\d+) items at a margin of 0.05", " ".join(GUIDE.read_text().split()))
    assert int(said) == ENOUGH
    assert verdict(int(said)) == "PASS"
    assert verdict(int(said) - 1) == "INCONCLUSIVE"
    (taken,) = re.findall(r"`init` takes (\d+) items", " ".join(GUIDE.read_text().split()))
    assert int(taken) == SAMPLE
    assert verdict(SAMPLE, changes=1) == "PASS"
    assert verdict(SAMPLE, changes=2) == "INCONCLUSIVE"
