"""What a study may say row by row and test by test: rubrics, reference answers, chosen rows, templates."""

import csv
import json

import pytest

from tests.protocols.stress.end_to_end.rehearsals import note, notes_study
from tests.protocols.stress.end_to_end.studies import DECIDED
from umpirical.domain.errors import ConfigError
from umpirical.protocols.stress.record import StressReport
from umpirical.protocols.stress.stimuli import read_originals
from umpirical.protocols.stress.writing import StressWriting
from umpirical.stimuli.generation.attempt import attempt, validator_prompt
from umpirical.study.file import parse_study

TESTS = "  tests: [paraphrase, label-flip]"


def rubric_of(number):
    return f"1. Is number {number} spoken of?\n2. Is it spoken of kindly?"


def by_row(folder, *, stress=TESTS, columns=", rubric: criteria", empty=(), more="", **texts):
    """A study whose rows have a rubric each, and a reference answer."""
    folder = notes_study(folder, stress=stress, columns=columns, more=more, rows=12)
    with (folder / "notes.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "task", "grade", "criteria", "model"])
        for n in range(12):
            rows.writerow(
                [f"n{n}", note(n), f"Write {n}.", 1 + n % 4, "" if n in empty else rubric_of(n), f"Model {n}."]
            )
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    file = folder / "umpirical.yaml"
    if "rubric: criteria" in columns:
        file.write_text(file.read_text().replace("rubric: rubric.txt\n", ""))
    return folder


def opened(folder):
    return parse_study((folder / "umpirical.yaml").read_text(), folder)


def asked(folder):
    """Every commission with the prompts of its generator and of its validator."""
    for commission in StressWriting(opened(folder))._planned.commissions:
        protocol = attempt(commission, 0)
        yield commission, next(protocol).request.messages[0].content, validator_prompt(commission, "A text.")
        protocol.close()


def test_the_rubric_of_the_row_reaches_generator_and_validators_and_no_other_row_s_does(tmp_path):
    found = list(asked(by_row(tmp_path / "study")))
    assert len(found) == 24
    for commission, generator, validator in found:
        number = int(commission.source.task.split()[1].rstrip("."))
        for prompt in (generator, validator):
            assert rubric_of(number) in prompt
            assert prompt.count("spoken of kindly") == 1


def test_judges_and_validators_go_by_the_same_words(tmp_path):
    folder = by_row(tmp_path / "study", columns=", rubric: criteria, reference: model")
    prompt = opened(folder).spec.judges[0].prompts["baseline"]
    assert "{{row.criteria}}\n\nReference answer:\n{{row.model}}" in prompt
    for commission, generator, validator in asked(folder):
        number = int(commission.source.task.split()[1].rstrip("."))
        shown = f"{rubric_of(number)}\n\nReference answer:\nModel {number}."
        assert shown in generator
        assert shown in validator


def test_a_study_by_row_runs_from_generation_to_report(tmp_path, umpirical):
    folder = by_row(tmp_path / "study", columns=", rubric: criteria, reference: model")
    assert umpirical("check", folder)[0] == 0
    code, out, err = umpirical("generate", folder, "--json")
    assert code == 0, err
    assert json.loads(out)["paraphrase"]["generated"] == 12
    assert umpirical("run", folder)[0] in DECIDED
    [report] = [StressReport.model_validate_json(path.read_text()) for path in folder.glob("runs/*/stress.json")]
    assert report.complete
    assert not report.trouble
    for item in report.worst:
        assert item.evidence["rubric of the row"].endswith("spoken of kindly?")
        assert item.evidence["reference of the row"].startswith("Model ")


def test_a_reference_answer_alone_stands_with_the_rubric_of_all(tmp_path):
    folder = by_row(tmp_path / "study", columns=", reference: model")
    for commission, generator, validator in asked(folder):
        number = int(commission.source.task.split()[1].rstrip("."))
        shown = f"4: reasons and facts. 3: reasons. 2: a wish. 1: nothing.\n\nReference answer:\nModel {number}."
        assert shown in generator
        assert shown in validator


def test_a_row_without_a_rubric_is_not_written_about(tmp_path, umpirical):
    folder = by_row(tmp_path / "study", empty=(3, 4))
    code, out, _ = umpirical("generate", folder, "--json")
    assert code == 0
    made = json.loads(out)["paraphrase"]
    assert (made["wanted"], made["generated"]) == (12, 10)
    assert made["skipped"] == {"the row has no rubric": 2}


def test_a_judge_that_is_not_shown_the_rubric_of_the_row_is_a_problem(tmp_path, umpirical):
    more = "  - name: blind\n    model: {adapter: simulated, name: severe}\n    prompts: {baseline: 'builtin:grade'}"
    code, out, _ = umpirical("check", by_row(tmp_path / "study", more=more))
    assert code == 2
    assert "judge blind: its prompt lacks 'criteria', the rubric that validators use" in out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("stress:", "rubric: rubric.txt\nstress:", "not both"),
        ("rubric: criteria", "rubric: grade", "is already used for the response, the task or the label"),
        ("rubric: criteria", "rubric: criterion", "criteria"),
    ],
)
def test_a_rubric_that_is_named_wrongly_is_refused(old, new, said, tmp_path, umpirical):
    folder = by_row(tmp_path / "study")
    file = folder / "umpirical.yaml"
    file.write_text(file.read_text().replace(old, new, 1))
    code, out, err = umpirical("check", folder)
    assert code == 2
    assert said in out + err


