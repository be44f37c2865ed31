"""docs/decide/publish.md: its commands are run, and they print what it shows."""

import re
import shlex

from tests.docs.reading import ROOT, blocks, table
from tests.stimuli.built import lend_stimuli
from umpirical.claims.packages import documents_of

PAGE = ROOT / "docs" / "decide" / "publish.md"


def test_the_commands_print_what_the_page_shows(umpirical, tmp_path, monkeypatch):
    lend_stimuli(tmp_path)
    monkeypatch.chdir(tmp_path)
    shown = blocks(PAGE, "text")
    for commands, text in zip(blocks(PAGE, "sh"), shown, strict=True):
        for line in commands.splitlines():
            arguments = shlex.split(line)[1:]
            code, out, err = umpirical(*arguments)
            # A datasheet of this size leaves checks open.
            assert code == (4 if arguments[0] == "datasheet" else 0), err
        for line in filter(None, (line.rstrip() for line in text.splitlines())):
            # What differs from run to run is written as dots.
            pattern = re.escape(line).replace(r"\.\.\.", ".*").replace("2,126,581", "[0-9,]+")
            assert re.search(pattern, out), line


def test_the_documents_of_a_package_are_on_the_page():
    listed = " ".join(row[0] for row in table(PAGE, "file"))
    assert [name for name in documents_of("datasheet")[1:] if name.removeprefix("datasheet") not in listed] == []
