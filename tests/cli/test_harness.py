"""`umpirical init --from config.yml`: a configuration of the Judge Reliability Harness becomes a study that runs."""

import re

import pytest
import yaml

from tests.cli.harnesses import GRADER, TEMPLATES, agents, binary, essays, ordinal
from tests.datasets.described import PERSUADE
from umpirical.study.file import read_study

STARTS = {"ordinal": ordinal, "binary": binary, "agents": agents}
WRITTEN = ("umpirical.yaml", "own-models.yaml", "migration.md")


def started(umpirical, folder, config):
    code, out, err = umpirical("init", folder, "--from", config)
    assert code == 0, err
    return out


def refused(umpirical, folder, config):
    """What is said of a configuration that is refused; nothing of a study is left behind."""
    code, out, err = umpirical("init", folder, "--from", config)
    assert (code, out) == (2, ""), out + err
    assert "Traceback" not in err
    assert not folder.exists() or not list(folder.iterdir())
    return err


def fates(text):
    """The fate of each key, as a report in Markdown has it."""
    return dict(re.findall(r"^\| `(.+?)` \| (\w+) \|", text, re.MULTILINE))


def leaves(node, place=""):
    if isinstance(node, dict) and node:
        return [leaf for key, value in node.items() for leaf in leaves(value, f"{place}.{key}".lstrip("."))]
    if isinstance(node, list) and node and all(isinstance(each, dict) for each in node):
        return [leaf for number, value in enumerate(node) for leaf in leaves(value, f"{place}[{number}]")]
    return [place]


@pytest.mark.parametrize("kind", STARTS)
def test_a_configuration_becomes_a_study_that_runs_to_the_end(umpirical, tmp_path, kind):
    folder, config = tmp_path / "study", STARTS[kind](tmp_path / "jrh")
    out = started(umpirical, folder, config)
    assert f"umpirical generate {folder} --outside" in out
    for command in ("check", "generate", "run"):
        code, out, err = umpirical(command, folder, "--outside")
        assert code in ((0, 3, 4) if command == "run" else (0,)), out + err
    assert "failed 0  unparsed 0" in err
    assert len(list(folder.glob("runs/*/run.json"))) == 1


@pytest.mark.parametrize("kind", STARTS)
def test_every_key_is_told_on_the_screen_and_in_the_file(umpirical, tmp_path, kind):
    folder, config = tmp_path / "study", STARTS[kind](tmp_path / "jrh", admin__my_own_key=[1, 2])
    out = started(umpirical, folder, config)
    told = fates((folder / "migration.md").read_text())
    assert list(told) == leaves(yaml.safe_load(config.read_text()))
    for key, fate in told.items():
        assert f"  {fate:8} {key} " in out
    assert {"kept", "dropped"} <= set(told.values()) <= {"kept", "changed", "dropped"}
    assert told["admin.my_own_key"] == "dropped"
    assert "unknown key" in out


def test_a_misspelt_key_is_named_with_the_right_one(umpirical, tmp_path):
    config = ordinal(tmp_path / "jrh", synthetic_data_params__sample_num_from_origin=4)
    out = started(umpirical, tmp_path / "study", config)
    assert "did you mean synthetic_data_params.sample_num_from_orig?" in out


def test_what_is_kept_stands_in_the_study(umpirical, tmp_path):
    folder = tmp_path / "study"
    started(umpirical, folder, ordinal(tmp_path / "jrh"))
    study = read_study(folder, outside=True)
    spec = study.spec
    assert (spec.study, spec.seed, spec.concurrency) == ("essays", 87, 12)
    assert spec.dataset.scale.labels == ("1", "2", "3", "4")
    assert (spec.dataset.columns.task, spec.dataset.columns.id) == ("assignment", "essay_id")
    assert spec.dataset.sample.size == 8
    assert spec.stress.tests == ("synthetic-ordinal", "vertical-spacing", "stability")
    assert (spec.stress.repeats, spec.stress.per_source, spec.stress.tries) == (4, 1, 3)
    assert spec.stress.temperatures == (1.0, 1.1, 1.2, 1.3)
    assert study.rubric == "4 is clear and complete, 1 is neither."


def test_the_same_study_with_the_models_of_the_configuration_is_beside_it(umpirical, tmp_path):
    folder = tmp_path / "study"
    started(umpirical, folder, ordinal(tmp_path / "jrh"))
    [judge] = read_study(folder / "own-models.yaml", outside=True).spec.judges
    assert (judge.model.adapter, judge.model.name) == ("inspect", "openai/gpt-4o-mini")
    prompt = judge.prompts["baseline"]
    assert "Give a score from 1 to 4." in prompt
    assert "<response>{{first}}</response>" in prompt
    assert '{"score": "<score>", "reasoning": "..."}' in prompt
    assert (folder / "single_autograder.md").read_text() == GRADER
    spec = read_study(folder / "own-models.yaml", outside=True).spec
    assert spec.stress.validator.model.name == "google/gemini-2.5-pro"
    assert spec.stress.validator.max_tokens == 900


