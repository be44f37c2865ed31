"""Completion: the script that is printed asks the program, and the program answers."""

import os
import subprocess
import sys

import pytest

from umpirical.cli import COMMANDS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_asks_the_program(umpirical, shell):
    code, out, _ = umpirical("completion", shell)
    assert code == 0
    assert f"_UMPIRICAL_COMPLETE={shell}_complete" in out


def test_another_shell_is_refused(umpirical):
    code, _, err = umpirical("completion", "tcsh")
    assert code == 2
    assert "bash" in err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("umpirical data", ["datasheet"]),
        ("umpirical datasheet --po", ["--policy"]),
        ("umpirical ", list(COMMANDS)),
    ],
)
def test_the_program_completes_what_is_typed(words, found, tmp_path):
    program = tmp_path / "umpirical"
    program.write_text("from umpirical.cli import main\nmain()\n")
    asked = {"_UMPIRICAL_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, program], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert [line.partition(",")[2] for line in done.stdout.splitlines()] == found
