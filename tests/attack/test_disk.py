"""A full disk: it is said, every answer that was recorded stays, and the run goes on when there is room."""

import errno
import sqlite3
import subprocess

import pytest

from tests.attack.runs import command
from tests.runs.loopback import CALLS, REFUSED, judgments, responses, swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from umpirical.cli.terminal import refused_by_machine


@pytest.fixture
def small_disk(tmp_path):
    """A folder with little room, which can be given more."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], check=False)
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("left", [200_000, pytest.param(60_000, marks=pytest.mark.attack)])
def test_a_run_on_a_full_disk_says_so_and_can_be_resumed(small_disk, left):
    with ChatServer(swayed_answer) as server:
        study = write_study(small_disk / "study", server.base_url, concurrency=8, repeats=4)
        planned = command("plan", study)
        _, err = planned.communicate(timeout=900)
        assert planned.returncode == 0, err
        room = int(subprocess.check_output(["df", "--output=avail", "-B1", str(small_disk)], text=True).split()[-1])
        filler = small_disk / "filler"
        filler.write_bytes(bytes(room - left))
        full = command("run", study, "--yes")
        _, err = full.communicate(timeout=900)
        assert full.returncode == 5, err
        assert "the disk is full; all replies so far are kept" in err
        assert "bug" not in err
        [run] = (study.parent / "runs").iterdir()
        filler.unlink()
        kept, asked = len(responses(run)), server.asked.total()
        done = command("run", study, "--yes")
        _, err = done.communicate(timeout=900)
        assert done.returncode == REFUSED, err
        # What was kept was not asked again, and all the rest was asked once more.
        assert server.asked.total() - asked == 4 * CALLS - kept
        assert len(server.asked) == 4 * CALLS
    assert len(judgments(run)) == 4 * CALLS


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (sqlite3.OperationalError("disk I/O error"), "cannot write: disk I/O error; all replies so far are kept"),
        (OSError(errno.EFBIG, "File too large"), "File too large; all replies so far are kept"),
        (OSError("ZSTD compression failed: Allocation error : not enough memory"), "not enough memory"),
        (MemoryError(), "not enough memory; all replies so far are kept"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "not enough memory"),
    ],
)
def test_what_the_machine_refuses_is_no_bug(error, words):
    message, fix, code = refused_by_machine(error)
    assert words in message
    assert "run the same command again" in fix
    assert code == 5
