"""docs/data/past-verdicts.md shows what the command prints, and names the formats and columns that there are."""

import pytest

from tests.datasets.verdicts.samples import TABLE
from tests.docs.reading import ROOT, blocks, table
from umpirical.cli import main
from umpirical.cli.verdicts import ROLES
from umpirical.datasets.verdicts.formats import FORMATS

PAGE = ROOT / "docs" / "data" / "past-verdicts.md"


def test_what_it_shows_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "verdicts.csv").write_text(TABLE)
    assert blocks(PAGE, "sh")[0].split()[1:] == ["measure", "verdicts.csv"]
    with pytest.raises(SystemExit) as ended:
        main(["measure", "verdicts.csv"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out.splitlines()
    (shown,) = blocks(PAGE, "text")
    assert [line for line in shown.splitlines() if line.strip() != "..." and line not in printed] == []


def test_it_names_every_format_and_every_column():
    formats = [name for cell, *_ in table(PAGE, "format") for name in cell.replace("`", "").split(", ")]
    assert formats == list(FORMATS)
    assert [cell.strip("`-") for cell, *_ in table(PAGE, "option")] == list(ROLES)
