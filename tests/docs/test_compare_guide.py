"""The guide to comparisons: its commands are run, its Python is run, and its words are those of the record."""

import shlex
from typing import get_args

from tests.docs.reading import ROOT, blocks, table
from tests.stimuli.built import lend_stimuli
from tests.trusting import trusting
from umpirical.reports.comparison import MARGINS, NARROWER, Words

GUIDE = ROOT / "docs" / "decide" / "compare.md"


def test_the_commands_and_the_python_do_what_they_say(umpirical, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lend_stimuli(tmp_path / "judges")
    (commands,) = blocks(GUIDE, "sh")
    for line in commands.splitlines():
        _, *arguments = shlex.split(line)
        code, _, err = umpirical(*trusting(arguments))
        assert code in ({0} if arguments[0] == "compare" else {3, 4}), err
    assert len(list(tmp_path.glob("judges/comparisons/*/comparison.html"))) == 2
    (code,) = blocks(GUIDE, "python")
    told = {}
    exec(code.replace('folder="judges")', 'folder="judges", progress=False)'), told)  # noqa: S102
    assert told["found"].picks["ci-smoke"] == ["careful"]
    assert told["found"].picks["ranking"] == []
    assert (tmp_path / "comparison" / "comparison.html").is_file()


def test_the_words_and_the_margins_are_those_of_the_code():
    told = {word for row in table(GUIDE, "words") for word in row[0].split(", ")}
    own = {word.removeprefix("first ").removeprefix("second ") for word in get_args(Words)}
    assert told == own | {"worse"}
    text = " ".join(GUIDE.read_text(encoding="utf-8").split())
    assert MARGINS == {"rate": 0.05}
    assert set(NARROWER.values()) == {0.02}
    assert "The margin is 5 percentage points, and 2 for unparsed replies and failed calls." in text
