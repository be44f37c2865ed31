"""SIGKILL at random moments of every command: the run ends as an undisturbed one, and nothing is lost."""

import json
import random
import signal
import time
from collections import Counter

import pytest

from tests.attack.runs import command
from tests.runs.loopback import CALLS, REFUSED, judgments, swayed_answer, write_study
from tests.servers.chat_server import ChatServer

CONCURRENCY = 16
UNDER_COMMIT = 64
"""Responses that may have come in while a commit was under way, at most, on a slow disk."""


def finish(study):
    process = command("run", study, "--yes", "--json")
    out, err = process.communicate(timeout=600)
    assert process.returncode == REFUSED, err
    return json.loads(out)[0]


def kill(process, seconds):
    """Kills a process after some seconds; returns whether it was still there."""
    time.sleep(seconds)
    alive = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return alive


@pytest.mark.parametrize(
    ("times", "repeats", "seed"), [(7, 1, 4), pytest.param(220, 12, 20, marks=pytest.mark.attack)], ids=["7", "220"]
)
def test_every_command_killed_over_and_over_leaves_a_sound_run(tmp_path, times, repeats, seed):
    rng, kills = random.Random(seed), Counter()  # noqa: S311  # moments, not secrets
    with ChatServer(swayed_answer, latency=0.02) as server:
        study = write_study(tmp_path / "study", server.base_url, repeats=repeats, concurrency=CONCURRENCY)
        folder, asked = study.parent, 0
        for number in range(times):
            runs = list(folder.glob("runs/*/run.json"))
            readers = ["plan", "list", "check"] + (["report", "rescore", "verify", "report all"] if runs else [])
            what = "run" if number % 2 == 0 else rng.choice(readers)
            target = runs[0].parent if what in ("report", "rescore", "verify") else study
            target = folder if what in ("list", "report all") else target
            options = ("--yes",) if what == "run" else ()
            before = server.asked.total()
            alive = kill(command(what.split()[0], target, *options), rng.uniform(0.2, 2.5))
            kills[what] += alive
            asked += what == "run" and server.asked.total() > before
        result = finish(study)
        twice = server.asked.total() - len(server.asked)
    assert result["trials"] == CALLS * repeats
    run = folder / "runs" / result["run"]
    found = judgments(run)
    assert len(found) == CALLS * repeats
    assert not any(outcome in ("unasked", "failed") for outcome, _ in found.values())
    # At most the calls in flight, and those being committed, were asked twice.
    assert twice <= max(1, asked) * (CONCURRENCY + UNDER_COMMIT)
    assert kills.total() > times / 4
    code = command("verify", run)
    out, _ = code.communicate(timeout=900)
    assert (code.returncode, out.count("  ok ")) == (0, 6), out

    with ChatServer(swayed_answer) as calm:
        undisturbed = finish(write_study(tmp_path / "calm", calm.base_url, repeats=repeats, concurrency=CONCURRENCY))
    other = tmp_path / "calm" / "runs" / undisturbed["run"]
    one, two = (json.loads((place / "datasheet.json").read_text()) for place in (run, other))
    assert (one["measures"], one["audit"]) == (two["measures"], two["audit"])
    assert one["run"]["responses_sha256"] == two["run"]["responses_sha256"]
    # What the killed ones were building is gone, and they left no draft.
    assert not [path for path in run.rglob(".*") if path.suffix == ".tmp" or path.name.startswith(".building-")]
