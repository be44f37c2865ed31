"""The batch executor on loopback: the same answers as single calls, within the budget, and nothing twice."""

import asyncio
import json
from collections import Counter
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import pytest
from aiohttp import web

from tests.runs.batched import PROTOCOLS, Heard, ask, batch_study, planned
from tests.runs.loopback import CALLS, responses, swayed_answer, write_study
from tests.servers.batch_server import BatchServer
from tests.servers.chat_server import ChatServer
from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Usage
from umpirical.models.money import FREE, CapReached, Ledger
from umpirical.models.prices import PricedModel, RatePricer, TokenPrices, batch_pricer, pricer_for
from umpirical.models.spec import Calling
from umpirical.runs.batches import GO_ON
from umpirical.runs.local import LocalExecutor
from umpirical.runs.loop import STOPPER, Stopper
from umpirical.runs.workers import RunStopped
from umpirical.store.budget import Budget
from umpirical.study.estimate import estimate_run
from umpirical.study.file import parse_study_data
from umpirical.study.preflight import plan_preflight
from umpirical.study.results import finished_run
from umpirical.study.run import CallOptions, Terms, measure_judges

either = pytest.mark.parametrize("protocol", PROTOCOLS)


def record(run) -> dict:
    found = json.loads(Path(finished_run(run.folder).documents.json).read_text())
    return {name: found[name] for name in ("measures", "audit", "decision") if name in found} | {
        "answers": found["run"]["responses_sha256"]
    }


class Leaves(Heard):
    """A watcher that stops the work, as Ctrl-C does, once it hears that a batch is waited for."""

    def __init__(self, stopper):
        super().__init__()
        self._stopper = stopper

    def told(self, sentence):
        super().told(sentence)
        if "at the provider, " in sentence:
            self._stopper.stop()


@contextmanager
def leaving():
    stopper = Stopper()
    token = STOPPER.set(stopper)
    try:
        yield Leaves(stopper)
    finally:
        STOPPER.reset(token)


