"""Many readers of one run: at once, while it is asked, and without permission to write."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.attack.runs import command, copy_study, said, simulated_run, unseal
from tests.runs.loopback import CALLS, judgments, swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from umpirical.protocols.datasheet.counting import FACTS, tally_judgments
from umpirical.runs.judgments import read_judgments
from umpirical.runs.run import open_run

FINISHED = (0, 3, 4)
"""Exit codes of a report on a run that is complete."""


def read(process):
    out, err = process.communicate(timeout=900)
    return process.returncode, out, err


def test_what_one_reader_counts_is_not_changed_by_another(sound, tmp_path):
    folder = copy_study(sound, tmp_path / "study")
    run = open_run(folder)
    with read_judgments(run, FACTS) as one:
        before = tally_judgments(one.judgments)
        with read_judgments(run, FACTS) as other:
            assert tally_judgments(other.judgments) == before
        assert tally_judgments(one.judgments) == before
    assert tally_judgments(folder / "judgments.parquet") == before


@pytest.mark.parametrize(
    ("repeats", "readers", "rounds"), [(1, 3, 1), pytest.param(8, 2, 14, marks=pytest.mark.attack)]
)
def test_reports_at_the_same_time_all_count_everything(sound, tmp_path, repeats, readers, rounds):
    folder = tmp_path / "study"
    run = copy_study(sound, folder) if repeats == 1 else simulated_run(folder, repeats=repeats)
    expected = json.loads((run / "datasheet.json").read_text())
    for number in range(rounds):
        started = []
        for _ in range(readers):
            started.append(command("report", run, "--json"))
            time.sleep(0.1 + 0.25 * number)
        for process in started:
            code, out, err = read(process)
            assert code in FINISHED, err
            assert json.loads(out) == expected
    assert not list(run.glob(".building-*"))


@pytest.mark.parametrize("rounds", [1, pytest.param(10, marks=pytest.mark.attack)])
def test_readers_of_a_run_in_progress_disturb_nothing_and_see_one_moment(tmp_path, rounds):
    with ChatServer(swayed_answer, latency=0.05) as server:
        study = write_study(tmp_path / "study", server.base_url, concurrency=4, repeats=rounds)
        asking = command("run", study, "--yes", "--json")
        [run] = wait_for(lambda: list((tmp_path / "study" / "runs").glob("*/run.json")))
        wait_for(lambda: server.asked.total() > 20)
        seen = []
        while asking.poll() is None and len(seen) < 2 * rounds:
            for what in (("report", run.parent, "--json", "--out", tmp_path / "out"), ("list", study, "--json")):
                code, out, err = read(command(*what))
                assert code in (0, 3, 4, 5), err
                seen.append((what[0], json.loads(out)))
            for what in (("rescore", run.parent, "--out", tmp_path / "out"), ("plan", study), ("verify", run.parent)):
                code, _, err = read(command(*what))
                assert code == 0, err
        code, _, err = read(asking)
        assert code == 3, err
        assert server.asked.total() == len(server.asked) == CALLS * rounds
    for what, record in seen:
        if what == "report":
            audit = record["audit"]
            assert sum(row["planned"] for row in audit) == CALLS * rounds
            assert record["complete"] == (sum(row["unasked"] for row in audit) == 0)
    assert sum(record[0]["answered"] for what, record in seen[:4] if what == "list") > 0
    assert len(judgments(run.parent)) == CALLS * rounds


@pytest.mark.parametrize("rounds", [1, pytest.param(12, marks=pytest.mark.attack)])
def test_processes_that_plan_at_once_plan_the_same(tmp_path, rounds):
    for number in range(rounds):
        study = write_study(tmp_path / str(number), "http://127.0.0.1:9/v1")
        shutil.rmtree(tmp_path / str(number) / "stimuli")
        plans = [read(command("plan", study, "--json"))]
        shutil.rmtree(tmp_path / str(number) / "stimuli")
        shutil.rmtree(tmp_path / str(number) / "runs")
        started = [command("plan", study, "--json") for _ in range(3)]
        plans += [read(process) for process in started]
        assert [code for code, _, _ in plans] == [0] * 4, plans
        assert len({out for _, out, _ in plans}) == 1


def wait_for(found):
    deadline = time.monotonic() + 120
    while not (value := found()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return value


UNPRIVILEGED = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-dac_override")
"""Root without its right to write everywhere; anyone else has none."""


def locked_up(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.mark.parametrize("state", ["finished", "in the journal"])
def test_a_run_that_may_only_be_read_is_read(sound, tmp_path, state):
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to take that away")
    prefix = UNPRIVILEGED if os.geteuid() == 0 else ()
    run = copy_study(sound, tmp_path / "study")
    truth = said(run)
    if state == "in the journal":
        unseal(run)
    for extra in ("journal.sqlite-shm", "journal.sqlite-wal"):
        (run / extra).unlink(missing_ok=True)
    locked_up(tmp_path / "study")
    before = sorted(path.name for path in run.iterdir())
    try:
        for what in (("list", tmp_path / "study"), ("verify", run), ("report", run, "--out", tmp_path / "out")):
            code, out, err = read(command(*what, prefix=prefix))
            assert code in FINISHED, (what, err, out)
        code, _, err = read(command("report", run, prefix=prefix))
        assert code == 2
        assert "--out FOLDER" in err
        assert sorted(path.name for path in run.iterdir()) == before
    finally:
        for path in [tmp_path / "study", *(tmp_path / "study").rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert said(run) == truth
    record = json.loads((tmp_path / "out" / "datasheet.json").read_text())
    assert record["run"]["responses_sha256"] == truth[1]