def test_true_and_false_of_a_judge_are_the_labels_of_the_file(umpirical, tmp_path):
    folder = tmp_path / "study"
    started(umpirical, folder, binary(tmp_path / "jrh"))
    [judge] = read_study(folder / "own-models.yaml", outside=True).spec.judges
    assert judge.answer.labels == {"true": "1", "false": "0"}
    assert judge.scale.labels == ("0", "1")


def test_a_rubric_in_json_becomes_the_items_that_the_configuration_names(umpirical, tmp_path):
    folder = tmp_path / "study"
    started(umpirical, folder, agents(tmp_path / "jrh"))
    spec = read_study(folder, outside=True).spec
    assert spec.rewriting.items == {"asks": "The agent asks before it spends money."}
    assert spec.rewriting.objectives == ("violate", "satisfy")
    assert spec.transcripts.preprocess == ("drop-reasoning",)
    own = read_study(folder / "own-models.yaml", outside=True).spec
    assert own.rewriting.planner.model.name == "openai/gpt-5"
    assert own.judges[0].answer.labels == {"1": "violated", "0": "satisfied"}
    assert "Rubric asks: {{task}}" in own.judges[0].prompts["baseline"]


LEVELS = [{"score": number, "label": f"level {number}"} for number in (2, 0, 1)]


def test_score_levels_of_a_rubric_are_levels_worst_first(umpirical, tmp_path):
    folder = tmp_path / "study"
    config = agents(
        tmp_path / "jrh",
        rubric=[{"id": "asks", "instructions": "How well it asks.", "score_levels": LEVELS}],
        admin__evaluation_config__template="agent_autograder",
    )
    started(umpirical, folder, config)
    item = read_study(folder, outside=True).spec.rewriting.items["asks"]
    assert list(item.levels.items()) == [("0", "level 0"), ("1", "level 1"), ("2", "level 2")]
    for command in ("check", "generate"):
        assert umpirical(command, folder, "--outside")[0] == 0


def test_several_judges_become_several(umpirical, tmp_path):
    judges = [
        {"name": "one", "model": "openai/gpt-4o", "template": "single_autograder"},
        {"name": "two", "model": "anthropic/claude-sonnet-4-5", "preprocess_columns_map": {"expected": "score"}},
        {"name": "the third", "model": "google/gemini-2.5-pro"},
    ]
    config = ordinal(
        tmp_path / "jrh",
        admin__evaluation_config__judges=judges,
        admin__evaluation_config__aggregation_method="majority_vote",
    )
    folder = tmp_path / "study"
    out = started(umpirical, folder, config)
    assert re.search(r"changed  admin.evaluation_config.aggregation_method +umpirical jury \. --rule majority", out), (
        out
    )
    assert [judge.name for judge in read_study(folder, outside=True).spec.judges] == ["one", "two", "the-third"]
    own = read_study(folder / "own-models.yaml", outside=True).spec.judges
    assert [judge.model.name for judge in own] == [judge["model"] for judge in judges]


def test_tests_that_are_not_here_are_named(umpirical, tmp_path):
    tests = ["answer_ambiguity", "verbosity_bias", "label_flop", "label_flip"]
    folder = tmp_path / "study"
    config = binary(
        tmp_path / "jrh",
        admin__perturbation_config__tests_to_run=[*tests, "stochastic_stability"],
        admin__evaluation_config__tests_to_evaluate=tests,
    )
    out = started(umpirical, folder, config)
    assert "answer_ambiguity is excluded: a model answers again" in out
    assert "there is no test label_flop" in out
    assert "shown to no judge: stochastic_stability" in out
    assert read_study(folder, outside=True).spec.stress.tests == (
        "verbosity-explained",
        "verbosity-short",
        "label-flip-structured",
    )


# Labels as programs leave them.


