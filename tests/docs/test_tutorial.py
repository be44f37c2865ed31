"""The tutorial and the concepts do what they say: files are written, commands are run, and print what is shown."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.reading import ROOT, every_block, table
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import lend_stimuli
from umpirical.cli import main
from umpirical.reports.decision import EXIT_CODES
from umpirical.reports.gate import INCOMPLETE, REGRESSION

TUTORIAL = ROOT / "docs" / "tutorials"
CONCEPTS = ROOT / "docs" / "explanation"

INSTALLING = ["python3 -m venv venv", "source venv/bin/activate", "pip install umpirical"]
"""Commands that make the environment, which is there already; `supply/install.py` does what they do."""

_CODE = re.compile(r"# exits with (\d+)")


class Reader:
    """Somebody who does what a page says, in an empty folder, and compares what is printed with what it shows."""

    def __init__(self, page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.page, self.folder, self.capsys = page, folder, capsys
        self.ran: list[str] = []

    def follow(self, **changes: str) -> None:
        """`changes` are texts of files that are others here, such as the address of a server."""
        printed = ""
        for block in every_block(self.page):
            if block.file:
                path = self.folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(changes.get(path.name.replace(".", "_"), block.text), encoding="utf-8")
            if block.language == "sh":
                printed = "".join(self._run(line) for line in block.text.splitlines())
            elif block.language == "python" and self.page.parent == CONCEPTS:
                printed = self._run(f"python {block.file}")
            elif block.language == "text" and not block.file:
                assert [line for line in block.text.splitlines() if line not in printed] == []

    def _run(self, line: str) -> str:
        code = int(found[1]) if (found := _CODE.search(line)) else 0
        program, *words = shlex.split(line, comments=True)
        self.ran.append(program)
        match program:
            case "umpirical":
                with pytest.raises(SystemExit) as stop:
                    main(words)
                shown = self.capsys.readouterr()
                assert (stop.value.code or 0) == code, shown.err
                return shown.out
            case "python":
                path = self.folder / words[0]
                exec(compile(path.read_text(encoding="utf-8"), path, "exec"), {"__name__": "__main__"})  # noqa: S102
                return self.capsys.readouterr().out
            case "cp":
                shutil.copy(*self.folder.glob(words[0]), words[1])
            case "pytest":
                subprocess.run([sys.executable, "-m", *shlex.split(line)], cwd=self.folder, check=True)
            case _:
                assert line in INSTALLING
        return ""


@pytest.fixture
def reader(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def made(page: Path, *folders: str, size: str = "screen") -> Reader:
        for name in folders:
            lend_stimuli(tmp_path / name, size=size)
        return Reader(page, tmp_path, capsys)

    return made


def test_the_first_datasheet_is_that_of_a_judge_of_ones_own(reader, tmp_path):
    first = reader(TUTORIAL / "first-datasheet.md", ".")
    lend_stimuli(tmp_path, size="standard")
    first.follow()
    assert first.ran == ["python3", "source", "pip", "umpirical", "umpirical"]
    assert len(list(tmp_path.glob("runs/*/datasheet.html"))) == 2


def test_a_judge_of_ones_own_is_measured_in_each_of_three_forms(reader, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "any")
    page = reader(TUTORIAL / "own-judge.md", ".", "umpirical-runs")
    (written,) = [block.text for block in every_block(page.page) if block.file == "judge.yaml"]
    with ChatServer(lambda _: "They are much alike. [[A]]") as server:
        page.follow(judge_yaml=written.replace("http://127.0.0.1:8000/v1", server.base_url))
    assert "Think first." in server.bodies[0]["messages"][0]["content"]
    assert len(list(tmp_path.glob("runs/*/datasheet.html"))) == 2


def test_a_judge_is_stressed_on_data_of_ones_own(reader, tmp_path):
    reader(TUTORIAL / "own-data.md").follow()
    assert "by-length" in (tmp_path / "my-study" / "report" / "index.html").read_text(encoding="utf-8")


def test_a_gate_lets_the_same_judge_through(reader, tmp_path):
    page = reader(TUTORIAL / "gate-in-ci.md", "judge", ".umpirical")
    page.follow()
    assert page.ran == ["umpirical", "umpirical", "cp", "umpirical", "pytest"]
    assert "<testsuite" in (tmp_path / "gate.xml").read_text(encoding="utf-8")


def test_the_exit_codes_of_the_gate_are_those_of_the_code():
    told = {int(code) for code, _ in table(TUTORIAL / "gate-in-ci.md", "exit code")}
    assert told == {*EXIT_CODES.values(), INCOMPLETE, REGRESSION}


WITH_EXAMPLES = [page for page in sorted(CONCEPTS.glob("*.md")) if any(block.file for block in every_block(page))]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_of_the_concepts_print_what_they_show(reader, page):
    reader(page, "umpirical-runs").follow()


def test_the_decisions_that_are_explained_are_those_that_there_are():
    told = {word: int(code) for word, code, _ in table(CONCEPTS / "use.md", "decision")}
    assert told == {name.replace("-", " ").replace("checks", "restrictions"): code for name, code in EXIT_CODES.items()}
