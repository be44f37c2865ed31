"""The guide to labeled pairs does what it says."""

import re
import shlex

import pytest

from tests.docs.reading import ROOT, blocks, table
from tests.protocols.pairs.pair_studies import labelled, write_rows
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.pairs.protocol import pairs_needed
from umpirical.protocols.pairs.spec import PairsPolicy
from umpirical.study.file import read_study

GUIDE = ROOT / "docs" / "data" / "labelled-pairs.md"
(COMMANDS,) = blocks(GUIDE, "sh")
(STUDY,) = blocks(GUIDE, "yaml")
TEXT = GUIDE.read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())


def test_the_commands_lead_from_a_file_to_a_report(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "pairs.jsonl", labelled(120))
    for line in COMMANDS.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "umpirical"
        with pytest.raises(SystemExit) as stop:
            main(trusting(arguments))
        assert not stop.value.code, capsys.readouterr().err
    [page] = (tmp_path / "my-pairs").glob("runs/*/pairs.html")
    assert "Accuracy with both orders" in page.read_text()


def test_the_study_file_is_one_and_asks_as_much_as_is_said(tmp_path, umpirical):
    (tmp_path / "umpirical.yaml").write_text(STUDY)
    write_rows(tmp_path / "pairs.jsonl", labelled(240))
    study = read_study(tmp_path)
    assert study.protocol.name == "pairs"
    assert study.spec.policy == PairsPolicy()
    code, out, _ = umpirical("check", tmp_path)
    assert code == 0
    assert "judge rehearsal: 2,000 calls" in out
    assert f"needs about {pairs_needed(PairsPolicy())} pairs" in out
    assert f"needs {pairs_needed(PairsPolicy())} pairs with these thresholds" in WORDS


def test_every_measure_of_labelled_pairs_is_named():
    own = {spec.name for spec in MEASURES if "pairs" in spec.protocols}
    named = set(re.findall(r"`([a-z0-9-]+)`", TEXT))
    assert own - named == {"both-orders-error"}
    assert "wrong in both orders" in WORDS


def test_the_table_of_checks_is_the_policy():
    rows = table(GUIDE, "key of `policy`")
    assert [row[0].strip("`") for row in rows] == [name for name in PairsPolicy.model_fields if name != "policy"]
    assert [float(row[2]) for row in rows] == [getattr(PairsPolicy(), row[0].strip("`")) for row in rows]
