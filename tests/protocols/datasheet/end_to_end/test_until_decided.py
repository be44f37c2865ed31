"""Runs that stop as soon as they are decided, from the study to the verdict."""

import json
import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from tests.view.serving import viewing
from umpirical.cli import main
from umpirical.domain.errors import UsageError
from umpirical.protocols.datasheet.comparison import compare_runs
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.protocol import command_again
from umpirical.reports.decision import EXIT_CODES
from umpirical.runs.run import open_run
from umpirical.store.snapshots import snapshot
from umpirical.study import run as study_run
from umpirical.study.estimate import estimate_run
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run
from umpirical.study.results import finished_run
from umpirical.study.run import complete_run
from umpirical.study.verification import verify_run

MOST = 4560


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One study for all judges: its test cases are made once."""
    return tmp_path_factory.mktemp("decided")


def study_of(folder, judge="careful", **keys):
    design = ", ".join(f"{key}: {value}" for key, value in {"until": "decided", **keys}.items())
    entry = f"{{name: {judge}, model: {{adapter: simulated, name: {judge}}}}}"
    return parse_study(f"study: s\ndesign: {{{design}}}\njudges:\n  - {entry}\n", folder)


def planned(folder, judge="careful", policy="", **keys):
    study = study_of(folder, judge, **keys)
    if policy:
        study = replace(study, policy=policy)
    return prepare_run(study, study.spec.judges[0])


def measured(run):
    return complete_run(run, 8, lambda *_: Silent())


@pytest.fixture(scope="module")
def careful(folder):
    return measured(planned(folder))


@pytest.mark.parametrize("judge", ["coin", "slot-locked"])
def test_a_broken_judge_is_refused_for_cents(folder, judge):
    record = measured(planned(folder, judge)).record
    assert record.decision.verdict == "do-not-use"
    assert record.run.trials <= 64


def test_a_careful_judge_is_accepted_with_fewer_calls_than_a_fixed_size_takes(careful):
    record = careful.record
    assert record.decision.verdict == "use"
    assert {check.verdict for check in record.checks} == {"PASS"}
    # A `standard` datasheet takes 1,368.
    assert record.run.trials < 1000
    assert record.complete
    assert record.findings[-1] == f"It stopped after {record.run.trials} calls, when the verdict was reached."


def test_its_intervals_say_that_they_hold_at_every_look(careful):
    rates = [one.result for one in careful.record.measures if one.scale == "rate" and one.result.kind == "estimate"]
    methods = {result.interval.method for result in rates if result.per_task}
    assert methods == {"confidence sequence over task families"}
    dark = next(one.result for one in careful.record.measures if (one.name, one.stratum) == ("dark-current", ""))
    assert sum(units * tasks for _, units, tasks in dark.per_task) == dark.denominator
    assert 0 < dark.interval.high <= 0.08


def test_a_run_of_a_fixed_size_has_none_of_this(folder):
    study = parse_study(
        "study: s\ndesign: {size: screen}\njudges:\n  - {name: j, model: {adapter: simulated, name: careful}}\n", folder
    )
    text = measured(prepare_run(study, study.spec.judges[0])).documents.json.read_text()
    assert "per_task" not in text
    assert "looks" not in json.loads(text)["run"]


def test_it_is_verified_and_asks_nothing_again(careful):
    run = open_run(careful.folder)
    assert all(check.holds for check in verify_run(careful.folder))
    before = snapshot_of(run)
    again = planned(run.call.folder)
    assert (again.folder, again.most_trials, again.calls_left()) == (careful.folder, careful.record.run.trials, 0)
    assert measured(again).record.run.trials == careful.record.run.trials
    assert snapshot_of(run) == before


def snapshot_of(run):
    with snapshot(run.store) as now:
        answers = {trial: answer.text for _, found in now.walk() for trial, answer in found.items()}
    return run.store.plan_files(), answers


class Stops:
    """Ends a run after so many answers, as a kill would."""

    def __init__(self, after):
        self.left = after

    def resumed(self, trials): ...

    def settled(self, *_):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt

    def __enter__(self):
        return self

    def __exit__(self, *_): ...


@pytest.mark.parametrize("after", [1, 50, 300])
def test_stopped_anywhere_it_ends_as_an_undisturbed_run(careful, tmp_path, after):
    copy_stimuli(careful, tmp_path)
    run = planned(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        complete_run(run, 8, lambda *_: Stops(after))
    assert measured(planned(tmp_path)).record.decision == careful.record.decision
    assert snapshot_of(open_run(run.folder)) == snapshot_of(open_run(careful.folder))


def test_killed_while_a_round_is_planned_it_is_as_it_was(careful, tmp_path, monkeypatch):
    copy_stimuli(careful, tmp_path)
    run = planned(tmp_path)

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("umpirical.store.runs.RunStore.finish_plan", killed)
        with pytest.raises(KeyboardInterrupt):
            measured(run)
    assert open_run(run.folder).shards == 1
    assert measured(planned(tmp_path)).record.decision == careful.record.decision
    assert snapshot_of(open_run(run.folder)) == snapshot_of(open_run(careful.folder))


def copy_stimuli(careful, folder):
    """They take seconds to make."""
    shutil.copytree(careful.folder.parent.parent / "stimuli", folder / "stimuli")


@pytest.mark.parametrize("read", ["measured", "not measured"])
def test_the_view_finds_every_trial_of_every_round(careful, tmp_path, read):
    copy_stimuli(careful, tmp_path)
    folder = shutil.copytree(careful.folder, tmp_path / "runs" / careful.folder.name)
    if read == "not measured":
        (folder / "judgments.parquet").unlink()
    run = open_run(folder)
    tasks = {stimulus.id: stimulus.task for stimulus in run.stimuli}
    planned = [tasks[trial.stimulus_id] for shard in range(run.shards) for trial, _ in run.store.plan_shard(shard)]
    first_of_last = len(planned) - run.store.planned(run.shards - 1)
    with viewing(tmp_path) as view:
        for place in (0, 20, first_of_last - 1, first_of_last, len(planned) - 1):
            page = view.get(f"{view.run}/trials/{place}")
            assert (page.status, planned[place].splitlines()[0] in unescape(page.text)) == (200, True), place
        assert view.get(f"{view.run}/trials/{len(planned)}").status == 404


def test_another_policy_goes_on_from_where_it_stopped(careful, tmp_path):
    copy_stimuli(careful, tmp_path)
    first = measured(planned(tmp_path, policy="ci-smoke"))
    assert first.record.decision.verdict == "use"
    second = measured(planned(tmp_path, policy="ranking"))
    assert second.folder == first.folder
    assert second.record.run.trials > first.record.run.trials


def test_its_price_is_that_of_all_it_may_ask(careful, folder, tmp_path):
    copy_stimuli(careful, tmp_path)
    run = planned(tmp_path)
    estimate = estimate_run(run, None, concurrency=8)
    assert run.trials < 20
    assert (estimate.trials, estimate.calls, estimate.answered) == (MOST, MOST, 0)
    # Once it is decided, nothing is left to pay for.
    done = estimate_run(planned(folder), None, concurrency=8)
    assert (done.calls, done.trials) == (0, careful.record.run.trials)


def test_a_limit_on_calls_is_kept_and_leaves_it_open_and_a_higher_one_goes_on(careful, tmp_path):
    copy_stimuli(careful, tmp_path)

    def limited(most, folder=tmp_path):
        study = replace(study_of(folder), max_calls=most)
        return prepare_run(study, study.spec.judges[0])

    first = measured(limited(100)).record
    assert 90 <= first.run.trials <= 100
    assert first.decision.verdict == "not-enough-data"
    assert first.findings[-1] == f"It is still open after {first.run.trials} calls."
    assert [limited(most).calls_left() for most in (100, 50)] == [0, 0]
    assert limited(None).most_trials == MOST
    before = snapshot_of(again := limited(160))[1]
    # Raising the limit is no new test: the bounds were those of the whole set from the start.
    more = measured(again)
    assert 150 <= more.record.run.trials <= 160
    assert more.record.run.looks == first.run.looks == careful.record.run.looks
    assert before.items() < snapshot_of(open_run(more.folder))[1].items()
    assert all(check.holds for check in verify_run(more.folder))
    # One that is decided asks nothing, whatever the limit.
    decided = open_run(careful.folder).call.folder
    assert [limited(most, decided).most_trials for most in (2000, None)] == [careful.record.run.trials] * 2


def command(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main(["datasheet", *words, "--yes", "--json"])
    shown = capsys.readouterr()
    [summary] = json.loads(shown.out)
    return stop.value.code, open_run(Path(summary["datasheet"]).parent), shown.err


def test_a_command_without_a_size_asks_until_decided(folder, capsys):
    code, run, _ = command(capsys, "simulated:slot-locked", "--folder", str(folder))
    assert (code, run.manifest["until"]) == (EXIT_CODES["do-not-use"], "decided")
    assert run.trials <= 64
    assert run.manifest["command"] == "umpirical datasheet simulated:slot-locked"
    code, run, said = command(capsys, "simulated:short-sighted", "--folder", str(folder), "--max-calls", "40")
    assert code == EXIT_CODES["not-enough-data"]
    assert run.trials <= 43
    again = run.manifest["command"]
    assert again.endswith("--max-calls 40")
    assert command_again(again) == again.split()
    assert re.search(
        r"^short-sighted  1\d calls: \d of 17 checks decided; .* has \d+ of about \d+ ", said, re.MULTILINE
    )


def test_a_grader_is_asked_as_long_as_it_helps(folder, capsys):
    """Two identical blanks are no question to a grader: a round of them alone would end the run."""
    _, run, _ = command(capsys, "simulated:steady-grader", "--folder", str(folder))
    checks = json.loads((run.folder / "datasheet.json").read_text(encoding="utf-8"))["checks"]
    [blanks] = [check for check in checks if check["measure"] == "dark-current"]
    assert blanks["verdict"] == "PASS"


def test_the_rounds_are_drawn_from_the_answers_so_far(careful):
    """Nothing else decides: the record read again gives the same next round, which is none."""
    run = open_run(careful.folder)
    assert not DATASHEET.next_round(run).stimuli
    assert study_run.next_shards(run, Silent()) == range(0)
    assert finished_run(careful.folder).record == careful.record


@pytest.mark.parametrize(
    ("design", "until"),
    [
        ("", "decided"),
        ("size: decided", "decided"),
        ("size: screen", "asked"),
        ("graded: filler", "asked"),
        ("size: screen, until: decided", "decided"),
        ("until: asked", "asked"),
    ],
)
def test_a_study_asks_until_decided_unless_it_says_how_much(tmp_path, design, until):
    judge = "{name: j, model: {adapter: simulated, name: careful}}"
    study = parse_study(f"study: s\ndesign: {{{design}}}\njudges: [{judge}]\n", tmp_path)
    assert study.spec.design.until == until


def test_what_it_may_be_is_said(tmp_path):
    with pytest.raises(UsageError, match="until"):
        study_of(tmp_path, until="soon")


def test_runs_of_different_length_are_compared_on_what_both_were_asked(careful, folder):
    coin = measured(planned(folder, "coin"))
    asked = [
        {trial.stimulus_id for shard in range(run.shards) for trial, _ in run.store.plan_shard(shard)}
        for run in (open_run(careful.folder), open_run(coin.folder))
    ]
    shared = len(asked[0] & asked[1])
    compared = compare_runs([careful.folder, coin.folder])
    assert f"at least {shared}. With --size" in compared.findings[-1]
    blanks = [one.difference for one in compared.differences if (one.measure, one.stratum) == ("dark-current", "")]
    assert 0 < blanks[0].denominator <= shared < len(asked[0])
    # A judge against itself was asked the same, and differs in nothing.
    same = list(DATASHEET.differences(open_run(coin.folder), open_run(coin.folder)))
    assert all(one.result.value == 0 for one in same if one.result.kind == "estimate")
