"""From what a person types to a judge."""

import pytest

from umpirical.domain.errors import ConfigError, UsageError
from umpirical.protocols.datasheet.spec import DatasheetDesignSpec
from umpirical.study.file import judges_study

STUDY = """\
study: mine
seed: 4
tasks: [jam-batch]
concurrency: 3
judges:
  - name: house
    model: {adapter: simulated, name: careful}
  - name: other
    model: {adapter: simulated, name: coin}
design: {size: full, repeats: 3}
"""

BASELINE = {"size": "screen"}
DESIGN = {"size": "screen", "variants": ["baseline", "strict"], "repeats": 2}


def study_of(targets, folder, design, **defaults):
    return judges_study(targets, folder, protocol="datasheet", keys={"design": design}, defaults=defaults)


@pytest.mark.parametrize(
    ("target", "name", "adapter", "model"),
    [
        ("simulated:careful", "careful", "simulated", "careful"),
        ("openai/gpt-4o", "openai-gpt-4o", "inspect", "openai/gpt-4o"),
        ("openrouter/meta/llama:free", "openrouter-meta-llama-free", "inspect", "openrouter/meta/llama:free"),
    ],
)
def test_a_model_is_named_by_its_provider_or_as_simulated(tmp_path, target, name, adapter, model):
    [judge] = study_of([target], tmp_path, DESIGN).spec.judges
    assert (judge.name, judge.model.adapter, judge.model.name) == (name, adapter, model)
    assert list(judge.prompts) == ["baseline", "strict"]


def test_a_function_is_named_by_its_module(tmp_path):
    [judge] = study_of(["my.module:Class.judge"], tmp_path, BASELINE).spec.judges
    assert (judge.name, judge.callable, judge.prompts) == ("my.module-Class.judge", "my.module:Class.judge", {})


def test_a_long_name_is_cut_to_what_a_name_may_be(tmp_path):
    [judge] = study_of([f"provider/{'m' * 200}"], tmp_path, DESIGN).spec.judges
    assert len(judge.name) == 64


def test_a_file_is_a_judge_named_after_it_unless_it_says_otherwise(tmp_path):
    (tmp_path / "terse.yaml").write_text("model: {adapter: simulated, name: coin}\n")
    (tmp_path / "named.yml").write_text("name: called\nmodel: {adapter: simulated, name: coin}\n")
    study = study_of(["terse.yaml", "named.yml"], tmp_path, DESIGN)
    assert [judge.name for judge in study.spec.judges] == ["terse", "called"]


def test_without_a_study_file_the_design_is_what_was_asked_for(tmp_path):
    study = study_of(["simulated:coin"], tmp_path, DESIGN, seed=8)
    assert (study.spec.design, study.spec.seed, study.spec.tasks) == (DatasheetDesignSpec(**DESIGN), 8, None)
    assert study.folder == tmp_path


def test_a_judge_of_the_study_file_keeps_all_of_the_study_but_its_design(tmp_path):
    (tmp_path / "umpirical.yaml").write_text(STUDY)
    study = study_of(["house"], tmp_path, DESIGN)
    assert [judge.name for judge in study.spec.judges] == ["house"]
    assert (study.spec.seed, study.spec.tasks, study.spec.concurrency) == (4, ["jam-batch"], 3)
    assert study.spec.design == DatasheetDesignSpec(**DESIGN)
    assert list(study.spec.judges[0].prompts) == ["baseline", "strict"]


def test_a_judge_that_is_not_in_the_study_file_may_be_named_all_the_same(tmp_path):
    (tmp_path / "umpirical.yaml").write_text(STUDY)
    study = study_of(["simulated:coin"], tmp_path, DESIGN)
    assert [judge.name for judge in study.spec.judges] == ["coin"]


def test_prompts_that_a_judge_names_are_its_variants(tmp_path):
    (tmp_path / "own.yaml").write_text(
        "model: {adapter: simulated, name: coin}\nprompts: {baseline: 'builtin:compare-strict'}\n"
    )
    [judge] = study_of(["own.yaml"], tmp_path, BASELINE).spec.judges
    assert list(judge.prompts) == ["baseline"]


def test_an_variant_that_a_judge_has_no_prompt_for_is_not_dropped_without_a_word(tmp_path):
    with pytest.raises(UsageError, match="no prompt for prompt variant strict"):
        study_of(["my.module:judge"], tmp_path, DESIGN)


@pytest.mark.parametrize("target", ["nobody", "", "careful"])
def test_what_names_no_judge_is_answered_with_how_to_name_one(tmp_path, target):
    (tmp_path / "umpirical.yaml").write_text(STUDY)
    with pytest.raises(UsageError, match="unknown judge") as refused:
        study_of([target], tmp_path, DESIGN)
    for way in ("judge.yaml", "module:function", "provider/model", "simulated:NAME"):
        assert way in refused.value.fix


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"judge\.yaml: no such file"):
        study_of(["judge.yaml"], tmp_path, DESIGN)
