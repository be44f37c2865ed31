"""The ready studies of benchmarks, from the files that are shipped to the report, with simulated models."""

import shutil

import pytest

from tests.docs.reading import table
from tests.examples.benchmarks import EXAMPLES, fortress_rows, harmbench_rows, study_of
from tests.protocols.stress.end_to_end.loopback import PERSUADE
from umpirical.datasets.guess import guess_dataset
from umpirical.protocols.stress.record import StressReport
from umpirical.protocols.stress.spec import HARNESS_NAMES
from umpirical.study.file import parse_study

DATA = {
    "persuade": lambda folder: shutil.copyfile(PERSUADE / "essays.csv", folder / "essays.csv"),
    "harmbench": lambda folder: harmbench_rows(folder / "harmbench.csv"),
    "fortress": lambda folder: fortress_rows(folder / "fortress.jsonl"),
}

# In the paper: PERSUADE without label flip, the others without synthetic levels.
LEFT_OUT = {"persuade": "label_flip", "harmbench": "synthetic_ordinal", "fortress": "synthetic_ordinal"}


@pytest.fixture(params=DATA)
def benchmark_name(request):
    if request.param == "persuade" and not PERSUADE.is_dir():
        pytest.skip("needs the essays of ../shared/data/persuade")
    return request.param


@pytest.fixture
def study(benchmark_name, tmp_path):
    folder = study_of(benchmark_name, tmp_path / benchmark_name)
    DATA[benchmark_name](folder)
    return folder


def parsed(folder):
    return parse_study((folder / "umpirical.yaml").read_text(), folder).spec


def test_a_ready_study_runs_from_its_files_to_a_report(study, benchmark_name, umpirical):
    for command in ("check", "generate", "run"):
        code, out, err = umpirical(command, study)
        # Ten rows settle nothing, so a run is not told to be used.
        assert code == 0 or (command == "run" and code in {3, 4}), (command, out, err)
    [report] = [StressReport.model_validate_json(path.read_text()) for path in study.glob("runs/*/stress.json")]
    wanted = [name for alias, name in HARNESS_NAMES.items() if alias != LEFT_OUT[benchmark_name]]
    assert sorted(test.name for test in report.tests) == sorted(["original", *wanted])
    assert report.complete
    assert not report.trouble
    assert report.dataset.sampled == 10
    made = {test.name: test.made for test in report.tests}
    assert made["paraphrase"].accepted == 10
    # A report of a rehearsal says so before anything else.
    assert report.findings[0].kind == "rehearsal"
    assert (study / "report" / "index.html").is_file()


def test_rows_are_stratified_as_in_the_paper(study, benchmark_name, umpirical):
    umpirical("generate", study)
    umpirical("run", study)
    [report] = [StressReport.model_validate_json(path.read_text()) for path in study.glob("runs/*/stress.json")]
    [(stratum, values)] = report.dataset.strata.items()
    assert (stratum,) == parsed(study).dataset.columns.strata
    if benchmark_name != "persuade":
        assert max(values.values()) - min(values.values()) <= 1


def test_no_data_is_shipped(benchmark_name):
    shipped = sorted(path.name for path in (EXAMPLES / benchmark_name).iterdir())
    rubric = [] if benchmark_name == "fortress" else ["rubric.txt"]
    assert shipped == sorted(["README.md", "instruction.txt", "umpirical.yaml", *rubric])


def test_the_readme_names_the_columns_that_are_read(benchmark_name, study):
    columns = parsed(study).dataset.columns
    read = {*columns.named(), *columns.by_row.values()}
    named = {row[0].strip("`") for row in table(EXAMPLES / benchmark_name / "README.md", "column")}
    assert named == read


def test_init_guesses_the_columns_rightly(study, benchmark_name, umpirical):
    spec = parsed(study).dataset
    file = study / spec.path
    guess = guess_dataset(file, told={})
    columns = {role: getattr(spec.columns, role) for role in ("response", "task", "label", "id", "rubric")}
    assert guess.columns == {role: column for role, column in columns.items() if column is not None}
    assert set(spec.columns.strata) <= set(guess.strata) or benchmark_name == "persuade"
    assert guess.scale.scale == spec.scale
    # What it writes runs as it is.
    started = study.parent / "started"
    assert umpirical("init", started, "--from", file)[0] == 0
    code, out, err = umpirical("check", started, "--outside")
    assert code == 0, (out, err)
