"""The stimuli of a study: which tasks, made once, gated and kept."""

import json

import pytest

from tests.stimuli.own_tasks import CROSSED, CROSSED_SINGLE, FAMILY, SINGLE, write_own_study
from umpirical.domain.errors import GateError, UsageError
from umpirical.protocols.datasheet.stimuli import chosen_materials, write_stimulus_set
from umpirical.runs.plan import Design
from umpirical.runs.run import open_run
from umpirical.stimuli.controlled.family_files import builtin_families
from umpirical.study.file import check_study, parse_study, read_study
from umpirical.study.prepare import prepare_run

JAM = next(family for family in builtin_families() if family.id == "jam-batch")
JUDGE = "judges: [{name: any, model: {adapter: simulated, name: careful}}]\n"


def study_of(folder, tasks, more=""):
    return parse_study(f"study: s\ntasks: {json.dumps(tasks)}\n{more}{JUDGE}", folder)


# Which tasks.


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (["jam-batch"], [f"jam-batch.{name}" for name in JAM.sets]),
        ([f"jam-batch.{JAM.sets[1]}"], [f"jam-batch.{JAM.sets[1]}"]),
        (["own.yaml"], ["cat-note"]),
        ([f"jam-batch.{JAM.sets[1]}", "own.yaml"], [f"jam-batch.{JAM.sets[1]}", "cat-note"]),
    ],
    ids=["family", "task", "file", "both"],
)
@pytest.mark.parametrize(("ladder", "own"), [("crossed", CROSSED_SINGLE), ("filler", SINGLE)])
def test_tasks_are_chosen_by_family_by_name_or_by_file(tmp_path, tasks, expected, ladder, own):
    (tmp_path / "own.yaml").write_text(own)
    chosen = chosen_materials(study_of(tmp_path, tasks, f"design: {{graded: {ladder}}}\n"))
    assert chosen.ids == expected
    assert (chosen.tasks == ()) == (ladder == "crossed")
    assert [task.id for task in chosen.of_each()] == expected


def test_a_chosen_task_is_shown_in_both_versions_and_with_other_figures_if_it_has_any(tmp_path):
    chosen = chosen_materials(study_of(tmp_path, ["jam-batch"]))
    first, second = JAM.sets[:2]
    assert [task.id for task in chosen.twins[0].versions] == [f"jam-batch.{first}.A", f"jam-batch.{first}.B"]
    figures = {task.id for twin in chosen.figures for task in twin.versions}
    assert {f"jam-batch.{first}.{second}.P", f"jam-batch.{first}.{second}.Q"} <= figures
    # One task alone has no other figures to show.
    alone = chosen_materials(study_of(tmp_path, [f"jam-batch.{first}"]))
    assert len(alone.twins) == 1


@pytest.mark.parametrize("ladder", ["crossed", "filler"])
@pytest.mark.parametrize("size", ["screen", "paper", "standard", "full"])
def test_without_a_word_the_size_chooses(tmp_path, size, ladder):
    study = parse_study(f"study: s\ndesign: {{size: {size}, graded: {ladder}}}\n{JUDGE}", tmp_path)
    families = [task.family for task in chosen_materials(study).of_each()]
    assert len(families) == {"screen": 24, "paper": 10, "standard": 48, "full": 96}[size]
    assert len(set(families)) == min(48 if ladder == "crossed" else 24, len(families))


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (["no-such-task"], "unknown task 'no-such-task'"),
        (["jam-batch", "async-sum", f"jam-batch.{JAM.sets[0]}"], "is chosen twice"),
        (["../own.yaml"], "outside the study folder"),
        (["/etc/own.yaml"], "outside the study folder"),
        (["link.yaml"], "outside the study folder"),
    ],
)
def test_what_cannot_be_chosen_is_refused(tmp_path, tasks, message):
    folder = tmp_path / "study"
    folder.mkdir()
    (tmp_path / "own.yaml").write_text(CROSSED_SINGLE)
    (folder / "link.yaml").symlink_to(tmp_path / "own.yaml")
    with pytest.raises(UsageError, match=message):
        chosen_materials(study_of(folder, tasks))


@pytest.mark.parametrize("ladder", ["crossed", "filler"])
def test_an_unknown_task_is_answered_with_the_families_there_are(tmp_path, ladder):
    with pytest.raises(UsageError) as refused:
        chosen_materials(study_of(tmp_path, ["jam"], f"design: {{graded: {ladder}}}\n"))
    assert "jam-batch" in refused.value.fix
    assert "async-sum" in refused.value.fix
    assert ("pharmacy-chat" in refused.value.fix) == (ladder == "crossed")


@pytest.mark.parametrize(
    ("ladder", "text", "message", "fix"),
    [
        (
            "crossed",
            FAMILY,
            "own.yaml: its tasks have fillers, but do not say what asks for each fact",
            "add context, request, about and asks, or set design: {graded: filler}",
        ),
        ("filler", CROSSED, "own.yaml: its tasks have no fillers", "remove design: {graded: filler}"),
    ],
)
def test_a_file_of_the_other_format_is_refused_with_what_to_do(tmp_path, ladder, text, message, fix):
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(UsageError) as refused:
        chosen_materials(study_of(tmp_path, ["own.yaml"], f"design: {{graded: {ladder}}}\n"))
    assert message in str(refused.value)
    assert refused.value.fix == fix


