"""The page about the view says what happens."""

import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.view import studies

GUIDE = (Path(__file__).parents[2] / "docs" / "decide" / "view.md").read_text(encoding="utf-8")


def test_its_commands_do_what_the_page_says(umpirical, tmp_path, monkeypatch):
    studies.datasheet_run(tmp_path / "my-studies" / "parcels")
    monkeypatch.chdir(tmp_path)
    [export] = re.findall(r"```sh\n(umpirical .*)\n```", GUIDE)
    code, out, _ = umpirical(*export.split()[1:])
    assert (code, out) == (0, "wrote gallery/index.html: 1 page\n")
    [served] = re.findall(r"^\$ (umpirical view .*)$", GUIDE, re.MULTILINE)
    command = [sys.executable, "-m", *served.split(), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        said = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    shown = re.search(r"^open .*$", GUIDE, re.MULTILINE)[0]
    pattern = re.escape(shown).replace("8378", r"\d+").replace("…", r"\S+")
    assert re.fullmatch(pattern, said.rstrip("\n"))


def test_a_folder_that_is_not_there_is_named(umpirical):
    code, _, err = umpirical("view", "nowhere")
    assert code == 2
    assert "no folder nowhere" in err
