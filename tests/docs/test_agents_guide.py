"""The guide to judges of agents does what it says."""

import re
import shlex
import shutil

import pytest

from tests.docs.reading import ROOT, blocks, table
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.domain.policies import Closing, Figures, Forbid, Require
from umpirical.judges.simulated.examiner import AUDITOR_PROFILES, PAIR_AUDITOR_PROFILES
from umpirical.protocols.agent.page import STACKS
from umpirical.stimuli.transcripts.cases import EDITS
from umpirical.study.file import parse_study

GUIDE = ROOT / "docs" / "data" / "agents.md"
(COMMANDS,) = blocks(GUIDE, "sh")
STUDY, COMPARING, *REWRITING = blocks(GUIDE, "yaml")


def test_the_commands_lead_from_logs_to_a_report(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples" / "agents" / "logs", tmp_path / "logs")
    for line in COMMANDS.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "umpirical"
        with pytest.raises(SystemExit) as stop:
            main(trusting(arguments))
        assert not stop.value.code, capsys.readouterr().err
    [page] = (tmp_path / "my-agent").glob("runs/*/agent.html")
    assert "Detection by edit" in page.read_text()


def test_the_study_file_is_one(tmp_path):
    (tmp_path / "logs").mkdir()
    study = parse_study(STUDY, tmp_path)
    given = [rule.given() for rule in study.spec.rules]
    assert [each.rule for each in given] == [Require("check_stock"), Forbid("issue_refund"), Figures(), Closing()]
    assert given[3].only == {"category": "booking"}


def test_the_study_with_a_judge_that_compares_is_one(tmp_path):
    (tmp_path / "logs").mkdir()
    judges = parse_study(COMPARING, tmp_path).spec.judges
    assert [judge.kind for judge in judges] == ["grade", "compare"]
    assert "keeps every rule of the policy" in judges[1].prompts["baseline"]


@pytest.mark.parametrize(("study", "shown"), list(zip(REWRITING, ("agent-perturbation", "checks-first"), strict=True)))
def test_a_study_with_models_that_rewrite_is_rehearsed(tmp_path, umpirical, study, shown):
    shutil.copytree(ROOT / "examples" / "agents" / "logs", tmp_path / "logs")
    (tmp_path / "umpirical.yaml").write_text(study)
    for command in ("generate", "run"):
        code, _, err = umpirical(command, tmp_path, "--yes")
        assert code == 0, err
    [page] = tmp_path.glob("runs/*/agent.html")
    assert shown in page.read_text()


def test_every_edit_and_every_simulated_judge_is_listed():
    rules, judges = table(GUIDE, "rule"), table(GUIDE, "simulated judge")
    assert [row[2].partition(":")[0].strip("`") for row in rules] == [EDITS[kind] for kind in EDITS]
    assert [row[0].strip("`") for row in judges] == list(AUDITOR_PROFILES)
    comparing = table(GUIDE, "simulated judge that compares")
    assert [row[0].strip("`") for row in comparing] == list(PAIR_AUDITOR_PROFILES)


def test_every_measure_of_a_judge_that_compares_is_explained():
    parts = [
        name for row in table(GUIDE, "all pairs, in parts that add up to 1") for name in re.findall("`(.+?)`", row[1])
    ]
    assert parts == [name for names in STACKS.values() for name in names]