# Made once, and kept.


@pytest.fixture
def study(tmp_path):
    return read_study(write_own_study(tmp_path, CROSSED))


def test_a_set_says_what_it_is_made_of_and_what_the_gates_said(study):
    kept = write_stimulus_set(study)
    manifest = kept.manifest
    assert (manifest["size"], manifest["seed"], manifest["stimuli"]) == ("screen", 1, len(list(kept)))
    assert manifest["tasks"] == ["cat-note.ida", "cat-note.omar", "cat-note.june"]
    assert (manifest["task_families"], manifest["domains"]) == ({"cat-note": 3}, {"household": 3})
    assert len(manifest["gates"]) == 15
    assert manifest["graded"] == "crossed"
    assert all(gate["passed"] and gate["found"] and gate["allowed"] for gate in manifest["gates"])


def test_a_set_is_made_once(study, monkeypatch):
    first = write_stimulus_set(study)
    monkeypatch.setattr("umpirical.protocols.datasheet.stimuli.datasheet_stimuli", None)
    again = write_stimulus_set(study)
    assert (again.folder, again.digest) == (first.folder, first.digest)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "umpirical.yaml", "study: own", "study: own\nseed: 2"),
        lambda folder: (folder / "umpirical.yaml", "size: screen", "size: standard"),
        lambda folder: (folder / "own.yaml", "gets tuna for dinner", "has tuna for dinner"),
        lambda folder: (folder / "own.yaml", "which kind", "which sort"),
    ],
    ids=["seed", "size", "sentence", "request"],
)
def test_another_seed_size_or_sentence_makes_another_set(study, change):
    first = write_stimulus_set(study)
    file, old, new = change(study.folder)
    file.write_text(file.read_text().replace(old, new))
    other = write_stimulus_set(read_study(study.folder))
    assert other.folder != first.folder
    assert other.digest != first.digest


def test_a_set_that_is_not_sound_is_not_kept(tmp_path):
    study = read_study(write_own_study(tmp_path, CROSSED.replace("a green dish is", "a green tuna is")))
    with pytest.raises(GateError, match="gate sound-tasks"):
        write_stimulus_set(study)
    assert not (tmp_path / "stimuli").exists()


# Checked, and planned.


def test_checking_counts_the_calls_of_every_judge_and_writes_nothing(tmp_path):
    folder = write_own_study(tmp_path, CROSSED)
    file = folder / "umpirical.yaml"
    file.write_text(
        file.read_text().replace("size: screen", "size: screen, repeats: 2, variants: [baseline, strict]")
        + "  - {name: fixed, callable: 'json:dumps', capabilities: {order_controllable: false, accepts_empty: false}}\n"
    )
    before = sorted(path.name for path in folder.iterdir())
    checked = check_study(read_study(folder), {})
    assert checked.problems == []
    # 3 tasks of 2 crossed pairs and an equal pair, and a conflict, in two orders; 2 vacuum prompts each. Variants,
    # repeats: two.
    assert checked.calls["any"] == 4 * (3 * 12 + 2)
    # One order, one variant, and of the vacuum prompts only two identical answers.
    assert checked.calls["fixed"] == 2 * (3 * 5 + 1 + 2)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_missing_key_is_a_problem_and_a_key_that_is_set_is_none(tmp_path):
    model = "model: {adapter: openai-compatible, name: m, base_url: 'http://127.0.0.1:9/v1', api_key_env: MY_KEY}"
    folder = write_own_study(tmp_path, CROSSED, judge=model)
    assert check_study(read_study(folder), {}).problems == ["judge any: the environment variable MY_KEY is not set"]
    assert check_study(read_study(folder), {"MY_KEY": "x"}).problems == []


def test_a_planned_run_says_that_both_orders_are_in_its_plan(study):
    run = prepare_run(study, study.spec.judges[0])
    [gate] = run.store.manifest["gates"]
    assert (gate["name"], gate["passed"]) == ("both-orders", True)
    opened = open_run(run.store.folder)
    assert (opened.folder, opened.judge.name) == (run.store.folder, "any")
    assert opened.stimuli.digest == write_stimulus_set(study).digest


def test_a_judge_whose_order_is_fixed_is_not_held_to_both(tmp_path):
    judge = "model: {adapter: simulated, name: careful}\n    capabilities: {order_controllable: false}"
    study = read_study(write_own_study(tmp_path, CROSSED, judge=judge))
    assert prepare_run(study, study.spec.judges[0]).store.manifest["gates"] == []


def test_a_plan_that_lacks_an_order_is_refused(study, monkeypatch):
    every_order = Design.presentations

    def one_order(*arguments):
        return iter(list(every_order(*arguments))[:1])

    monkeypatch.setattr(Design, "presentations", one_order)
    with pytest.raises(GateError, match="gate both-orders"):
        prepare_run(study, study.spec.judges[0])
    assert not (study.folder / "runs").exists()


def test_a_run_whose_stimuli_are_gone_says_so(study):
    run = prepare_run(study, study.spec.judges[0])
    write_stimulus_set(study).folder.rename(study.folder / "elsewhere")
    with pytest.raises(UsageError, match="are missing"):
        open_run(run.store.folder)


def test_a_folder_that_is_no_run_says_so(tmp_path):
    with pytest.raises(UsageError, match="is not a run"):
        open_run(tmp_path)