def test_labels_as_pandas_writes_them_beside_missing_ones_are_read_and_counted(umpirical, tmp_path):
    folder = tmp_path / "study"
    started(umpirical, folder, ordinal(tmp_path / "jrh", rows=essays(labels=("1.0", "3.0", "", "2.0"))))
    spec = read_study(folder, outside=True).spec
    assert spec.dataset.scale.labels == ("1.0", "2.0", "3.0", "4")
    own = read_study(folder / "own-models.yaml", outside=True).spec.judges[0]
    assert own.answer.labels == {"1": "1.0", "2": "2.0", "3": "3.0", "4": "4"}
    code, out, _ = umpirical("check", folder, "--outside")
    assert code == 0
    assert re.search(r"\b3 .*(without|no) label", out) or "unlabeled" in out, out


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (("1", "2", "n/a", "4"), "the label 'n/a' is not one of 1 to 4"),
        (("1", "2", "7", "4"), "the label '7' is not one of 1 to 4"),
        (("1", "1.0", "2", "3"), "are the same grade"),
        (("", "", "", ""), "has no labels"),
    ],
)
def test_labels_that_are_none_are_refused(umpirical, tmp_path, labels, said):
    assert said in refused(umpirical, tmp_path / "study", ordinal(tmp_path / "jrh", rows=essays(labels=labels)))


def test_a_workbook_is_read_as_well(umpirical, tmp_path):
    rows = [row | {"score": int(row["score"])} for row in essays()]
    rows[-1]["score"] = ""
    folder = tmp_path / "study"
    started(umpirical, folder, ordinal(tmp_path / "jrh", data="essays.xlsx", rows=rows))
    assert read_study(folder, outside=True).spec.dataset.scale.labels == ("1", "2", "3", "4")
    for command in ("check", "generate", "run"):
        code, out, err = umpirical(command, folder, "--outside")
        assert code in (0, 3, 4), out + err


def test_data_without_labels_is_never_labelled_by_the_judge(umpirical, tmp_path):
    rows = [{name: value for name, value in row.items() if name != "score"} for row in essays()]
    folder = tmp_path / "study"
    config = ordinal(tmp_path / "jrh", rows=rows, admin__dataset_config__use_original_data_as_expected=True)
    out = started(umpirical, folder, config)
    assert "a judge's own grades are never taken for the truth" in out
    assert read_study(folder, outside=True).spec.dataset.columns.label is None
    for command in ("check", "generate"):
        assert umpirical(command, folder, "--outside")[0] == 0


# What a stranger's configuration may not do.


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"admin__module_name": "../secrets"}, "is not the name of a folder"),
        ({"admin__dataset_config__dataset_name": "../../../secret.csv"}, "is outside"),
        ({"admin__dataset_config__default_params_path__rubric": "/etc/passwd"}, "is outside"),
        ({"admin__dataset_config__default_params_path__rubric": "link.txt"}, "is outside"),
        ({"admin__dataset_config__default_params_path__rubric": "nowhere.txt"}, "has no file nowhere.txt"),
        ({"admin__evaluation_config__template": "../../../secret"}, "is outside"),
        ({"synthetic_data_params__seed": "87; rm"}, "expected a number"),
        ({"synthetic_data_params__temp_increment": 1e-9}, "too many"),
        ({"synthetic_data_params__max_temp_cap": 1e308}, "too many"),
        ({"synthetic_data_params__initial_temp": -1}, "temperatures must not be negative"),
        ({"admin__evaluation_config__max_workers": 10**30}, "4096"),
        ({"admin__evaluation_config__judges": [{"name": "one"}]}, "judge 1 has no model"),
        ({"admin__perturbation_config__tests_to_run": {"label_flip": True}}, "expected a list of names"),
        ({"admin__perturbation_config__preprocess_columns_map__request": "asignment"}, "did you mean 'assignment'"),
    ],
)
def test_what_a_configuration_may_not_name_is_refused(umpirical, tmp_path, changes, said):
    config = ordinal(tmp_path / "jrh")
    (tmp_path / "secret.txt").write_text("secret\n")
    (tmp_path / "jrh" / "inputs" / "data" / "essays" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "secret.md").write_text("secret {request} {response}")
    data = yaml.safe_load(config.read_text())
    for dotted, value in changes.items():
        *outer, last = dotted.split("__")
        place = data
        for part in outer:
            place = place[part]
        place[last] = value
    config.write_text(yaml.safe_dump(data))
    err = refused(umpirical, tmp_path / "study", config)
    assert said in err
    assert "secret {" not in err


def test_paths_of_agents_stay_in_the_folder_of_the_harness(umpirical, tmp_path):
    (tmp_path / "rubric.json").write_text("[]")
    config = agents(tmp_path / "jrh", test_agent_perturbation_config__rubric_path="../rubric.json")
    assert "is outside" in refused(umpirical, tmp_path / "study", config)


