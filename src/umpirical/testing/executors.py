"""The conformance kit for executors: one call in a test checks everything that an executor promises.

- everything: each trial of the shards it is given has one response, and the shard is sealed;
- receipts: one for each shard, with how many trials were answered and how many failed;
- no difference: answers and measures are the same as with the local executor;
- told: the watcher is told about every trial once;
- idempotent: a trial that has an answer is not asked again, by it or by another executor;
- part by part: shards can be given to it one after another;
- failures: an exception from a judge becomes that trial's response, and stops nothing;
- one at a time: a judge that remembers what it was asked is asked one question at a time, in the order of the plan;
- in parallel: another judge is asked as many questions at a time as agreed, and no more;
- the cap: nothing is sent that might exceed it; answers received by then are kept.

An executor that hands questions over together (`in_batches`) cannot promise "one at a time" and "in parallel". In their
place it promises:

- refuses: a judge that is no model with batches, or is stateful, is refused before anything is asked, with the remedy.
"""

import json
import threading
import time
from collections.abc import Sequence
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NoReturn, Self

from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.judges.spec import JudgeSpec
from umpirical.models.money import CapReached, Ledger, Meter
from umpirical.models.prices import RatePricer, TokenPrices
from umpirical.models.spec import Calling
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.runs.executor import EXECUTORS, LOCAL, ExecutorFactory, Particular
from umpirical.runs.run import Run
from umpirical.store.runs import Receipt
from umpirical.store.snapshots import snapshot
from umpirical.study.file import parse_study_data
from umpirical.study.prepare import PlanOptions, prepare_run

Promise = Literal[
    "everything", "receipts", "no difference", "told", "idempotent", "part by part", "failures", "one at a time",
    "in parallel", "the cap", "refuses",
]  # fmt: skip
"""What the message of a failed check can name."""

IN_FLIGHT = 8

STUDY = {
    "study": "kit",
    "protocol": "datasheet",
    "tasks": ["jam-batch.plums", "market-stall.toys", "tool-hire.mower", "library-loans.mill"],
    "design": {"size": "screen"},
}
SHARD = 25
"""Trials per shard: few, so that there are several shards."""

CAP = Decimal("0.002")

ANSWER = '{"verdict": "tie"}'

SIMULATED: dict[str, Any] = {"name": "kit", "model": {"adapter": "simulated", "name": "coin"}}
RAISING: dict[str, Any] = {"name": "kit", "callable": f"{__name__}:choosy"}


def choosy(task: str, first: str, second: str) -> str:  # noqa: ARG001  # the signature of a judge
    """A judge that raises on some questions."""
    if len(first) % 3 == 0:
        raise RuntimeError("not a multiple of three")
    return "1"


def check_executor(factory: ExecutorFactory) -> None:
    """Raises AssertionError, naming the promise, for the first one that does not hold."""
    with TemporaryDirectory() as folder:
        checks = _Checks(factory, Path(folder))
        if isinstance(factory, Particular) and factory.in_batches:
            checks.refused(factory)
            with _Server() as server:
                checks.compared(_served(server))
            with _Server(choosy=True) as server:
                checks.raising(_served(server))
            with _Server() as server:
                checks.capped(server)
            return
        checks.compared(SIMULATED)
        checks.raising(RAISING)
        checks.served(stateful=True)
        checks.served(stateful=False)
        with _Server() as server:
            checks.capped(server)


class _Heard:
    """A watcher that counts."""

    def __init__(self) -> None:
        self.resumed_trials = 0
        self.trials: list[str] = []

    def resumed(self, trials: int) -> None:
        self.resumed_trials += trials

    def settled(self, outcome: Outcome, response: Response) -> None:  # noqa: ARG002  # the signature of a watcher
        self.trials.append(response.trial_id)


