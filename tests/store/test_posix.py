"""Where locks of POSIX are missing, as on Windows, every command that would need them says so and what to do."""

import subprocess
import sys

import pytest

COMMANDS = [["datasheet", "simulated:careful"], ["run", "."], ["list", "."], ["demo", "--no-open"]]


def without_locks(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.modules['fcntl'] = None; from umpirical.cli import main; main({list(arguments)!r})"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_system_without_locks_is_refused_with_a_way_out(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = without_locks(*command)
    assert done.returncode == 2
    assert "runs on Linux and macOS" in done.stderr
    assert "WSL" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_needs_no_locks():
    assert without_locks("--help").returncode == 0


def test_only_one_module_imports_them():
    from umpirical.store import posix

    folder = posix.__file__.rpartition("/store/")[0]
    found = subprocess.run(
        ["grep", "-rlE", r"^\s*(import|from) fcntl", folder, "--include=*.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == [posix.__file__]
