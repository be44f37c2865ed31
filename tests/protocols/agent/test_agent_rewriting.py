"""Transcripts that models rewrite, from the study file to the report, with simulated models in every role."""

import pytest

from tests.protocols.agent.agent_studies import write_study
from umpirical.domain.transcripts import transcript_from_text
from umpirical.protocols.agent.record import AgentReport
from umpirical.stimuli.transcripts.cases import message_changes
from umpirical.study.file import load_study
from umpirical.study.trust import agree_if

REWRITING = """\
rewriting:
  items: {polite: The agent is polite in every message., tells: The agent says what it has done.}
  planner: {model: {adapter: simulated-rewriter, name: planner}}
  editor: {model: {adapter: simulated-rewriter, name: editor}}
  summariser: {model: {adapter: simulated-rewriter, name: summariser}}
  verifier: {model: {adapter: simulated-rewriter, name: verifier%s}}
"""


def study_of(folder, more="", rates=""):
    return write_study(folder, "sound-auditor", count=8, more=REWRITING % rates + more)


def report_of(folder):
    [path] = folder.glob("runs/*/agent.json")
    return AgentReport.model_validate_json(path.read_text())


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    from umpirical import run

    folder = write_study(tmp_path_factory.mktemp("plain"), "sound-auditor", count=8)
    [report] = run(folder, trust=True)
    return report.record


def test_rewritten_transcripts_are_measured_and_never_pooled_with_what_programs_edited(tmp_path, umpirical, plain):
    folder = study_of(tmp_path / "s")
    code, _, err = umpirical("run", folder, "--yes")
    assert code == 2
    assert "are not rewritten yet" in err
    code, out, err = umpirical("generate", folder, "--yes")
    assert code == 0, err
    assert "agent-perturbation" in out
    umpirical("run", folder, "--yes")
    report = report_of(folder)
    edits = {edit.name: edit for edit in report.edits}
    assert edits["agent-perturbation"].cases + edits["agent-positives"].cases == 16
    assert edits["as-found"].cases == 16
    assert sum(edits["agent-perturbation"].dropped.values()) == 16 - edits["agent-perturbation"].cases
    for name in ("violation-detection", "false-alarm", "policy-following", "accuracy"):
        assert whole(report, name) == whole(plain, name)
    [found] = [one for one in report.measures if (one.name, one.stratum, one.group) == ("accuracy", "as-found", "")]
    assert found.result.denominator == 16


def whole(report, name):
    [found] = [one for one in report.measures if (one.name, one.stratum, one.group) == (name, "", "")]
    return found.result.denominator


@pytest.mark.parametrize("rates", [", model_args: {refusal: 1}", ", model_args: {nonsense: 1}"])
def test_without_a_verdict_of_a_verifier_nothing_becomes_a_case(tmp_path, umpirical, rates):
    folder = study_of(tmp_path / "s", rates=rates)
    umpirical("generate", folder, "--yes")
    umpirical("run", folder, "--yes")
    report = report_of(folder)
    assert all(edit.cases == 0 for edit in report.edits if edit.name in ("agent-perturbation", "agent-positives"))
    assert all(edit.dropped for edit in report.edits if edit.name in ("agent-perturbation", "agent-positives"))


def test_a_verifier_that_cannot_be_asked_leaves_everything_open(tmp_path, umpirical):
    folder = study_of(tmp_path / "s", rates=", model_args: {failure: 1}")
    umpirical("generate", folder, "--yes")
    code, _, err = umpirical("run", folder, "--yes")
    assert code == 2
    assert "are not rewritten yet" in err


def test_what_people_have_not_settled_is_excluded_if_the_study_says_so(tmp_path, umpirical):
    folder = study_of(tmp_path / "s", more="review: {undecided: exclude}\n")
    umpirical("generate", folder, "--yes")
    umpirical("run", folder, "--yes")
    report = report_of(folder)
    assert "as-found" not in {edit.name for edit in report.edits}
    reasons = [reason for edit in report.edits for reason in edit.dropped]
    assert "rejected or undecided in review" in reasons


def test_people_are_shown_both_transcripts_and_not_the_aim(tmp_path, umpirical):
    folder = study_of(tmp_path / "s")
    study = load_study(folder, agree_if(trust=True), outside=False)
    assert study.protocol.writing(study).items_after(0, most=5) == []
    umpirical("generate", folder, "--yes")
    items = [item for _, item in study.protocol.writing(study).items_after(0, most=100)]
    assert len(items) == 16
    for item in items:
        before, after = (transcript_from_text(text) for text in (item.before, item.after))
        assert list(message_changes(before, after))
        assert item.labels == ("violated", "satisfied")
        assert not any(word in item.question + item.task for word in ("violate ", "satisfy "))
        assert all(check.passed for check in item.checks)


def test_check_says_what_is_left_and_a_study_without_models_has_nothing_to_generate(tmp_path, umpirical):
    code, out, _ = umpirical("check", study_of(tmp_path / "s"))
    assert code == 0
    assert "0 of 32 transcripts are rewritten" in out
    code, _, err = umpirical("generate", write_study(tmp_path / "t", "sound-auditor", count=3), "--yes")
    assert code == 2
    assert "nothing to generate" in err


def test_votes_that_are_no_majority_are_refused(tmp_path, umpirical):
    folder = study_of(tmp_path / "s")
    text = (folder / "umpirical.yaml").read_text().replace("rewriting:\n", "rewriting:\n  agree: 1\n")
    (folder / "umpirical.yaml").write_text(text)
    code, _, err = umpirical("check", folder)
    assert code == 2
    assert "not a majority" in err