class _Checks:
    def __init__(self, factory: ExecutorFactory, folder: Path) -> None:
        self._factory, self._folder = factory, folder

    def compared(self, judge: dict[str, Any]) -> None:
        """Asks more than a shard, part by part, then again, and compares with the local executor."""
        run, local = (self._run(name, judge) for name in ("here", "local"))
        heard, receipts = _Heard(), []
        for shard in range(run.shards):
            before = run.calls_left()
            receipts += self._ask(run, heard, [shard])
            if before - run.calls_left() > len(list(run.store.plan_shard(shard))):
                _broken("part by part", f"questions outside shard {shard} were sent")
        self._sealed(run, receipts, heard)
        again = _Heard()
        self._ask(run, again)
        if again.trials or again.resumed_trials != run.trials:
            _broken(
                "idempotent",
                f"in the second run, {len(again.trials)} trials were sent and {again.resumed_trials} reused",
            )
        EXECUTORS.get(LOCAL)(Calling(IN_FLIGHT)).run(range(local.shards), local.call, local.store, _Heard())
        if _answers(run) != _answers(local) or _measures(run) != _measures(local):
            _broken("no difference", "the local executor gets different answers")

    def raising(self, judge: dict[str, Any]) -> None:
        """Asks a judge that fails on some questions."""
        run, heard = self._run("raising", judge), _Heard()
        try:
            receipts = self._ask(run, heard)
        except Exception as error:  # noqa: BLE001  # whatever it is, the run has stopped
            _broken("failures", f"an exception from the judge stopped the run: {type(error).__name__}: {error}")
        failed = sum(failure is not None for _, failure in _answers(run).values())
        if failed != sum(receipt.failed for receipt in receipts) or not 0 < failed < run.trials:
            _broken("failures", f"{failed} failures are recorded, but the receipts list a different number")
        if len(heard.trials) != run.trials:
            _broken("told", f"the watcher was told about {len(heard.trials)} of {run.trials} trials")

    def served(self, *, stateful: bool) -> None:
        """Asks a stateful judge, or a stateless one, on a server that sees how it is asked."""
        promise: Promise = "one at a time" if stateful else "in parallel"
        with _Server(latency=0.002) as server:
            run = self._run(promise, _served(server, stateful=stateful))
            heard = _Heard()
            self._ask(run, heard)
            most = 1 if stateful else IN_FLIGHT
            # Of two processes, one may be done before the other has started.
            if not most / 2 <= server.most_in_flight <= most:
                _broken(promise, f"{server.most_in_flight} questions at the same time, expected {most}")
            planned = [trial.id for shard in range(run.shards) for trial, _ in run.store.plan_shard(shard)]
            if stateful and heard.trials != planned:
                _broken(promise, "the questions were not sent in the order of the plan")

    def capped(self, server: "_Server") -> None:
        """Asks a server that bills, under a cap that covers half of the questions."""
        run, ledger = self._run("capped", _served(server)), Ledger(CAP)
        meter = Meter(RatePricer(TokenPrices(Decimal("0.1"), Decimal("0.1")), "kit"), ledger)
        try:
            self._ask(run, _Heard(), calling=Calling(IN_FLIGHT, meter))
        except CapReached:
            pass
        else:
            _broken("the cap", "it was not reached, although all questions together cost more")
        if not 0 < ledger.spent <= CAP or ledger.reserved:
            _broken("the cap", f"{ledger.spent} dollars spent and {ledger.reserved} reserved, but the cap is {CAP}")
        kept = run.trials - run.calls_left()
        if kept != server.answered or not kept:
            _broken("the cap", f"{server.answered} answers were paid for, but {kept} are stored")

    def refused(self, factory: Particular) -> None:
        """Offers judges that cannot be asked in batches."""
        model = {"adapter": "openai-compatible", "name": "kit", "base_url": "http://127.0.0.1:1/v1"}
        stateful = {"name": "kit", "model": model, "capabilities": {"stateful": True}}
        for judge in (SIMULATED, RAISING, stateful):
            try:
                factory.check(JudgeSpec.model_validate(judge))
            except UsageError as error:
                if LOCAL not in error.fix:
                    _broken("refuses", f"the fix does not name the executor {LOCAL}: {error.fix}")
            else:
                _broken("refuses", f"it accepts a judge that does not support batches: {judge}")

    def _run(self, name: str, judge: dict[str, Any]) -> Run:
        data = {**STUDY, "judges": [judge]}
        study = parse_study_data(data, self._folder)
        # Each in its own folder, where no other run has answers to reuse.
        return prepare_run(
            study, study.spec.judges[0], options=PlanOptions(self._folder / name / "run", shard_size=SHARD)
        )

    def _ask(
        self, run: Run, heard: _Heard, shards: Sequence[int] | None = None, *, calling: Calling | None = None
    ) -> list[Receipt]:
        executor = self._factory(calling or Calling(IN_FLIGHT))
        return executor.run(range(run.shards) if shards is None else shards, run.call, run.store, heard)

    @staticmethod
    def _sealed(run: Run, receipts: list[Receipt], heard: _Heard) -> None:
        answers = _answers(run)
        if len(answers) != run.trials or {shard for shard, _ in run.store.sealed()} != set(range(run.shards)):
            _broken("everything", f"{len(answers)} of {run.trials} trials have a response, or a shard is not sealed")
        said = sorted((receipt.shard, receipt.answered + receipt.failed) for receipt in receipts)
        if said != [(shard, len(list(run.store.plan_shard(shard)))) for shard in range(run.shards)]:
            _broken("receipts", f"the answers are {said}")
        if sorted(heard.trials) != sorted(answers):
            _broken("told", f"the watcher was told about {len(set(heard.trials))} of {run.trials} trials")


