"""Plugins of every kind, each one file: announced as pip announces them, and run by the command line as it is."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.installed import install_plugin
from tests.plugins.toy_executor import LOG, ShardByShard
from tests.plugins.toy_judge_adapter import ADAPTER as PANELS
from tests.plugins.toy_judge_adapter import LENIENT, Panel, longest
from tests.plugins.toy_model_adapter import ADAPTER as SOCKETS
from tests.plugins.toy_protocol import PREFERENCE
from tests.plugins.toy_section import SECTION
from tests.servers.chat_server import ChatServer
from tests.testing.chat_backend import chat_backend
from tests.trusting import trusting
from umpirical.domain.tallies import CallTally, Tallies
from umpirical.domain.trials import Presented
from umpirical.judges.spec import JudgeSpec
from umpirical.testing import (
    JudgeSamples,
    check_executor,
    check_judge_adapter,
    check_measure,
    check_model_adapter,
    check_section,
)

HERE = Path(__file__).parent
TOYS = {
    "umpirical.protocols": "mirror = toy_protocol:MIRROR",
    "umpirical.measures": "mirror-preference = toy_protocol:PREFERENCE",
    "umpirical.models": "socket = toy_model_adapter:ADAPTER",
    "umpirical.judges": "toy_judge_adapter = toy_judge_adapter:ADAPTER",
    "umpirical.executors": "shard-by-shard = toy_executor:ShardByShard",
    "umpirical.sections": "who-answered = toy_section:SECTION",
}

MIRRORS = """\
study: mirrors
mirror: {What is two and two?: Four., Name a colour.: Red., What is the capital of Italy?: Rome.}
design: {repeats: 2}
judges:
  - {name: first, callable: "judges:first"}
"""

SHEETS = """\
study: sheets
tasks: [jam-batch.plums, tool-hire.mower, library-loans.mill]
design: {size: screen}
judges:
  - {name: socket, model: {adapter: socket, name: coin, base_url: URL, price: {input: 0, output: 0}}}
  - {name: panel, callable: "toy_judge_adapter:LENIENT"}
"""

JUDGES = "def first(task, first, second):\n    return '1'\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a process in which the toys are installed."""
    site = tmp_path_factory.mktemp("site")
    for group, entry in TOYS.items():
        install_plugin(site, group, entry)
    for toy in HERE.glob("toy_*.py"):
        shutil.copy(toy, site)
    return os.environ | {"PYTHONPATH": str(site)}


@pytest.fixture
def umpirical(installed, tmp_path):
    def run(*arguments, succeeds=True):
        command = [sys.executable, "-m", "umpirical", *trusting(arguments)]
        done = subprocess.run(command, check=False, env=installed, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode in DECIDED) == succeeds, done.stderr
        return done.stdout + done.stderr

    return run


DECIDED = {0, 3, 4}
"""What a command exits with that measured: use, do not use, not enough data."""


OUR_OWN = {"run.json", "budget.json"}
"""Files of a run that are no record."""


def through_every_command(umpirical, folder, *options):
    """Check, plan, run, report; returns the record of each judge."""
    assert "ok" in umpirical("check", folder).splitlines()
    assert "at most" in umpirical("plan", folder)
    umpirical("run", folder, "--yes", *options)
    runs = sorted((folder / "runs").glob("*/run.json"))
    for run in runs:
        [record] = [path for path in run.parent.glob("*.json") if path.name not in OUR_OWN]
        before = record.read_bytes()
        assert record.name in umpirical("report", run.parent)
        assert record.read_bytes() == before
    return {json.loads(run.read_text())["judge"]["name"]: run.parent for run in runs}


def test_a_protocol_in_one_file(umpirical, tmp_path):
    (tmp_path / "umpirical.yaml").write_text(MIRRORS)
    (tmp_path / "judges.py").write_text(JUDGES)
    runs = through_every_command(umpirical, tmp_path)
    record = json.loads((runs["first"] / "mirror.json").read_text())
    found = {measure["name"]: measure["result"] for measure in record["measures"]}
    preference = found["mirror-preference"]
    assert (preference["numerator"], preference["denominator"], preference["clusters"]) == (6, 6, 3)
    assert found["failure-rate"]["value"] == 0
    page = (runs["first"] / "mirror.html").read_text()
    assert "Preference over itself" in page
    # A section for every protocol is also one for a protocol that its author has never heard of.
    assert 'id="who-answered"' in page
    assert "mirror" in umpirical("schema", "config")


