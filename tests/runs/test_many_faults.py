"""Many calls, a fifth of them with faults of every kind: every trial ends as exactly one outcome, and the sums fit."""

import hashlib
import json
from pathlib import Path
from typing import get_args

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from tests.runs.loopback import CALLS, judgments, swayed_answer, write_study
from tests.servers.chat_server import ChatServer, Fault
from umpirical.study.file import read_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run

FAULTS: tuple[Fault, ...] = get_args(Fault)
QUICK = [fault for fault in FAULTS if fault != "hang"]
ATTEMPTS = 2


def faulty(trial_id: str, times: int) -> Fault | None:
    digest = hashlib.sha256(f"{trial_id} {times}".encode()).digest()
    if int.from_bytes(digest[:2], "big") >= 0.2 * 2**16:
        return None
    # A hang lasts until the time is up, which must be long enough that a busy machine never runs into it: so, few.
    return "hang" if digest[2] < 8 else QUICK[digest[3] % len(QUICK)]


@pytest.mark.parametrize(
    "repeats",
    [
        pytest.param(2, id="600"),
        pytest.param(6, id="1,800", marks=pytest.mark.slow),
        pytest.param(334, id="100,200", marks=pytest.mark.slow),
    ],
)
def test_none_lost_none_doubled_and_failures_are_those_beyond_the_retries(tmp_path, repeats):
    with ChatServer(swayed_answer, misbehave=faulty, keep_bodies=0) as server:
        study = read_study(
            write_study(tmp_path, server.base_url, repeats=repeats, timeout=5.0, attempts=ATTEMPTS, concurrency=128)
        )
        run = prepare_run(study, study.spec.judges[0])
        result = complete_run(run, 128, lambda *_: Silent())
    found = judgments(run.store.folder)
    assert len(found) == run.trials == CALLS * repeats
    assert all(outcome in ("verdict", "abstained", "unparsed", "failed") for outcome, _ in found.values())
    injected = {trial for trial in found if all(faulty(trial, times) for times in range(1, ATTEMPTS + 1))}
    failed = {trial for trial, (outcome, _) in found.items() if outcome == "failed"}
    assert failed == injected
    assert set(server.faults) == set(FAULTS)
    rate = next(m.result for m in result.record.measures if m.name == "failure-rate")
    assert (rate.numerator, rate.denominator) == (len(injected), run.trials)
    # An attempt too many would be seen here, and so would one too few.
    for trial in found:
        expected = 1 if not faulty(trial, 1) else ATTEMPTS
        assert server.asked[trial] == expected
    assert json.loads(Path(result.documents.json).read_text())["complete"]
