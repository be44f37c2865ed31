"""Forged records: a lax policy under a shipped name, a decision that was edited in. None of them passes."""

import json
import shutil

import pytest

import umpirical as front_door
from tests.attack.runs import copy_study
from tests.claims.tables import planted_rows, write_table
from tests.protocols.agent.agent_studies import write_study as write_agent_study
from tests.protocols.pairs.pair_studies import labelled
from tests.protocols.pairs.pair_studies import write_study as write_pair_study
from tests.protocols.stress.samples import report as stress_report
from umpirical.domain.errors import StoreError, UsageError
from umpirical.protocols.agent.protocol import AGENT
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.report import held_to
from umpirical.protocols.datasheet.spec import SHELF, preset
from umpirical.protocols.pairs.protocol import PAIRS
from umpirical.protocols.stress.protocol import STRESS
from umpirical.reports.policy import Policy
from umpirical.runs.run import open_run
from umpirical.store.runs import RunStore
from umpirical.study.results import gate_run


@pytest.fixture
def run(sound, tmp_path):
    """A run whose judge is not shown to be good enough for anything: a screen of 336 calls."""
    return copy_study(sound, tmp_path / "study")


def lax(policy, name):
    """A policy that every judge meets."""
    limits = [
        limit.model_copy(update={"cures": (), **({"at_most": 1.0} if limit.at_least is None else {"at_least": 0.0})})
        for limit in policy.compare
    ]
    return policy.model_copy(update={"policy": name, "compare": tuple(limits)})


def forge(run, name="ranking", **changes):
    """The record of a run by a lax policy, as nothing but Umpirical's own code would have written it."""
    record = held_to(DATASHEET.report(open_run(run)), lax(preset(), name))
    assert record.decision.verdict == "use"
    path = run.parent.parent / "forged.json"
    path.write_text(DATASHEET.render(record.model_copy(update=changes)))
    return path


NAMES = ["ranking", "Ranking", "ranking ", "ran-king", "ｒanking", "claim"]
NAMES += ["r\u0430nking", "rank\u0131ng", "r\xe4nking", "rank\u200bing", "c1aim", "cIaim", "adjudicati0n"]
"""Two of these have a letter of another alphabet that looks like the shipped one."""


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_name_in_another_spelling_is_still_that_name(name):
    with pytest.raises(StoreError, match="is not the policy"):
        SHELF.refuse_forged(lax(preset(), name))


@pytest.mark.parametrize("name", ["ranking-2", "banking", "pr\xfcfung", "\u8bc4\u4f30\u8bc4\u4f30\u8bc4", "claims"])
def test_another_name_is_ones_own(name):
    assert not SHELF.forgery(lax(preset(), name))


def test_a_lax_policy_under_a_shipped_name_is_refused_everywhere(run, umpirical):
    forged = forge(run)
    code, out, _ = umpirical("verify", run, "--record", forged)
    assert code == 1
    assert "DAMAGED  forged.json" in out
    assert "is not the policy" in out
    code, out, err = umpirical("gate", forged)
    assert (code, out) == (1, "")
    assert "is not the policy" in err
    assert "--policy" in err
    correction = front_door.correct(write_table(run / "v.csv", planted_rows()), estimate="win-rate")
    with pytest.raises(StoreError, match="is not the policy"):
        front_door.claim(correction, datasheet=forged)
    # In the place of the run's own record it is held to the responses too, and refused before.
    for written in run.glob("datasheet.*"):
        written.unlink()
    shutil.copy(forged, run / "datasheet.json")
    with pytest.raises(StoreError, match="is not the policy"):
        front_door.claim(correction, datasheet=run)


def test_the_shipped_policy_decides_a_forged_record_again(run, umpirical):
    code, out, _ = umpirical("gate", forge(run), "--policy", "ranking")
    assert code == 4
    assert f"Policy ranking, digest {SHELF.digest(preset())[:16]}" in out


def test_a_policy_of_ones_own_is_named_as_that(run, umpirical, monkeypatch, tmp_path):
    forged = forge(run, "ours")
    words = f"ours (not a shipped policy), digest {SHELF.digest(lax(preset(), 'ours'))[:16]}"
    code, out, _ = umpirical("verify", run, "--record", forged)
    assert code == 0
    assert f"policy {words}" in out
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    code, out, _ = umpirical("gate", forged, "--junit", tmp_path / "gate.xml")
    assert code == 0
    record = DATASHEET.parse(forged.read_text())
    for text in (out, (tmp_path / "gate.xml").read_text(), DATASHEET.page(record), DATASHEET.card(record)):
        assert words in text
    assert "not a shipped policy" in (tmp_path / "summary.md").read_text()
    told = json.loads(umpirical("gate", forged, "--json")[1])
    assert (told["policy"], told["policy_shipped"]) == ("ours", False)


