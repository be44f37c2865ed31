"""What a study file may say about stress tests, and what is said where it is wrong."""

import json

import pytest

from tests.protocols.stress.end_to_end.studies import DECIDED
from umpirical.domain.errors import UsageError
from umpirical.study.file import parse_study

ROWS = [f"a{n},It is text number {n} here.,{1 + n % 3},{'xy'[n % 2]}" for n in range(12)]
CSV = "\n".join(["id,text,grade,part", *ROWS, ""])

STUDY = """\
study: notes
dataset:
  path: notes.csv
  columns: {{response: text, label: grade, id: id, strata: [part]}}
  task_text: Write a note.
  scale: {{kind: ordinal, labels: ["1", "2", "3"]}}
{more}
judges:
  - name: rehearsal
    model: {{adapter: simulated, name: sound-examiner}}
{judges}
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "notes.csv").write_text(CSV)
    (tmp_path / "rubric.txt").write_text("3 is much, 1 is little.")

    def study(more="", judges=""):
        text = STUDY.format(more=more, judges=judges)
        (tmp_path / "umpirical.yaml").write_text(text)
        return tmp_path

    return study


def parse(folder):
    return parse_study((folder / "umpirical.yaml").read_text(), folder)


def test_judges_grade_on_the_scale_of_the_dataset(write):
    study = parse(write())
    assert study.spec.judges[0].kind == "grade"
    assert study.spec.judges[0].scale.labels == ("1", "2", "3")
    assert study.spec.stress.tests == ("vertical-spacing", "inline-spacing", "indentation", "stability")


def test_the_rubric_stands_in_the_built_in_prompt_and_in_one_s_own(write):
    folder = write("rubric: rubric.txt", "    prompts: {baseline: mine.md}")
    (folder / "mine.md").write_text(
        "{{instruction}} {{rubric}}\n{{task}}\n[answer, {{fence}}]\n{{first}}\n[end of answer, {{fence}}]\n"
        "on this scale, lowest first: {{scale}}. If you cannot judge"
    )
    assert "3 is much, 1 is little." in parse(folder).spec.judges[0].prompts["baseline"]
    assert "3 is much, 1 is little." in parse(write("rubric: rubric.txt")).spec.judges[0].prompts["baseline"]


@pytest.mark.parametrize(
    ("more", "judges", "said"),
    [
        ("stress: {tests: [vertical-spacng]}", "", "did you mean 'vertical-spacing'"),
        ("stress: {tests: [typos, typos]}", "", "listed twice"),
        ("stress: {tests: [stability], repeats: 1}", "", "repeats of at least 2"),
        ("stress: {tests: [paraphrase]}", "", "needs a generator and a validator"),
        ("stress: {votes: 2, agree: 3}", "", "cannot agree"),
        ("stress: {temperatures: [-1]}", "", "temperatures must not be negative"),
        ("tasks: [mulling]", "", "tasks: this key is for studies of protocol datasheet"),
        ("", "    kind: compare", "this dataset has single responses"),
        ("", "    scale: {kind: binary, labels: ['1', '2']}", "its scale differs from the dataset's scale"),
        ("rubric: missing.txt", "", "no file missing.txt"),
        ("rubric: ../rubric.txt", "", "--outside"),
    ],
)
def test_what_is_wrong_is_said(more, judges, said, write, umpirical):
    code, _, err = umpirical("check", write(more, judges))
    assert code == 2
    assert said in err


def test_generated_tests_need_the_rubric_that_validators_see(write, umpirical):
    writer = "{model: {adapter: openai-compatible, name: m, base_url: 'http://127.0.0.1:9/v1', price: free}}"
    more = f"stress: {{tests: [paraphrase], generator: {writer}, validator: {writer}}}"
    code, _, err = umpirical("check", write(more))
    assert code == 2
    assert "validators need the judges' rubric" in err


def test_a_prompt_without_the_rubric_is_a_problem_where_validators_go_by_it(write, umpirical):
    writer = "{model: {adapter: openai-compatible, name: m, base_url: 'http://127.0.0.1:9/v1', price: free}}"
    more = f"rubric: rubric.txt\nstress: {{tests: [paraphrase], generator: {writer}, validator: {writer}}}"
    code, out, _ = umpirical("check", write(more, "    prompts: {baseline: 'builtin:grade'}"))
    assert code == 2
    assert "lacks the rubric that validators use" in out


def test_a_rubric_with_a_placeholder_in_it_is_refused(write):
    folder = write("rubric: rubric.txt")
    (folder / "rubric.txt").write_text("Look at {{task}} first.")
    with pytest.raises(UsageError, match="the rubric contains"):
        parse(folder)


def test_without_a_dataset_there_is_nothing_to_stress(tmp_path, umpirical):
    (tmp_path / "umpirical.yaml").write_text(
        "study: s\nstress: {}\njudges:\n  - name: a\n    model: {adapter: simulated, name: careful}\n"
    )
    code, _, err = umpirical("check", tmp_path)
    assert code == 2
    assert "stress: this key is for studies of protocol stress" in err
    assert "such a study has the key dataset" in err
    (tmp_path / "umpirical.yaml").write_text(
        "study: s\njudges:\n  - name: a\n    model: {adapter: simulated, name: careful}\n"
    )
    code, _, err = umpirical("generate", tmp_path)
    assert code == 2
    assert "init --from" in err


def test_there_is_nothing_to_generate_where_a_program_makes_everything(write, umpirical):
    code, _, err = umpirical("generate", write())
    assert code == 2
    assert "this study has no generated tests" in err


def test_a_datasheet_is_not_made_in_the_folder_of_a_stress_study(write, umpirical):
    folder = write()
    code, _, err = umpirical("datasheet", "rehearsal", "--folder", folder)
    assert code == 2
    assert "umpirical run" in err


def test_check_counts_what_would_be_asked_and_changes_nothing(write, umpirical):
    folder = write("stress: {tests: [typos, stability, seeds], repeats: 4, seeds: 2}")
    before = sorted(folder.rglob("*"))
    code, out, _ = umpirical("check", folder, "--json")
    assert code == 0
    # Twelve originals asked four times, twice more with seeds, and twelve texts with typos asked twice.
    assert json.loads(out)["calls"] == {"rehearsal": 12 * (4 + 2) + 12 * 2}
    assert sorted(folder.rglob("*")) == before


def test_plan_says_how_precise_the_tests_will_be(write, umpirical):
    code, out, _ = umpirical("plan", write(), "--json")
    assert code == 0
    precision = json.loads(out)["runs"][0]["precision"]
    change = next(row for row in precision if (row["measure"], row["stratum"]) == ("change-rate", "indentation"))
    assert (change["units"], change["unit"]) == (12, "item")


def test_a_function_is_not_asked_with_seeds_and_the_report_says_so(write, umpirical):
    folder = write("stress: {tests: [stability, seeds]}", "  - name: mine\n    callable: mine:judge")
    (folder / "mine.py").write_text("def judge(task, response):\n    return '2'\n")
    code, out, _ = umpirical("run", folder, "--judge", "mine", "--yes", "--json")
    assert code in DECIDED
    [result] = json.loads(out)
    assert result["trials"] == 12 * 3
    assert result["verdicts"]["seeds"] == "N/A"
    assert result["verdicts"]["stability"] in ("PASS", "INCONCLUSIVE")


def test_another_sample_is_another_set_and_is_not_put_beside_the_first(write, umpirical):
    folder = write("stress: {tests: [typos]}")
    assert umpirical("run", folder)[0] in DECIDED
    text = (folder / "umpirical.yaml").read_text()
    (folder / "umpirical.yaml").write_text(text.replace("sound-examiner", "severe").replace("rehearsal", "other"))
    (folder / "notes.csv").write_text(CSV + "a99,It is one text more.,2,x\n")
    assert umpirical("run", folder)[0] in DECIDED
    index = (folder / "report" / "index.html").read_text()
    assert "other" in index
    assert "rehearsal" not in index
    assert len(list((folder / "runs").iterdir())) == 2


def test_an_instruction_alone_reaches_the_judge(write):
    folder = write("instruction: how.txt")
    (folder / "how.txt").write_text("Be kind to short notes.")
    prompt = parse(folder).spec.judges[0].prompts["baseline"]
    assert "Be kind to short notes." in prompt
    assert "There is none but the instruction above." in prompt


def test_a_mistyped_examiner_is_found_by_check(write, umpirical):
    folder = write()
    file = folder / "umpirical.yaml"
    file.write_text(file.read_text().replace("sound-examiner", "sound-exminer"))
    code, out, _ = umpirical("check", folder)
    assert code == 2
    assert "did you mean 'sound-examiner'?" in out


def test_a_mistyped_stability_is_answered_with_stability(write, umpirical):
    code, _, err = umpirical("check", write("stress: {tests: [stabilty]}"))
    assert code == 2
    assert "did you mean 'stability'?" in err


def test_a_row_that_repeats_another_is_asked_once_and_said(write, umpirical):
    folder = write("stress: {tests: [stability], repeats: 2}")
    again = [row.replace(f"a{n},", f"b{n},") for n, row in enumerate(ROWS[:5])]
    (folder / "notes.csv").write_text("\n".join(["id,text,grade,part", *ROWS, *again, ""]))
    _, out, _ = umpirical("check", folder)
    assert "5 rows repeat an earlier row" in out
    code, out, _ = umpirical("run", folder, "--json")
    assert code in DECIDED
    assert json.loads(out)[0]["trials"] == 12 * 2


def test_seeds_are_never_the_judge_s_own(write, umpirical):
    folder = write(
        "stress: {tests: [stability, seeds], repeats: 2, seeds: 3}", "    decoding: {temperature: 0, seed: 1}"
    )
    code, out, _ = umpirical("run", folder, "--json")
    assert code in DECIDED
    assert json.loads(out)[0]["trials"] == 12 * 5


def test_the_report_of_a_study_shows_the_prompt_it_has_now(write, umpirical):
    folder = write("rubric: rubric.txt\nstress: {tests: [typos]}")
    for rubric in ("3 is much, 1 is little.", "3 is three, 1 is one.", "3 is much, 1 is little."):
        (folder / "rubric.txt").write_text(rubric)
        assert umpirical("run", folder)[0] in DECIDED
        assert rubric in (folder / "report" / "index.html").read_text()
    assert len(list((folder / "runs").iterdir())) == 2
    assert umpirical("report", folder)[0] in DECIDED
    assert "3 is much, 1 is little." in (folder / "report" / "index.html").read_text()


def test_a_run_that_was_only_planned_is_not_reported(write, umpirical):
    folder = write("stress: {tests: [typos]}")
    assert umpirical("run", folder)[0] in DECIDED
    (folder / "notes.csv").write_text("\n".join(["id,text,grade,part", *ROWS[:8], ""]))
    assert umpirical("plan", folder)[0] == 0
    code, out, _ = umpirical("report", folder, "--json")
    assert code in DECIDED
    [report] = json.loads(out)
    assert report["dataset"]["sampled"] == 12


def test_one_broken_record_is_no_reason_to_report_on_none(write, umpirical):
    folder = write("stress: {tests: [typos]}", "  - name: other\n    model: {adapter: simulated, name: severe}")
    assert umpirical("run", folder)[0] in DECIDED
    [broken] = folder.glob("runs/other-*")
    [sealed] = broken.glob("responses/*.parquet")
    sealed.with_name("00000-1.parquet").write_bytes(sealed.read_bytes())
    (broken / "stress.json").unlink()
    code, _, err = umpirical("report", folder)
    assert code in DECIDED
    assert f"{broken.name} is excluded" in err
    assert "rehearsal" in (folder / "report" / "index.html").read_text()
