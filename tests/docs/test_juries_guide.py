"""The guide to juries does what it says."""

import shlex

import pytest

from tests.docs.reading import ROOT, blocks, table
from umpirical.cli import main
from umpirical.stats.juries import RULES, effective_judges

GUIDE = ROOT / "docs" / "decide" / "juries.md"
(STUDY,) = blocks(GUIDE, "yaml")
(COMMANDS,) = blocks(GUIDE, "sh")


def test_the_commands_lead_from_a_study_to_juries(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "umpirical.yaml").write_text(STUDY)
    for line in COMMANDS.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "umpirical"
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        # The judges of the example are bad on purpose: their decisions are no errors.
        assert stop.value.code in {0, 3, 4}, capsys.readouterr().err
    assert len(list(tmp_path.glob("juries/*/datasheet.html"))) == 3


def test_every_rule_is_described():
    assert [row[0].strip("`") for row in table(GUIDE, "rule")] == list(RULES)


def test_nine_judges_are_worth_what_it_says():
    assert f"are worth {effective_judges(9, 0.5):g}" in GUIDE.read_text()