def test_its_key_misspelt_is_answered_with_the_line(umpirical, tmp_path):
    (tmp_path / "umpirical.yaml").write_text(MIRRORS.replace("mirror:", "protocol: mirror\nmirrors:"))
    said = umpirical("check", tmp_path, succeeds=False)
    assert "umpirical.yaml:3" in said
    assert "did you mean 'mirror'?" in said


def test_a_model_adapter_a_judge_adapter_an_executor_and_a_section(umpirical, tmp_path):
    with ChatServer(lambda _: '{"verdict": "tie"}') as server:
        (tmp_path / "umpirical.yaml").write_text(SHEETS.replace("URL", server.base_url))
        runs = through_every_command(umpirical, tmp_path, "--executor", "shard-by-shard", "--max-cost", "1")
        asked = server.asked.total()
    socket, panel = (json.loads((runs[name] / "datasheet.json").read_text()) for name in ("socket", "panel"))
    assert socket["run"]["trials"] == asked
    # The judge that always ties has no dark current, and the panel prefers whatever is longer: never on equal texts.
    ties = {row["family"]: (row["tie"], row["planned"]) for row in socket["audit"]}
    assert all(tie == planned for tie, planned in ties.values())
    assert sum(row["failed"] for row in panel["audit"]) == 0
    assert any(row["position_1"] for row in panel["audit"])
    for name, served_by in (("socket", "toy-socket/1"), ("panel", "toy_judge_adapter:LENIENT")):
        page, card = ((runs[name] / f"datasheet.{ending}").read_text() for ending in ("html", "md"))
        shown = page.partition('id="who-answered"')[2]
        assert served_by in shown.partition("</section>")[0]
        assert "Answered by: " in card
        assert (runs[name] / LOG).read_text().split() == ["0"]


def test_a_plugin_that_is_not_there_is_named_with_those_that_are(umpirical, tmp_path):
    (tmp_path / "umpirical.yaml").write_text(SHEETS.replace("adapter: socket", "adapter: sockets"))
    assert "did you mean 'socket'?" in umpirical("check", tmp_path, succeeds=False)
    (tmp_path / "umpirical.yaml").write_text(MIRRORS)
    (tmp_path / "judges.py").write_text(JUDGES)
    said = umpirical("run", tmp_path, "--yes", "--executor", "shards", succeeds=False)
    assert "unknown executor 'shards'" in said
    assert not (tmp_path / "runs").exists()


def test_the_model_adapter_keeps_every_promise(monkeypatch):
    with chat_backend("openai-compatible", "judge", monkeypatch) as backend:
        check_model_adapter(SOCKETS, backend)


def test_the_judge_adapter_keeps_every_promise():
    def raises(*_):
        raise RuntimeError("no quorum")

    samples = JudgeSamples(
        judge=LENIENT,
        expected=[(Presented("t", "long answer", "short"), "1"), (Presented("t", "a", "longer"), "2")],
        broken=Panel("none", [raises]),
        other=Panel("the shorter, the better", [longest]),
        stranger=longest,
    )
    check_judge_adapter(PANELS, JudgeSpec(name="panel", callable="toy_judge_adapter:LENIENT"), samples)


def test_the_executor_keeps_every_promise():
    check_executor(ShardByShard)


def test_the_measure_keeps_every_promise():
    def call(task, **counts):
        return CallTally(task, "baseline", "mirror", "", None, planned=sum(counts.values()), **counts)

    leaning = (call("a", position_1=3, tie=1), call("b", position_2=1, tie=3), call("c", tie=2, abstained=1, failed=1))
    steady = (call("a", tie=4), call("b", tie=3, unparsed=1), call("c", tie=4))
    check_measure(PREFERENCE, [Tallies(calls=leaning), Tallies(calls=steady)])


def test_the_section_keeps_every_promise(tmp_path):
    import umpirical

    report = umpirical.datasheet("simulated:coin", size="screen", folder=tmp_path, progress=False)
    check_section(SECTION, [report.record])
