"""Studies whose judge is asked in batches on the loopback server, and a program that asks them and can be killed."""

import json
import os
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

from tests.runs.loopback import write_study
from tests.servers.batch_server import BatchServer
from umpirical.models.money import FREE, Ledger, Meter
from umpirical.models.spec import Calling
from umpirical.runs.batches import BatchExecutor, Polling
from umpirical.runs.executor import Unwatched
from umpirical.runs.run import Run
from umpirical.study.file import read_study
from umpirical.study.prepare import PlanOptions, prepare_run

PROTOCOLS = ("openai-compatible", "anthropic")
QUICK = Polling(first=0.01, growth=1.1, longest=0.05, patience=4)
SHARD = 28


class Heard(Unwatched):
    """A watcher that keeps what it is told."""

    def __init__(self):
        self.sentences, self.trials, self.known = [], [], 0

    def resumed(self, trials):
        self.known += trials

    def settled(self, outcome, response):
        self.trials.append((response.trial_id, type(outcome).__name__))

    def told(self, sentence):
        self.sentences.append(sentence)


def batch_study(folder: Path, server: BatchServer, protocol: str = "openai-compatible", **settings) -> Path:
    base = f"{server.origin}/v1" if protocol == "openai-compatible" else server.origin
    study = write_study(folder, base, **settings)
    study.write_text(study.read_text().replace("adapter: openai-compatible", f"adapter: {protocol}"))
    return study


def planned(study: Path) -> Run:
    """The run of the study, planned in small shards."""
    loaded = read_study(study)
    return prepare_run(loaded, loaded.spec.judges[0], options=PlanOptions(shard_size=SHARD))


def ask(run: Run, *, watcher=None, pricer=FREE, cap: Decimal | None = None, ledger=None, polling=QUICK, most=None):
    """Asks what is left of a run; returns the receipts."""
    meter = Meter(pricer, ledger or Ledger(cap))
    executor = BatchExecutor(Calling(8, meter), polling=polling, most_entries=most)
    return executor.run(range(run.shards), run.call, run.store, watcher or Heard())


def start(study: Path, point: str = "", most: int = 0) -> "subprocess.Popen[str]":
    """Asks the study in another process, which kills itself when it comes to `point`."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.runs.batched", str(study), point, str(most)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _die_at(point: str) -> None:
    """Replaces a function by one that kills this process before or after its first call: `before store.runs:...`."""
    when, _, place = point.partition(" ")
    module, _, names = place.partition(":")
    owner_name, _, method = names.rpartition(".")
    owner = getattr(__import__(f"umpirical.{module}", fromlist=["_"]), owner_name)
    real = getattr(owner, method)

    def die(*args, **more):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        real(*args, **more)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, method, die)


if __name__ == "__main__":
    path, where, entries = sys.argv[1:]
    if where:
        _die_at(where)
    receipts = ask(planned(Path(path)), most=int(entries) or None)
    print(json.dumps([receipt.answered for receipt in receipts]))  # noqa: T201  # for the test