# Rows chosen by hand.


def test_rows_are_chosen_by_hand(tmp_path):
    folder = notes_study(tmp_path / "study", stress=TESTS, dataset="  sample: {ids: [n20, n3, n7]}")
    assert [one.evidence["item"] for one in read_originals(opened(folder)).stimuli] == ["n3", "n7", "n20"]


def test_a_chosen_row_that_is_not_there_is_an_error(tmp_path):
    folder = notes_study(tmp_path / "study", stress=TESTS, dataset="  sample: {ids: [n3, n7, n240, m9]}")
    with pytest.raises(ConfigError, match="no row has the id 'n240', and 1 more of the 4 ids") as raised:
        read_originals(opened(folder))
    assert "did you mean 'n2" in raised.value.fix


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ("{ids: [n3, n3]}", "named twice"),
        ("{ids: [n3, n4], size: 2}", "remove size and by"),
        ("{ids: [3, 4]}", "an id must be text, got 3: put it in quotes"),
    ],
)
def test_a_choice_that_is_none_is_refused(sample, said, tmp_path, umpirical):
    code, _, err = umpirical("check", notes_study(tmp_path / "study", stress=TESTS, dataset=f"  sample: {sample}"))
    assert code == 2
    assert said in err


def test_ids_need_their_column(tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress=TESTS, dataset="  sample: {ids: [n3, n4]}")
    file = folder / "umpirical.yaml"
    file.write_text(file.read_text().replace(", id: id", ""))
    code, _, err = umpirical("check", folder)
    assert code == 2
    assert "name the id column in columns.id" in err


# Templates.

TEMPLATE = "Say it otherwise, in other words.\n\n[response, {{fence}}]\n{{response}}\n[end of response, {{fence}}]\n"


def test_a_template_is_what_the_generator_is_asked_and_no_other_test_s_is(tmp_path, umpirical):
    folder = by_row(tmp_path / "study", stress=f"{TESTS}\n  templates: {{paraphrase: own.md}}", own=TEMPLATE)
    prompts = {commission.perturbation.name: generator for commission, generator, _ in asked(folder)}
    assert prompts["paraphrase"].startswith("Say it otherwise")
    assert not prompts["label-flip"].startswith("Say it otherwise")
    assert umpirical("generate", folder)[0] == 0


def test_another_template_is_another_commission(tmp_path):
    ids = []
    for template in (TEMPLATE, f"Please. {TEMPLATE}"):
        folder = by_row(
            tmp_path / "study", stress="  tests: [paraphrase]\n  templates: {paraphrase: own.md}", own=template
        )
        ids.append({commission.id for commission, _, _ in asked(folder)})
    assert not ids[0] & ids[1]


@pytest.mark.parametrize(
    ("templates", "template", "said"),
    [
        ("{paraphrase: own.md}", "Write: {{gold}} {{response}}", "unknown placeholder {{gold}}"),
        ("{paraphrase: own.md}", "Write about {{task}}.", "lacks {{response}}"),
        ("{typos: own.md}", TEMPLATE, "'typos' is not a generated test of this study"),
        ("{paraphrase: ../own.md}", TEMPLATE, "own.md"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(templates, template, said, tmp_path, umpirical):
    folder = by_row(tmp_path / "study", stress=f"{TESTS}\n  templates: {templates}", own=template)
    code, _, err = umpirical("check", folder)
    assert code == 2
    assert said in err