@either
def test_batches_give_the_report_of_single_calls(tmp_path, protocol):
    heard = Heard()
    with BatchServer(swayed_answer) as server:
        local, run = (planned(batch_study(tmp_path / name, server, protocol)) for name in ("local", "batch"))
        LocalExecutor(Calling(8)).run(range(local.shards), local.call, local.store, Heard())
        assert server.singles == CALLS
        receipts = ask(run, watcher=heard, most=100)
    assert server.singles == CALLS
    assert [len(batch) for batch in server.batches] == [100] * (CALLS // 100) + [CALLS % 100]
    assert set(server.worked.values()) == {1}
    assert sorted(receipt.shard for receipt in receipts) == list(range(run.shards))
    assert len(heard.trials) == CALLS
    assert record(run) == record(local)
    mine, theirs = ({r.trial_id: r for r in responses(each.folder)} for each in (run, local))
    for trial_id, response in mine.items():
        other = theirs[trial_id]
        assert (response.text, response.finish_reason, response.usage, response.sent, response.served_by) == (
            (other.text, other.finish_reason, other.usage, other.sent, other.served_by)
        )
    # Nothing is left to do, and nothing is asked to find that out.
    asked = server.asked.total()
    again = Heard()
    ask(run, watcher=again)
    assert server.asked.total() == asked
    assert (again.known, again.trials) == (CALLS, [])


# Money


class PennyPricer:
    """A cent for a call, and ten at most."""

    table = "pennies"

    def cost(self, usage):
        return None if usage.output_tokens is None else Decimal("0.01")

    def worst(self, request):  # noqa: ARG002
        return Decimal("0.10")


def budgeted(folder: Path, cap: str) -> Ledger:
    return Ledger(Decimal(cap), lease=Budget(folder).lease("judge loopback", "run"))


def booked(folder: Path):
    return Budget(folder).booked(["judge loopback"])


def test_a_batch_is_held_at_its_worst_case_and_settled_by_whoever_reads_it(tmp_path):
    with BatchServer(swayed_answer, polls=10**6) as server:
        run = planned(batch_study(tmp_path / "study", server))
        ledger = budgeted(tmp_path, "100")
        with leaving() as heard, pytest.raises(asyncio.CancelledError):
            ask(run, pricer=PennyPricer(), ledger=ledger, watcher=heard)
        ledger.close()
        assert booked(tmp_path).held == CALLS * Decimal("0.10")
        assert booked(tmp_path).bill.total == 0
        server.polls = 0
        ask(run, pricer=PennyPricer(), ledger=budgeted(tmp_path, "100"))
    assert server.worked.total() == CALLS
    assert booked(tmp_path).held == 0
    assert booked(tmp_path).bill.billed == CALLS * Decimal("0.01")
    assert sum(response.cost for response in responses(run.folder)) == CALLS * Decimal("0.01")


def test_what_does_not_fit_into_the_budget_is_excluded(tmp_path):
    with BatchServer(swayed_answer) as server:
        run = planned(batch_study(tmp_path / "study", server))
        ledger = budgeted(tmp_path, "5.05")
        with pytest.raises(CapReached, match=r"may cost up to \$0\.100000"):
            ask(run, pricer=PennyPricer(), ledger=ledger, most=30)
        assert [len(batch) for batch in server.batches] == [30, 20]
        assert booked(tmp_path).bill.billed == Decimal("0.50")
        assert booked(tmp_path).held == 0
        assert len(responses(run.folder)) == 50
        # There is room again, and only what is left is asked.
        ask(run, pricer=PennyPricer(), ledger=budgeted(tmp_path, "100"))
    assert server.worked.total() == len(server.worked) == CALLS


def test_what_may_have_been_worked_on_stays_booked(tmp_path):
    with BatchServer(swayed_answer, end="expired", rewrite=lambda lines: "\n".join(lines[:10])) as server:
        run = planned(batch_study(tmp_path / "study", server))
        ask(run, pricer=PennyPricer(), ledger=budgeted(tmp_path, "100"))
    assert booked(tmp_path).bill.billed == Decimal("0.10")
    assert booked(tmp_path).bill.uncertain == (CALLS - 10) * Decimal("0.10")
    kinds = Counter(response.failure for response in responses(run.folder))
    assert kinds == {None: 10, "timeout": CALLS - 10}


def test_a_batch_that_was_turned_down_costs_nothing_and_is_asked_again(tmp_path):
    with BatchServer(swayed_answer, end="failed") as server:
        run = planned(batch_study(tmp_path / "study", server))
        ask(run, pricer=PennyPricer(), ledger=budgeted(tmp_path, "100"))
        assert booked(tmp_path).total == 0
        assert {response.failure for response in responses(run.folder)} == {"rejected"}
        server.end = "completed"
        ask(run, pricer=PennyPricer(), ledger=budgeted(tmp_path, "100"))
    assert {response.failure for response in responses(run.folder)} == {None}
    assert {generation for _, generation in run.store.sealed()} == {0, 1}


# What a server may say


def doubled(lines):
    return "\n".join([*lines, lines[3]])


def of_another_batch(lines):
    return "\n".join(line.replace(json.loads(line)["custom_id"].partition("-")[2], "0" * 16) for line in lines)


HOSTILE = {
    "a doubled result": (doubled, 1),
    "an unknown trial": (lambda lines: "\n".join([lines[0].replace('custom_id": "', 'custom_id": "f'), *lines[1:]]), 1),
    "results of another batch": (of_another_batch, CALLS),
    "a file that is cut off": (lambda lines: "\n".join(lines)[: -len(lines[-1]) // 2], 1),
    "a line of 10 MB": (lambda lines: "\n".join([lines[0][:-1] + " " * 10**7 + "}", *lines[1:]]), 1),
    "no JSON": (lambda lines: "\n".join(["<html>", *lines[1:], "{", "[]", "null", '"a"']), 1),
    "nothing": (lambda _: "", CALLS),
    "strange ids": (
        lambda lines: "\n".join([*lines, '{"custom_id": 7}', '{"custom_id": null}', '{"custom_id": []}']),
        0,
    ),
    "no result in a result": (
        lambda lines: "\n".join(
            [json.dumps({"custom_id": json.loads(lines[0])["custom_id"], "response": 1, "result": 1}), *lines[1:]]
        ),
        1,
    ),
}


@either
@pytest.mark.parametrize(("rewrite", "lost"), HOSTILE.values(), ids=HOSTILE)
def test_no_result_but_its_own_is_a_verdict(tmp_path, protocol, rewrite, lost):
    with BatchServer(swayed_answer, rewrite=rewrite) as server:
        run = planned(batch_study(tmp_path, server, protocol))
        ask(run)
        failed = [response for response in responses(run.folder) if response.failure is not None]
        assert len(failed) == lost
        assert len(responses(run.folder)) == CALLS
        # A later command asks again for just these.
        server.rewrite = "\n".join
        ask(run)
    assert server.worked.total() == CALLS + lost
    assert all(response.failure is None for response in responses(run.folder))


@either
def test_an_entry_that_failed_is_a_failure_of_its_trial(tmp_path, protocol):
    with BatchServer(swayed_answer, unanswered=lambda body: len(str(body)) % 5 == 0) as server:
        run = planned(batch_study(tmp_path, server, protocol))
        ask(run)
        [batch] = server.batches
        kinds = Counter(response.failure for response in responses(run.folder))
    lost = sum(len(str(body)) % 5 == 0 for body in batch)
    assert lost
    assert kinds == {None: CALLS - lost, "rejected" if protocol == "openai-compatible" else "timeout": lost}


def test_a_create_call_without_a_clear_reply_makes_one_batch(tmp_path):
    with BatchServer(swayed_answer, refuse_batches=2) as server:
        run = planned(batch_study(tmp_path, server))
        ask(run)
    assert server.asked["POST /v1/batches"] == 3
    assert server.asked["GET /v1/batches"] == 3
    assert server.worked.total() == CALLS


# Who is refused


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        ({"model": {"adapter": "simulated", "name": "coin"}}, "the adapter simulated does not support batches"),
        ({"callable": "mine:judge"}, "only a language model"),
        ({"model": {"adapter": "inspect", "name": "openai/gpt-4o"}}, "the adapter inspect does not support batches"),
        (
            {
                "model": {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1:1/v1"},
                "capabilities": {"stateful": True},
            },
            "it is stateful",
        ),
    ],
)
def test_a_judge_without_batches_is_refused_before_anything_is_priced(tmp_path, judge, why):
    study = parse_study_data({"study": "s", "judges": [{"name": "mine", **judge}]}, tmp_path)
    with pytest.raises(UsageError, match=why) as refused:
        next(measure_judges(study, (), Terms(pytest.fail, pytest.fail, calls=CallOptions("batch"))))
    assert "--executor local" in refused.value.fix
    assert list(tmp_path.iterdir()) == []


def test_a_server_without_batches_is_refused_before_anything_is_uploaded(tmp_path):
    with ChatServer(swayed_answer) as server:
        run = planned(write_study(tmp_path, server.base_url))
        with pytest.raises(UsageError, match="does not accept batches: HTTP 404") as refused:
            ask(run)
    assert "--executor local" in refused.value.fix
    assert not server.asked
    assert not (run.folder / "batches").exists()


def test_a_redirect_is_not_followed_and_a_key_is_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setenv("BATCH_KEY", "sk-the-key-of-batches-4711")

    def points_elsewhere(_route):
        raise web.HTTPFound("http://127.0.0.1:1/v1/batches")

    def quotes(_route):
        raise web.HTTPUnauthorized(text="wrong key sk-the-key-of-batches-4711")

    with BatchServer(swayed_answer) as server:
        study = batch_study(tmp_path, server)
        study.write_text(study.read_text().replace("price:", "api_key_env: BATCH_KEY\n      price:"))
        run = planned(study)
        server.before = points_elsewhere
        with pytest.raises(RunStopped, match=r"redirects to 127.0.0.1:1; redirects are not followed"):
            ask(run)
        server.before = quotes
        with pytest.raises(RunStopped, match="HTTP 401: wrong key") as refused:
            ask(run)
        assert "4711" not in str(refused.value)
        server.before = lambda _route: None
        ask(run)
    assert server.worked.total() == CALLS


def test_a_batch_that_is_refused_does_not_keep_the_others(tmp_path):
    def refuse(route):
        if route == "POST /v1/batches" and len(server.batches) == 1:
            raise web.HTTPForbidden(text="too many batches")

    with BatchServer(swayed_answer, before=refuse) as server:
        run = planned(batch_study(tmp_path / "study", server))
        with pytest.raises(RunStopped, match="too many batches"):
            ask(run, pricer=PennyPricer(), ledger=budgeted(tmp_path, "100"), most=100)
        assert len(responses(run.folder)) == 100
        assert booked(tmp_path).total == 1
        server.before = lambda _route: None
        ask(run, pricer=PennyPricer(), ledger=budgeted(tmp_path, "100"))
    assert server.worked.total() == len(server.worked) == CALLS


def test_nobody_else_asks_what_is_at_the_provider(tmp_path):
    with BatchServer(swayed_answer, polls=10**6) as server:
        run = planned(batch_study(tmp_path, server))
        with leaving() as heard, pytest.raises(asyncio.CancelledError):
            ask(run, watcher=heard)
        assert heard.sentences[0].startswith("batch ")
        assert f"1 batch is at the provider, 0 of {CALLS} questions done" in heard.sentences[1]
        assert heard.sentences[-1] == GO_ON
        with pytest.raises(UsageError, match=f"{CALLS} trials of run .* are in batches at the provider"):
            LocalExecutor(Calling(8)).run(range(run.shards), run.call, run.store, Heard())
        assert estimate_run(run, FREE, concurrency=1).calls == 0
        assert plan_preflight(run, FREE) is None
    assert server.singles == 0


# Prices


def test_known_prices_are_halved_and_others_say_that_they_are_not():
    model = PricedModel("gpt-4o-mini", "https://api.openai.com/v1", named_by_provider=False)
    single = pricer_for(model, {})
    batch = batch_pricer(single)
    usage = Usage(1_000_000, 1_000_000)
    assert batch.cost(usage) == single.cost(usage) / 2 > 0
    assert batch.table == f"{single.table}, 50% of it for batches"
    own = batch_pricer(RatePricer(TokenPrices(Decimal(1), Decimal(2)), "--price"))
    assert own.cost(usage) == 3
    assert own.table.endswith("the batch price is unknown, so the price of single calls is used")
    assert batch_pricer(FREE) is FREE
