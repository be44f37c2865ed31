"""docs/decide/claims.md: its table is made, its commands are run, and they print what it shows."""

import shlex

import pytest

from tests.docs.reading import ROOT, blocks, table
from tests.stimuli.built import lend_stimuli
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.cli.verdicts import COLUMNS
from umpirical.datasets.verdicts import targets

PAGE = ROOT / "docs" / "decide" / "claims.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each block of commands prints, in the order of the page."""
    folder = tmp_path_factory.mktemp("claims")
    lend_stimuli(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for make in blocks(PAGE, "python"):
            exec(make, {})  # noqa: S102  # our own example
        (folder / "passes.csv").write_text("verdict\n" + "pass\n" * 300 + "fail\n" * 700)
        return [list(_printed(commands, patch)) for commands in blocks(PAGE, "sh")]


def _printed(commands, patch):
    from io import StringIO

    for line in commands.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "umpirical"
        patch.setattr("sys.stdout", out := StringIO())
        with pytest.raises(SystemExit) as ended:
            main(trusting(arguments))
        # A datasheet of this size leaves checks open.
        assert ended.value.code == (4 if arguments[0] == "datasheet" else 0)
        yield from out.getvalue().splitlines()


def test_what_it_shows_is_printed(printed):
    shown = blocks(PAGE, "text")
    assert len(shown) == len(printed)
    for text, lines in zip(shown, printed, strict=True):
        assert [line for line in text.splitlines() if line.strip() != "..." and line not in lines] == []


def test_it_names_every_column():
    assert {cell.strip("`-"): about for cell, about in table(PAGE, "option")} == COLUMNS
    assert list(COLUMNS) == list(targets.COLUMNS)