class _Server(ThreadingHTTPServer):
    """Gives every question of OpenAI's protocol the same answer, alone or in a batch, and counts."""

    daemon_threads = True

    def __init__(self, *, latency: float = 0.0, choosy: bool = False) -> None:
        """Waits `latency` seconds before an answer. One that is `choosy` refuses a third of the questions."""
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.latency, self.choosy = latency, choosy
        self.answered = self.in_flight = self.most_in_flight = 0
        self.lock = threading.Lock()
        self.files: list[list[dict[str, Any]]] = []
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.polled: set[str] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.choosy and len(str(body)) % 3 == 0:
            return 400, {"error": {"message": "a multiple of three"}}
        with self.lock:
            self.answered += 1
        words = len(str(body["messages"]).split())
        choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
        return 200, {"choices": [choice], "usage": {"prompt_tokens": words, "completion_tokens": 2}}


class _Exchange(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        raw, server = self.rfile.read(int(self.headers["Content-Length"])), self.server
        match self.path:
            case "/v1/chat/completions":
                with server.lock:
                    server.in_flight += 1
                    server.most_in_flight = max(server.most_in_flight, server.in_flight)
                time.sleep(server.latency)
                status, body = server.answer(json.loads(raw))
                with server.lock:
                    server.in_flight -= 1
                self._send(body, status=status)
            case "/v1/files":
                # A form, of which the lines of its file are JSON.
                server.files.append([json.loads(line) for line in raw.splitlines() if line.startswith(b"{")])
                self._send({"id": f"file-{len(server.files) - 1}"})
            case _:
                name = json.loads(raw)["input_file_id"]
                server.batches[name] = [self._line(question) for question in server.files[int(name[5:])]]
                self._send({"id": name})

    def do_GET(self) -> None:
        """Sends the batches that there are, the state of one, or its answers. A batch has the name of its file."""
        name = self.path.removesuffix("/content").rpartition("/")[2]
        if name.startswith("batches"):
            return self._send({"data": [], "has_more": False})
        answers = self.server.batches[name]
        if self.path.endswith("/content"):
            return self._send(*answers)
        if name not in self.server.polled:
            self.server.polled.add(name)
            return self._send({"id": name, "status": "in_progress", "request_counts": {"total": len(answers)}})
        counts = {"total": len(answers), "completed": len(answers), "failed": 0}
        return self._send({"id": name, "status": "completed", "output_file_id": name, "request_counts": counts})

    def _line(self, question: dict[str, Any]) -> dict[str, Any]:
        status, body = self.server.answer(question["body"])
        return {"custom_id": question["custom_id"], "response": {"status_code": status, "body": body}, "error": None}

    def _send(self, *bodies: dict[str, Any], status: int = 200) -> None:
        sent = "\n".join(json.dumps(body) for body in bodies).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None: ...


def _served(server: _Server, *, stateful: bool = False) -> dict[str, Any]:
    model = {"adapter": "openai-compatible", "name": "kit", "base_url": server.base_url, "attempts": 1}
    return {"name": "kit", "model": model, "capabilities": {"stateful": stateful}}


def _answers(run: Run) -> dict[str, tuple[str | None, str | None]]:
    with snapshot(run.store) as now:
        return {
            trial_id: (response.text, response.failure)
            for _, responses in now.walk()
            for trial_id, response in responses.items()
        }


def _measures(run: Run) -> list[object]:
    return [measure.model_dump() for measure in protocol_of_run(run.store).report(run).measures]


def _broken(promise: Promise, why: str) -> NoReturn:
    raise AssertionError(f"{promise}: {why}")
