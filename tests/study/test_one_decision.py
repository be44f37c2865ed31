"""One decision everywhere: every place that shows a verdict shows the same one, for eight judges of each protocol.

And every command that a person is told to go on with runs as it is printed.
"""

import json
import re
import shlex
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

import umpirical as front_door
from tests.protocols.agent.agent_studies import write_study as write_agent_study
from tests.protocols.pairs.pair_studies import labelled
from tests.protocols.pairs.pair_studies import write_study as write_pairs_study
from tests.stimuli.built import lend_stimuli
from tests.trusting import trusting
from tests.view.serving import viewing
from umpirical.cli import cli
from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.reports.decision import EXIT_CODES, INCOMPLETE, TITLES
from umpirical.view.gallery import write_gallery

FAILING = """\
from zlib import crc32

def failing(task, {answers}):
    if crc32(repr(({answers})).encode()) % 4 == 0:
        raise RuntimeError("the server is down")
    return {verdict}
"""
COMPARES, GRADES = (
    FAILING.format(answers=answers, verdict=verdict)
    for answers, verdict in (("first, second", '"tie"'), ("response", '"3"'))
)

FAILS = "  - {name: failing, callable: 'judge.py:failing'}\n"

WIDE = """\
policy: wide
compare:
  - {measure: dark-current, at_most: 0.5}
  - {measure: target-sensitivity, at: 5, at_least: 0.5}
  - {measure: stable-cross-sensitivity, at_most: 0.2, essential: false}
  - {measure: unparsed-rate, at_most: 0.09, essential: false}
"""
"""So wide that a few calls settle it, one way or another."""

COMPARERS = ("careful", "slot-locked", "surface-swayed", "something-from-nothing", "short-sighted", "coin", "mumbling")


@dataclass(frozen=True)
class Measured:
    """A study whose judges have been measured, with what `run` said of each."""

    folder: Path
    protocol: str
    said: dict[str, str]
    code: int
    """Of all judges but the one whose calls fail."""
    incomplete: int
    """Of that one."""

    def run_of(self, judge: str) -> Path:
        [found] = (self.folder / "runs").glob(f"{judge}-??????*")
        return found