def test_code_that_a_configuration_names_is_not_run(umpirical, tmp_path):
    steps = ["os.system", "agent_helpers.preprocessors.strip_tool_call_outputs"]
    config = agents(tmp_path / "jrh", test_agent_perturbation_config__transcript_preprocessors=steps)
    out = started(umpirical, tmp_path / "study", config)
    assert "not run here: os.system" in out
    assert read_study(tmp_path / "study", outside=True).spec.transcripts.preprocess == ("drop-tool-output",)


@pytest.mark.parametrize(
    "text",
    [
        "admin: !!python/object/apply:os.system [touch owned]\n",
        "admin: &a {module_name: x}\nother: *a\n",
        "admin: {module_name: x}\nadmin: {module_name: y}\n",
        "- admin\n",
        "judges: []\n",
        "admin: [1]\n",
        "admin: {dataset_config: 3}\n",
        "admin: {dataset_config: {dataset_name: [a]}}\n",
    ],
)
def test_other_yaml_is_refused_in_so_many_words(umpirical, tmp_path, text, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "config.yml"
    config.write_text(text)
    assert "config.yml" in refused(umpirical, tmp_path / "study", config)
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    "rubric", ["{", "[]", '[{"id": "asks"}]', '["asks"]', '[{"id": "other", "instructions": "x"}]']
)
def test_a_rubric_that_is_none_is_refused(umpirical, tmp_path, rubric):
    err = refused(umpirical, tmp_path / "study", agents(tmp_path / "jrh", rubric=rubric))
    assert "rubric.json" in err


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (GRADER + "{expected}", "tells the judge the label"),
        (GRADER + "{score}", "tells the judge the label"),
        (GRADER + "{context}", "{context}, which is not a column of the data"),
        (GRADER.replace("{response}", ""), "has no {{first}}"),
    ],
)
def test_a_template_that_cannot_be_filled_in_is_refused(umpirical, tmp_path, template, said):
    config = ordinal(tmp_path / "jrh", templates={"single_autograder": template})
    assert said in refused(umpirical, tmp_path / "study", config)


def test_a_template_may_name_other_columns_of_the_data(umpirical, tmp_path):
    templates = TEMPLATES | {"single_autograder": GRADER + "Grade level: {grade_level}\n"}
    folder = tmp_path / "study"
    started(umpirical, folder, ordinal(tmp_path / "jrh", templates=templates))
    [judge] = read_study(folder / "own-models.yaml", outside=True).spec.judges
    assert "Grade level: {{row.grade_level}}" in judge.prompts["baseline"]


def test_without_its_template_a_judge_has_the_built_in_prompt(umpirical, tmp_path):
    folder = tmp_path / "study"
    out = started(umpirical, folder, ordinal(tmp_path / "jrh", templates={}))
    assert "changed  admin.evaluation_config.template   the built-in prompt" in out
    assert (
        "[answer, {{fence}}]" in read_study(folder / "own-models.yaml", outside=True).spec.judges[0].prompts["baseline"]
    )


def test_no_file_is_overwritten(umpirical, tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "rubric.txt").write_text("mine")
    code, _, err = umpirical("init", folder, "--from", ordinal(tmp_path / "jrh"))
    assert (code, "already exists" in err) == (2, True)
    assert [path.name for path in folder.iterdir()] == ["rubric.txt"]
    assert (folder / "rubric.txt").read_text() == "mine"


def test_the_files_may_lie_beside_the_configuration(umpirical, tmp_path):
    config = ordinal(tmp_path / "jrh")
    flat = tmp_path / "flat"
    flat.mkdir()
    for path in (*config.parent.parent.joinpath("data", "essays").iterdir(), config):
        path.rename(flat / path.name)
    started(umpirical, tmp_path / "study", flat / config.name)


@pytest.mark.skipif(not PERSUADE.exists(), reason="the essays lie beside the repository")
def test_real_essays_are_moved_in(umpirical, tmp_path):
    rows = (PERSUADE / "essays.csv").read_text().splitlines()
    assert "holistic_essay_score" in rows[0]
    config = ordinal(
        tmp_path / "jrh",
        admin__dataset_config__default_params={"lowest_score": "1", "highest_score": "6"},
        admin__perturbation_config__preprocess_columns_map={
            "original_idx": "essay_id",
            "request": "assignment",
            "response": "full_text",
            "expected": "holistic_essay_score",
        },
    )
    (tmp_path / "jrh" / "inputs" / "data" / "essays" / "essays.csv").write_bytes((PERSUADE / "essays.csv").read_bytes())
    folder = tmp_path / "study"
    started(umpirical, folder, config)
    for command in ("check", "generate", "run"):
        code, out, err = umpirical(command, folder, "--outside")
        assert code in (0, 3, 4), out + err
