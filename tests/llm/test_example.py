"""examples/local-judge does what its page says."""

import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.docs.reading import blocks
from tests.llm.bench_study import EXAMPLE, umpirical
from tests.servers.llama_server import LISTENING, SERVE
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.stimuli.controlled.datasheet_set import RECIPES

INSTALL, MEASURE, BY_HAND, COMMANDS, ANOTHER, OTHERWISE = blocks(EXAMPLE / "README.md", "sh")


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def folder(tmp_path, port) -> Path:
    """The example on another port, with one of its families."""
    folder = tmp_path / "local-judge"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("runs", "stimuli"))
    for name in ("measure.py", "umpirical.yaml"):
        file = folder / name
        assert file.read_text().count("8080") == 1
        file.write_text(file.read_text().replace("8080", str(port)))
    study = folder / "umpirical.yaml"
    dropped = [f"  - tasks/{file.name}" for file in folder.glob("tasks/*.yaml") if file.stem != "fern-note"]
    kept = [line for line in study.read_text().splitlines() if line not in dropped]
    study.write_text("\n".join(kept) + "\n")
    return folder


def test_it_installs_what_the_tests_install():
    serve = runpy.run_path(str(SERVE))
    assert INSTALL.splitlines() == [serve["INSTALL_SERVER"], serve["INSTALL_MODEL"]]
    pins = (Path(__file__).parent / "requirements.txt").read_text()
    assert [f"\n{line.split()[-1]} " in pins for line in INSTALL.splitlines()] == [True, True]
    project = (EXAMPLE.parents[1] / "pyproject.toml").read_text()
    assert f'bench = ["{INSTALL.splitlines()[0].split()[-1]}"]' in project


def test_the_study_is_sound_and_its_calls_are_as_many_as_the_page_says(folder):
    assert COMMANDS.splitlines() == ["umpirical check .", "umpirical plan .", "umpirical run ."]
    done = umpirical("check", ".", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("judge smollm2: 12 calls\nok\n")
    shutil.copy(EXAMPLE / "umpirical.yaml", folder)
    assert "Plan: 64 calls" in umpirical("plan", ".", folder=folder).stdout
    page = (EXAMPLE / "README.md").read_text()
    assert "There are 64 calls here" in page
    assert f"then {RECIPES['screen'].tasks} built-in tasks are used, with {RECIPES['screen'].calls} calls" in page


@pytest.mark.slow
@pytest.mark.llm
@pytest.mark.usefixtures("smollm2")
def test_one_command_leads_to_a_datasheet_and_leaves_no_server(folder, port):
    program, script = MEASURE.split()
    assert program == "python"
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr  # so few calls settle little
    [file] = folder.glob("runs/*/datasheet.json")
    datasheet = Datasheet.model_validate_json(file.read_text(encoding="utf-8"))
    assert datasheet.complete
    assert datasheet.run.trials == 14
    with socket.socket() as left:
        assert left.connect_ex(("127.0.0.1", port)) != 0
    assert sum(row.unparsed + row.failed for row in datasheet.audit) == 0


@pytest.mark.llm
@pytest.mark.usefixtures("smollm2")
def test_the_server_can_be_started_by_hand_and_interrupted(port):
    program, script = BY_HAND.split()
    assert program == "python"
    assert ANOTHER.startswith(BY_HAND.strip())
    assert "--port 8080 " in OTHERWISE
    assert "8080" in (EXAMPLE / "umpirical.yaml").read_text()
    command = [sys.executable, str(EXAMPLE / script), "--port", str(port)]
    # Where the tests run in a shell's background, interrupts are ignored, and a child would inherit that.
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, **streams, preexec_fn=heard) as process:  # noqa: PLW1509  # no thread runs here
        try:
            assert process.stdout.readline() == f"{LISTENING}http://127.0.0.1:{port}/v1\n"
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=30) as reply:  # loopback
                assert reply.status == 200
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