def command(*arguments):
    """What a command exits with, and what it prints."""
    result = CliRunner().invoke(cli, trusting(arguments), standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value or 0, result.stdout


def write_study(folder, text, judges, *, code):
    """Writes a study of simulated judges, and of one whose calls fail now and then."""
    (folder / "judge.py").write_text(code)
    listed = "".join(f"  - {{name: {name}, model: {{adapter: simulated, name: {name}}}}}\n" for name in judges)
    (folder / "umpirical.yaml").write_text(f"study: s\n{text}judges:\n{listed}{FAILS}")


def datasheet_study(folder):
    (folder / "wide.yaml").write_text(WIDE)
    text = "policy: wide.yaml\ntasks: [jam-batch, thunder-gap]\ndesign: {size: screen}\n"
    write_study(folder, text, COMPARERS, code=COMPARES)


def stress_study(folder):
    sentences = [" ".join(f"Sentence {row + part} is about towns." for part in range(4)) for row in range(30)]
    rows = [f'"{text}\n\nThe end of {row}.",{1 + row % 5}' for row, text in enumerate(sentences)]
    (folder / "wide.yaml").write_text(
        "policy: wide\nchecks: [{measure: unparsed-rate, at_most: 0.3}, {measure: failure-rate, at_most: 0.3}]\n"
    )
    (folder / "essays.csv").write_text("\n".join(["text,grade", *rows]))
    text = (
        "dataset:\n  path: essays.csv\n  columns: {response: text, label: grade}\n"
        "  scale: {kind: ordinal, labels: ['1', '2', '3', '4', '5']}\n"
        "stress: {tests: [vertical-spacing], margin: 0.3, policy: wide.yaml}\n"
    )
    judges = ("sound-examiner", "format-swayed", "moody", "severe", "middling", "constant", "arbitrary")
    write_study(folder, text, judges, code=GRADES)


def agent_study(folder):
    judges = ("sound-auditor", "last-message", "beginning", "policy-blind", "alarmist")
    write_agent_study(folder, *judges, compare=("sound-auditor", "slot-1"), count=4)
    (folder / "judge.py").write_text(GRADES)
    with (folder / "umpirical.yaml").open("a") as file:
        file.write(FAILS)


def pairs_study(folder):
    more = "edits: [inline-spacing]\npolicy: {accuracy: 0.5, same_position: 0.5, changes: 0.3, without_verdict: 0.3}\n"
    write_pairs_study(folder, rows=labelled(24), profiles=COMPARERS, functions=COMPARES, more=more)


STUDIES = {"datasheet": datasheet_study, "stress": stress_study, "agent": agent_study, "pairs": pairs_study}


@pytest.fixture(scope="module", autouse=True)
def _measured_once():
    """Commands read responses again whenever they report. Here, each run is read once, and no model is fitted."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("umpirical.measures.signal.estimate_signal", _no_fit)
        # What is measured without a fit is nobody else's.
        patched.setattr("umpirical.protocols.datasheet.report.remembered", lambda *given: given[-1]())
        for name in STUDIES:
            kind = type(PROTOCOLS.get(name))
            patched.setattr(kind, "report", _once(kind.report))
        yield


def _no_fit(*_, **__):
    raise ValueError("not here: it takes most of the time")


def _once(report):
    known = {}

    def read(protocol, run):
        key = (run.folder.resolve(), (run.folder / "run.json").stat().st_mtime_ns)
        if key not in known:
            known[key] = report(protocol, run)
        return known[key]

    return read


@pytest.fixture(scope="module", params=STUDIES)
def study(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    STUDIES[request.param](folder)
    judges = re.findall(r"^  - \{name: ([\w-]+)", (folder / "umpirical.yaml").read_text(), re.MULTILINE)
    assert len(judges) == 8
    *others, failing = judges
    chosen = [word for judge in others for word in ("--judge", judge)]
    code, out = command("run", folder, *chosen, "--no-preflight", "--yes")
    said = re.findall(r"^  [A-Z][a-z ]+ \(policy .*?(?=^  [A-Z][a-z ]+ \(policy |\Z)", out, re.MULTILINE | re.DOTALL)
    incomplete, last = command("run", folder, "--judge", failing, "--no-preflight", "--yes")
    return Measured(folder, request.param, dict(zip(judges, [*said, last], strict=True)), code, incomplete)


def word(text):
    """The verdict that a text opens with, as programs read it."""
    for verdict, title in sorted(TITLES.items(), key=lambda entry: -len(entry[1])):
        if unescape(text).strip().startswith(title):
            return verdict
    return f"none: {text[:60]!r}"


def shown(page):
    """The verdict on a page, or in a part of it."""
    found = re.search(r'class="verdict">([^<]+)<', page)
    return word(found[1]) if found else "none"


def places(study, judge, shared):
    """Every place that shows a verdict on a judge, with what it says."""
    run, said = study.run_of(judge), study.said[judge]
    document = run / f"{study.protocol}.json"
    record = json.loads(document.read_text())
    reported, reports = command("report", run)
    gated, gate = command("gate", run, "--json", "--junit", run / "junit.xml")
    told = json.loads(gate)
    html = run / "report" / "index.html" if study.protocol == "stress" else run / f"{study.protocol}.html"
    policy = record["decision"]["policy_name"]
    yield "the record", record["decision"]["verdict"]
    yield "run, at the terminal", word(said)
    yield "report, at the terminal", word(reports)
    yield "report --json", json.loads(command("report", run, "--json")[1])["decision"]["verdict"]
    yield "gate, at the terminal", word(command("gate", run)[1].partition(": ")[2])
    yield "gate --json", told["verdict"]
    alone, record_gate = command("gate", document, "--json")
    yield "gate of the record alone", json.loads(record_gate)["verdict"]
    yield "gate, JUnit", re.search(r'name="umpirical.verdict" value="([^"]*)"', (run / "junit.xml").read_text())[1]
    yield "page", shown(html.read_text())
    yield "card", word((run / f"{study.protocol}.md").read_text().partition("**")[2])
    yield "gallery", shared["gallery"][judge]
    yield "runs --json", shared["runs"][judge]
    yield "view, list of runs", shared["listed"][judge]
    yield "view, page of the run", shown(shared["viewed"].get(f"/runs/{run.name}").text)
    yield "view, gate", shown(shared["viewed"].get(f"/runs/{run.name}/gate?policy=&baseline=").text)
    yield "Python", front_door.load(document).decision
    if study.protocol == "stress":
        boxes = (study.folder / "report" / "index.html").read_text().split('<div class="judge ')
        yield "side by side", shown(next(box for box in boxes if f"<strong>{judge}</strong>" in box))
    assert set(re.findall(r"^[^:]*? \(policy ([^)]*)\):", "\n".join((said, reports, told["line"])), re.MULTILINE)) == {
        policy
    }
    expected = INCOMPLETE if judge == "failing" else EXIT_CODES[record["decision"]["verdict"]]
    codes = {reported, gated, alone}
    yield "exit codes", record["decision"]["verdict"] if codes == {expected} else f"exit codes {codes}"


@contextmanager
def looking(study, tmp_path):
    """What shows all judges of a study at once, made once."""
    index = write_gallery(study.folder, tmp_path / "gallery").index.read_text()
    cards = re.findall(r'<li class="card.*?</li>', index, re.DOTALL)
    named = {judge: next(card for card in cards if f"{study.run_of(judge).name}.html" in card) for judge in study.said}
    states = {state["judge"]: state["decision"] for state in json.loads(command("list", study.folder, "--json")[1])}
    with viewing(study.folder) as viewed:
        rows = re.findall(r"<tr>.*?</tr>", viewed.get("/").text, re.DOTALL)
        found = {judge: next(row for row in rows if study.run_of(judge).name in row) for judge in study.said}
        yield {
            "gallery": {judge: shown(card) for judge, card in named.items()},
            "runs": states,
            "listed": {j: re.search(r'class="word ([\w-]+)"', row)[1] for j, row in found.items()},
            "viewed": viewed,
        }


def test_every_place_shows_the_same_verdict(study, tmp_path):
    with looking(study, tmp_path) as shared:
        table = {judge: dict(places(study, judge, shared)) for judge in study.said}
    assert {judge: set(row.values()) for judge, row in table.items()} == {
        judge: {row["the record"]} for judge, row in table.items()
    }
    assert len({row["the record"] for row in table.values()}) >= 2
    # Of the judge whose calls fail nothing is decided yet.
    assert table["failing"]["the record"] == "not-enough-data"
    assert study.incomplete == INCOMPLETE
    codes = {EXIT_CODES[row["the record"]] for judge, row in table.items() if judge != "failing"}
    assert study.code == (3 if 3 in codes else max(codes))


def test_a_comparison_shows_the_verdicts_of_its_datasheets(study, tmp_path):
    if study.protocol != "datasheet":
        return
    members = [study.run_of(judge) for judge in ("careful", "coin", "short-sighted", "failing")]
    records = [json.loads((run / "datasheet.json").read_text())["decision"]["verdict"] for run in members]
    _, text = command("compare", *members, "--out", tmp_path / "compared", "--json")
    compared = json.loads(text)
    assert [side["decision"]["verdict"] for side in compared["judges"]] == records
    [own] = [pick for pick in compared["picks"] if pick["own"]]
    assert own["verdicts"] == records


IDLE = {
    "stress": ("constant", "sound-examiner", "stable verdicts mean little"),
    "agent": ("compare-sound-auditor", "compare-slot-1", "still prefers the same run"),
}
"""By protocol, two judges, and what is said of the first alone: the other reads, or cannot fail at it."""


def test_nothing_is_praised_that_cannot_fail_for_the_judge(study):
    if study.protocol in IDLE:
        told, other, words = IDLE[study.protocol]
        assert words in study.said[told]
        assert words not in study.said[other]


# What a person is told to do next.


def printed(text):
    """The commands in what a command printed: after "next:", and after "fix:" where a command follows."""
    return re.findall(r"(?:next:  |fix: )(umpirical [^;]*?)(?:  |$)", text, re.MULTILINE)


def steps(page):
    """The commands of a datasheet's page, which are for the study's folder."""
    listed = re.search(r'<ol class="steps">(.*?)</ol>', page, re.DOTALL)
    return [unescape(found) for found in re.findall(r"<code>(.*?)</code>", listed[1])] if listed else []


def typed(text):
    """Types a command as it stands, and agrees to what it asks; returns its exit code."""
    program, *arguments = shlex.split(text)
    assert program == "umpirical"
    return command(*arguments, *(["--yes"] if arguments[0] in {"run", "datasheet", "extend"} else []))[0]


MEASURED = {0, 3, 4, INCOMPLETE}
"""Exit codes of a command that did what it is for. 2 is a command that cannot be run so."""


def test_every_next_command_runs_as_it_is_printed(study, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    told, listed = set[str](), set[str]()
    for judge, said in study.said.items():
        run = study.run_of(judge)
        code, gate = command("gate", run)
        found = {*printed(said), *printed(gate), *printed(command("report", run)[1])}
        # What is incomplete can be resumed, and nothing is suggested about a decision that stands.
        assert bool(found) == (code == INCOMPLETE or (code == 4 and study.protocol == "datasheet")), judge
        told |= found
        listed |= set(steps((run / "datasheet.html").read_text())) if study.protocol == "datasheet" else set()
    for text in sorted(told):
        assert typed(text) in MEASURED, text
    monkeypatch.chdir(study.folder)
    for text in sorted(listed):
        assert typed(text) in MEASURED, text


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with a judge, and no study."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "judge.py").write_text(COMPARES)
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_run_without_a_study_is_resumed_by_the_command_that_made_it(small):
    lend_stimuli(small)
    how = ("--size", "screen", "--folder", small, "--no-preflight", "--yes")
    code, said = command("datasheet", "judge.py:failing", *how)
    assert code == INCOMPLETE
    [text] = printed(said)
    assert text == "umpirical datasheet judge.py:failing --size screen --folder 'a folder'"
    assert typed(text) == INCOMPLETE
    [run] = (small / "runs").iterdir()
    assert steps((run / "datasheet.html").read_text()) == ["umpirical datasheet judge.py:failing --size screen"]


def test_a_study_file_of_another_name_is_named(small):
    datasheet_study(small)
    (small / "umpirical.yaml").rename(small / "other.yaml")
    code, said = command("run", small / "other.yaml", "--judge", "failing", "--no-preflight", "--yes")
    assert code == INCOMPLETE
    [text] = printed(said)
    assert text == "umpirical run 'a folder/other.yaml' --judge failing"
    assert typed(text) == INCOMPLETE


def test_a_folder_without_a_study_is_not_told_to_run_one(small, umpirical):
    for name in ("report", "gate"):
        code, _, err = umpirical(name, small)
        assert code == 2
        assert "umpirical run" not in err
    datasheet_study(small)
    _, _, err = umpirical("report", small.relative_to(Path.cwd()))
    assert printed(err) == ["umpirical run 'a folder'"]


def test_a_stranger_s_run_suggests_no_option_that_agrees_to_anything(small):
    from umpirical.study.results import _resuming

    (small / "umpirical.yaml").touch()
    for command_line in (
        "umpirical run --judge a --trust --yes --max-cost 1000",
        "umpirical run; rm -rf .",
        "curl evil.example",
        "umpirical run 'unclosed",
        "umpirical.datasheet(judge)",
    ):
        assert _resuming(small, command_line) == (), command_line
    assert _resuming(small, "umpirical run --judge a") == ("umpirical", "run", small, "--judge", "a")