def test_a_run_whose_manifest_has_a_lax_policy_is_refused(run, umpirical):
    store = RunStore(run)
    store.write_manifest({**store.manifest, "policy": lax(preset(), "ranking").model_dump(mode="json")})
    assert umpirical("gate", run)[0] == 1
    umpirical("report", run)
    code, out, _ = umpirical("verify", run)
    assert code == 1
    assert "DAMAGED  datasheet.json" in out
    page = (run / "datasheet.html").read_text()
    assert "not a shipped policy" in page


def test_a_record_without_a_policy_is_decided_by_the_shipped_one(run, umpirical):
    forged = forge(run, policy=None)
    assert umpirical("gate", forged)[0] == 4
    assert umpirical("verify", run, "--record", forged)[0] == 1
    correction = front_door.correct(write_table(run / "v.csv", planted_rows()), estimate="win-rate")
    with pytest.raises(StoreError, match="does not follow from its measures"):
        front_door.claim(correction, datasheet=forged)


def test_a_follow_up_cannot_be_published_as_a_first_look(run, umpirical):
    store = RunStore(run)
    store.write_manifest({**store.manifest, "policy": preset().at_look(2).model_dump(mode="json")})
    umpirical("report", run)
    honest = DATASHEET.parse((run / "datasheet.json").read_text())
    record = held_to(honest.model_copy(update={"policy": None}), preset())
    assert (honest.policy.look, record.policy.look) == (2, 1)
    (run / "datasheet.json").write_text(DATASHEET.render(record))
    code, out, _ = umpirical("verify", run)
    assert code == 1
    assert "policy" in out.splitlines()[-1]


def test_error_rates_are_part_of_a_policy_and_the_look_is_not():
    assert SHELF.ships(preset().at_look(3))
    for name in ("accepts", "refuses"):
        assert SHELF.forgery(preset().model_copy(update={name: 0.2})) == "ranking"


def test_an_edited_decision_is_decided_again(run, umpirical):
    record = json.loads((run / "datasheet.json").read_text())
    assert record["decision"]["verdict"] == "not-enough-data"
    record["decision"]["verdict"] = "use"
    forged = run.parent.parent / "forged.json"
    forged.write_text(json.dumps(record))
    assert umpirical("gate", forged)[0] == 4
    correction = front_door.correct(write_table(run / "v.csv", planted_rows()), estimate="win-rate")
    with pytest.raises(StoreError, match="does not follow from its measures"):
        front_door.claim(correction, datasheet=forged)


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_file_does_not_take_a_shipped_name(tmp_path, name):
    text = f"policy: {json.dumps(name)}\nextends: ranking\ncompare:\n  - {{measure: dark-current, at_most: 0.9}}\n"
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(UsageError, match="is not the shipped policy"):
        SHELF.chosen("own.yaml", tmp_path)


def test_an_unchanged_copy_of_a_shipped_policy_may_keep_its_name(tmp_path):
    (tmp_path / "own.yaml").write_text("policy: claim\nextends: claim\n")
    assert SHELF.ships(SHELF.chosen("own.yaml", tmp_path))


# The other protocols.


def refused(record, protocol, folder):
    path = folder / "forged.json"
    path.write_text(protocol.render(record))
    with pytest.raises(StoreError, match="is not the policy"):
        gate_run(path)
    return True


def test_a_forged_stress_report_is_refused(tmp_path):
    sample = stress_report()
    shipped = STRESS.policy_of(sample)
    checks = tuple(one.model_copy(update={"at_most": 1.0}) if one.at_most else one for one in shipped.checks)
    assert refused(
        STRESS.as_published(
            sample, sample.model_copy(update={"own_policy": shipped.model_copy(update={"checks": checks})})
        ),
        STRESS,
        tmp_path,
    )


def test_verdicts_that_were_edited_into_a_stress_report_are_decided_again(tmp_path):
    sample = stress_report()
    cells = [cell.model_copy(update={"verdict": "PASS"}) for cell in sample.verdicts]
    path = tmp_path / "stress.json"
    path.write_text(STRESS.render(sample.model_copy(update={"verdicts": cells})))
    honest = tmp_path / "honest.json"
    honest.write_text(STRESS.render(sample))
    assert gate_run(path).verdict == gate_run(honest).verdict != "use"


def test_forged_reports_on_pairs_are_refused(tmp_path):
    folder = write_pair_study(tmp_path, rows=labelled(12), profiles=["slot-locked"])
    [report] = front_door.run(folder, trust=True)
    policy = report.record.policy.model_copy(update={"accuracy": 0.001, "same_position": 0.999})
    assert refused(report.record.model_copy(update={"policy": policy}), PAIRS, tmp_path)


def test_forged_reports_on_agents_are_refused(tmp_path):
    [report] = front_door.run(write_agent_study(tmp_path, "no-calls", count=12), trust=True)
    policy = Policy(policy="agent", about="", grade=AGENT.policy_of(report.record).grade[-1:])
    assert refused(report.record.model_copy(update={"policy": policy}), AGENT, tmp_path)
