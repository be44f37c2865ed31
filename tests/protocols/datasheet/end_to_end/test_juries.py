"""Juries of simulated judges, end to end: seated, measured, and not to be fooled."""

import json
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import umpirical
from umpirical.cli import main
from umpirical.domain.errors import StoreError, UsageError
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.jury import read_members, seat
from umpirical.protocols.jury_record import Jury, render_jury_markdown
from umpirical.reports.decision import EXIT_CODES, TITLES
from umpirical.reports.record import record_json
from umpirical.stats.juries import NO_VOTE
from umpirical.store.runs import RunStore
from umpirical.study.file import read_study
from umpirical.study.jury import seat_jury
from umpirical.study.prepare import prepare_run

JUDGES = ("careful", "surface-swayed", "short-sighted", "coin", "mumbling")

STUDY = """\
study: jurors
judges:
{judges}
design: {{size: screen}}
"""


def write_study(folder: Path, judges=JUDGES, seed: int = 1) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [f"  - {{name: {name}, model: {{adapter: simulated, name: {name}}}}}" for name in judges]
    text = STUDY.format(judges="\n".join(lines)) + f"seed: {seed}\n"
    (folder / "umpirical.yaml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    study = write_study(tmp_path_factory.mktemp("jurors"))
    return {report.judge: report.folder for report in umpirical.run(study, progress=False)}


@pytest.fixture(scope="module")
def shared(runs):
    return read_members(list(runs.values()), DATASHEET)


def test_a_jury_has_a_datasheet_of_its_own(runs, tmp_path):
    found = seat_jury(list(runs.values()), tmp_path)
    sheet = Datasheet.model_validate_json(found.documents.json.read_text())
    assert sheet == found.report
    assert sheet.judge.model == "jury, majority: " + ", ".join(JUDGES)
    assert sheet.run.trials == 336
    assert sheet.decision.verdict in {"use", "use-with-restrictions", "do-not-use", "not-enough-data"}
    assert all(name in found.documents.html.read_text() for name in JUDGES)
    assert Jury.model_validate_json(found.record.read_text()) == found.jury
    assert record_json(found.jury) == found.record.read_text()
    assert not found.jury.learned_on
    assert len(found.jury.reported_on) == 24


def test_it_is_found_again_and_its_fingerprint_is_that_of_its_members_and_its_rule(runs, tmp_path):
    one, again = (seat_jury(list(runs.values()), tmp_path / name) for name in ("one", "again"))
    other = seat_jury(list(runs.values())[:3], tmp_path)
    learned = seat_jury(list(runs.values()), tmp_path, rule="weighted")
    assert one.report == again.report
    assert len({each.report.judge.fingerprint for each in (one, other, learned)}) == 3


@pytest.mark.parametrize("rule", ["weighted", "dawid-skene"])
def test_what_a_rule_has_learned_from_is_not_what_it_is_measured_on(rule, shared, runs, tmp_path):
    found = seat_jury(list(runs.values()), tmp_path, rule=rule)
    assert not set(found.jury.learned_on) & set(found.jury.reported_on)
    assert set(found.report.run.tasks) == set(found.jury.reported_on)
    seated = seat(shared, rule, choose=False, budget=None)
    hidden = shared.numbers_of(seated.reported_on)
    scrambled = replace(
        shared.ballots, truth=np.where(np.isin(shared.ballots.clusters, hidden), 0, shared.ballots.truth)
    )
    assert np.array_equal(seat(replace(shared, ballots=scrambled), rule, choose=False, budget=None).how.support,
                          seated.how.support)  # fmt: skip


def test_a_choice_does_not_depend_on_what_it_is_reported_on(shared):
    seated = seat(shared, None, choose=True, budget=None)
    hidden = np.isin(shared.ballots.clusters, shared.numbers_of(seated.reported_on))
    votes = np.where(hidden[:, None], NO_VOTE, shared.ballots.votes)
    blind = seat(replace(shared, ballots=replace(shared.ballots, votes=votes)), None, choose=True, budget=None)
    assert (blind.judges, blind.rule) == (seated.judges, seated.rule)


def test_a_chosen_jury_is_of_three_or_more_and_says_from_whom(runs, tmp_path):
    found = seat_jury(list(runs.values()), tmp_path, choose=True).jury
    assert len(found.members) >= 3
    assert found.chosen_from == list(JUDGES)
    assert found.looked_best_at > 0.9
    assert "careful" in {member.name for member in found.members}
    assert found.best_judge == "careful"


def test_one_good_judge_among_four_bad_ones_is_better_alone(runs, tmp_path):
    found = seat_jury(list(runs.values()), tmp_path).jury
    assert found.gain.interval.high < 0
    assert any("the jury is significantly worse" in finding for finding in found.findings)


def test_unreadable_answers_are_no_votes_and_make_no_verdict(runs, shared, tmp_path):
    """A jury of judges that mumble must not turn what cannot be read into ties."""
    found = seat_jury(list(runs.values()), tmp_path).jury
    mumbling = next(member for member in found.members if member.name == "mumbling")
    assert mumbling.without_verdict > 10
    silent = replace(shared.ballots, votes=np.full_like(shared.ballots.votes, NO_VOTE))
    seated = seat(replace(shared, ballots=silent), "majority", choose=False, budget=None)
    assert (seated.verdicts(silent) == NO_VOTE).all()


def test_a_jury_without_a_quorum_is_counted_as_unparsed(runs, tmp_path, monkeypatch):
    from umpirical.study import jury

    def silenced(paths, protocol, rule):
        found = read_members(paths, protocol, rule)
        votes = found.ballots.votes.copy()
        votes[: len(votes) // 2] = NO_VOTE
        return replace(found, ballots=replace(found.ballots, votes=votes))

    monkeypatch.setattr(jury, "read_members", silenced)
    found = seat_jury(list(runs.values()), tmp_path)
    assert found.jury.without_verdict == sum(row.unparsed for row in found.report.audit) >= 168
    assert found.report.decision.verdict == "do-not-use"


def test_fewer_than_three_are_no_jury_and_a_run_has_one_vote(runs, tmp_path):
    careful, swayed, *_ = runs.values()
    with pytest.raises(UsageError, match="at least three judges"):
        seat_jury([careful, swayed], tmp_path)
    with pytest.raises(UsageError, match="named twice"):
        seat_jury([careful, swayed, careful.parent / "." / careful.name], tmp_path)


def test_a_judge_that_was_measured_twice_has_one_vote(runs, tmp_path):
    """A study's folder may hold an older run of a judge beside the newer one."""
    study = shutil.copytree(runs["careful"].parents[1], tmp_path / "twice")
    [again] = umpirical.run(study, judges=["coin"], fresh=True, progress=False, trust=True)
    with pytest.raises(UsageError, match="two runs are of the same judge"):
        seat_jury([study / "runs" / runs["careful"].name, study / "runs" / runs["coin"].name, again.folder], tmp_path)


def test_a_run_of_another_protocol_is_refused(runs, tmp_path):
    study = shutil.copytree(runs["careful"].parents[1], tmp_path / "other-protocol")
    copies = [study / "runs" / run.name for run in runs.values()]
    store = RunStore(copies[0])
    store.write_manifest({**store.manifest, "protocol": "umpirical-agent/2"})
    with pytest.raises(UsageError, match=r"is of protocol datasheet, and .* of agent"):
        seat_jury(copies, tmp_path)


def test_other_stimuli_are_refused(runs, tmp_path):
    [other] = umpirical.run(write_study(tmp_path / "other", ["coin"], seed=2), progress=False)
    with pytest.raises(UsageError, match="different test cases"):
        seat_jury([*list(runs.values())[:2], other.folder], tmp_path)


def test_a_run_that_is_not_complete_is_refused(tmp_path):
    study = read_study(write_study(tmp_path / "open", ["careful", "coin", "mumbling"]))
    opened = [prepare_run(study, judge).folder for judge in study.spec.judges]
    with pytest.raises(UsageError, match="is not complete: 336 calls are missing"):
        seat_jury(opened, tmp_path)


def test_a_changed_response_is_refused(runs, tmp_path):
    study = shutil.copytree(runs["careful"].parents[1], tmp_path / "changed")
    copies = [study / "runs" / run.name for run in runs.values()]
    shard = next(copies[1].glob("responses/*.parquet"))
    damaged = bytearray(shard.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    shard.write_bytes(bytes(damaged))
    with pytest.raises(StoreError):
        seat_jury(copies, tmp_path)


def test_a_budget_needs_prices_and_a_choice(runs, tmp_path):
    everybody = list(runs.values())
    with pytest.raises(UsageError, match="needs --choose"):
        seat_jury(everybody, tmp_path, budget=Decimal(1))
    with pytest.raises(UsageError, match="is unknown"):
        seat_jury(everybody, tmp_path, budget=Decimal(1), choose=True)
    with pytest.raises(UsageError, match="unknown rule 'mode'"):
        seat_jury(everybody, tmp_path, rule="mode")
    with pytest.raises(UsageError, match="cannot vote by median"):
        seat_jury(everybody, tmp_path, rule="median")


def test_the_card_is_inert(runs, tmp_path):
    found = seat_jury(list(runs.values()), tmp_path).jury
    hostile = found.model_copy(update={"name": "<script>alert(1)</script> | # x"})
    assert "<script>" not in render_jury_markdown(hostile)


def test_the_command_exits_with_the_decision_on_the_jury(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    study = next(iter(runs.values())).parents[1]
    with pytest.raises(SystemExit) as stop:
        main(["jury", str(study), "--choose"])
    said = capsys.readouterr().out
    [document] = study.glob("juries/*/datasheet.json")
    decided = json.loads(document.read_text())["decision"]
    assert stop.value.code == EXIT_CODES[decided["verdict"]]
    assert f": {TITLES[decided['verdict']]} (policy {decided['policy_name']}): {decided['sentences'][0]}" in said
    assert "were selected from 5 judges on 12 task families" in said
    # Like a comparison, it lies in the study, and not where the command was typed.
    assert len(list(study.glob("juries/*/datasheet.html"))) == 1
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SystemExit):
        main(["jury", str(study), "--json"])
    assert json.loads(capsys.readouterr().out)["format"] == "judge-jury/2"


def test_the_python_api_gives_the_same(runs, tmp_path):
    report = umpirical.jury(runs.values(), folder=tmp_path)
    assert report.jury == seat_jury(list(runs.values()), tmp_path).jury
    assert report.findings[0].startswith("Balanced accuracy of 5 judges by majority: ")
    assert report.measure("dark-current").result.denominator > 0
    assert report.decision
    with pytest.raises(UsageError, match="invalid budget: 'much'"):
        umpirical.jury(runs.values(), choose=True, budget="much", folder=tmp_path)
