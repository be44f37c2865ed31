"""Rewriting over real HTTP: planner, editor, summariser and verifier on loopback, whose calls are counted."""

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from tests.runs.rewriting_server import ITEM, TERMS, Watch, commissions, rewritten, simulated_answers, truth
from tests.servers.chat_server import ChatServer
from umpirical.domain.errors import UmpiricalError
from umpirical.domain.transcripts import transcript_from_text
from umpirical.models.money import FREE, CapReached, Ledger, most_input_tokens
from umpirical.models.prices import UNPRICED
from umpirical.models.spec import ModelSpec
from umpirical.runs.rewriting import estimated, rewritings_left
from umpirical.stimuli.generation.commissions import Writer
from umpirical.stimuli.transcripts.rewriting.edits import replaced
from umpirical.stimuli.transcripts.rewriting.settlement import attempt, demands
from umpirical.stimuli.transcripts.rewriting.simulated import SimulatedRewriter, TrueRates, true_verdict
from umpirical.store.generation import GenerationStore

ROOT = Path(__file__).parents[2]

SPECS = {role: ModelSpec(adapter="simulated-rewriter", name=role) for role in TERMS.roles}


def test_every_transcript_is_verified_or_dropped_by_what_is_true_value(tmp_path):
    wanted = commissions(20)
    with ChatServer(simulated_answers(), latency=0.005) as server:
        found, watch = rewritten(wanted, tmp_path, server.base_url)
    assert len(found) == len(watch.last) == 40
    by_id = {commission.id: commission for commission in wanted}
    for each in found:
        commission = by_id[each.commission]
        opposite = {"violate": "satisfied", "satisfy": "violated"}[commission.objective]
        assert (each.stimulus is not None) == (truth(commission) == opposite)
        if each.stimulus is not None:
            made = transcript_from_text(each.stimulus.candidates[0])
            assert list(made.problems()) == []
            assert true_verdict(made, "confirm", ITEM.scale.labels, seed=1) == commission.target
    assert Counter(each.test for each in found) == {"agent-perturbation": 20, "agent-positives": 20}
    # Nobody plans or edits what is dropped at once, and both objectives share the two verdicts on an original.
    verdicts = [body for body in server.bodies if body["model"] == "verifier"]
    assert len(verdicts) == 20 * 2 + 20 * 2
    dropped = [each.rejected for each in found if each.rejected]
    assert len(dropped) == 20
    assert any(reason.startswith("original: the original is not ") for reason in dropped)
    assert server.most_in_flight > 1
    assert max(server.answered.values()) == 1
    assert {body["model"] for body in server.bodies} == {"planner", "editor", "summariser", "verifier"}


def test_what_is_settled_is_not_asked_again(tmp_path):
    wanted = commissions(8)
    with ChatServer(simulated_answers()) as server:
        rewritten(wanted[:10], tmp_path, server.base_url)
        before = server.asked.total()
        found, watch = rewritten(wanted, tmp_path, server.base_url)
        middle = server.asked.total()
        again, _ = rewritten(wanted, tmp_path, server.base_url)
    assert watch.before == 10
    assert before < middle == server.asked.total()
    assert again == found
    assert max(server.answered.values()) == 1


def test_a_second_attempt_does_not_ask_about_the_original_again(tmp_path):
    sound = simulated_answers()

    def answer(body):
        return '{"steps": []}' if body["model"] == "planner" else sound(body)

    wanted = [each for each in commissions(6) if each.leads_on(truth(each))]
    with ChatServer(answer) as server:
        found, _ = rewritten(wanted, tmp_path, server.base_url)
    assert len(found) == len(wanted) * TERMS.attempts
    assert {each.rejected for each in found} == {"planner: cannot use the planner's answer (no steps)"}
    asked = Counter(body["model"] for body in server.bodies)
    assert asked == {"verifier": 2 * len(wanted), "planner": TERMS.attempts * len(wanted)}


@pytest.mark.parametrize("fault", ["server-error", "reset", "malformed"])
def test_a_verifier_that_always_errs_lets_nothing_pass_and_leaves_everything_open(tmp_path, fault):
    wanted = commissions(4, objectives=("violate",))
    with ChatServer(simulated_answers(), misbehave=lambda _name, _times: fault) as server:
        found, watch = rewritten(wanted, tmp_path, server.base_url)
    assert found == []
    assert watch.last == [None] * 4
    store = GenerationStore(tmp_path)
    assert len(rewritings_left(wanted, store)) == 4
    store.close()


def test_a_server_that_is_down_is_not_asked_for_ever(tmp_path):
    down = ChatServer(simulated_answers(), misbehave=lambda _name, _times: "server-error")
    with down as server, pytest.raises(UmpiricalError, match="in a row failed") as stopped:
        rewritten(commissions(200), tmp_path, server.base_url, concurrency=4, give_up_after=20)
    assert stopped.value.exit_code == 5
    assert server.asked.total() < 60


@pytest.mark.parametrize("said", ["violated", "satisfied"])
def test_a_verifier_that_says_the_same_of_everything_lets_nothing_pass(tmp_path, said):
    sound = simulated_answers()

    def answer(body):
        verdict = f'{{"item": "confirm", "status": "{said}", "why": "So it is."}}'
        return verdict if body["model"] == "verifier" else sound(body)

    with ChatServer(answer) as server:
        found, _ = rewritten(commissions(6), tmp_path, server.base_url)
    assert len(found) >= 12
    assert all(each.stimulus is None for each in found)


def test_a_failed_call_is_made_up_for_later_without_asking_again_what_was_answered(tmp_path):
    wanted = commissions(10)

    def misbehave(name, times):
        return "server-error" if times == 1 and int(name[:2], 16) % 4 == 0 else None

    with ChatServer(simulated_answers()) as server:
        undisturbed, _ = rewritten(wanted, tmp_path / "calm", server.base_url)
    with ChatServer(simulated_answers(), misbehave=misbehave) as server:
        _, watch = rewritten(wanted, tmp_path / "rough", server.base_url)
        assert None in watch.last
        for _ in range(12):
            found, _ = rewritten(wanted, tmp_path / "rough", server.base_url)
    assert max(server.answered.values()) == 1
    assert {each.commission: each for each in found} == {each.commission: each for each in undisturbed}


class Flat:
    """Every answer costs a tenth of a cent; the worst case is four times that."""

    table = "flat"

    def cost(self, usage):
        return None if usage.output_tokens is None else Decimal("0.001")

    def worst(self, request):  # noqa: ARG002
        return Decimal("0.004")


def test_a_budget_that_ends_midway_loses_nothing_and_is_never_exceeded(tmp_path):
    wanted = commissions(12)
    with ChatServer(simulated_answers()) as server:
        undisturbed, _ = rewritten(wanted, tmp_path / "calm", server.base_url)
        calls = server.answered.total()
        server.answered.clear()
        ledger = Ledger(Decimal("0.001") * (calls // 2))
        with pytest.raises(CapReached):
            rewritten(wanted, tmp_path / "poor", server.base_url, ledger=ledger, pricer=Flat())
        assert 0 < server.answered.total() <= calls // 2
        assert ledger.spent <= ledger.cap
        assert ledger.reserved == 0
        found, _ = rewritten(wanted, tmp_path / "poor", server.base_url, ledger=Ledger(Decimal(10)), pricer=Flat())
    assert server.answered.total() == calls
    assert max(server.answered.values()) == 1
    assert {each.commission: each for each in found} == {each.commission: each for each in undisturbed}


def test_a_run_that_is_killed_goes_on_where_it_stopped(tmp_path):
    count, wanted = 60, commissions(60)
    with ChatServer(simulated_answers(), keep_bodies=0) as server:
        undisturbed, _ = rewritten(wanted, tmp_path / "calm", server.base_url)
        calm = server.answered.copy()
        server.answered.clear()
        command = [
            sys.executable,
            "-m",
            "tests.runs.rewriting_server",
            str(tmp_path / "rough"),
            server.base_url,
            str(count),
        ]
        for share in (0.3, 0.6):
            process = subprocess.Popen(command, cwd=ROOT)
            deadline = time.monotonic() + 300
            while server.answered.total() < share * calm.total() and time.monotonic() < deadline:
                assert process.poll() is None
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
        found, watch = rewritten(wanted, tmp_path / "rough", server.base_url)
    assert 0 < watch.before < len(wanted)
    assert {each.commission: each for each in found} == {each.commission: each for each in undisturbed}
    assert server.answered.keys() == calm.keys()
    # Only what was in flight at a kill, or not yet on the disk, is asked once more.
    assert sum(count - 1 for count in server.answered.values()) <= 2 * 2 * 8


# Priced first


def asked_by(commission, rates=None):
    """Everything that the attempts at one commission ask of simulated models."""
    models = {role: SimulatedRewriter(role) for role in ("planner", "editor", "summariser")}
    models["verifier"] = models["fallback"] = SimulatedRewriter("verifier", rates)
    asks = {}
    for number in range(commission.terms.attempts):
        protocol = attempt(commission, number)
        try:
            ask = next(protocol)
            while True:
                asks[ask.id] = ask
                ask = protocol.send(models[ask.role].respond(ask.request, trial_id=ask.id))
        except StopIteration as end:
            if end.value.stimulus is not None:
                break
    return list(asks.values())


def grown(commission, number):
    """The commission with one large message."""
    if number is None:
        return commission
    message = commission.transcript.messages[number - 1]
    calls = tuple(
        replace(call, arguments=json.dumps({**call.named, "note": 'a "b" ' * 3000})) for call in message.calls
    )
    message = replace(message, text=message.text if calls else f"{message.text} {'ä' * 20_000}", calls=calls)
    transcript = replaced(commission.transcript, number, message)
    return replace(commission, source=replace(commission.source, candidates=(transcript.text,)))


RATES = [TrueRates(), TrueRates(error=0.4), TrueRates(refusal=0.5), TrueRates(nonsense=0.4)]


@pytest.mark.parametrize("rates", RATES, ids=["sound", "errs", "refuses", "babbles"])
@pytest.mark.parametrize("large", [None, 4, 7], ids=["small messages", "a large result", "large arguments"])
def test_nothing_is_asked_more_often_or_at_more_length_than_was_announced(rates, large):
    terms = replace(TERMS, fallback=Writer("fallback", "loopback", 200), verbatim=100)
    for commission in (grown(each, large) for each in commissions(10, terms=terms)):
        asks, wanted = asked_by(commission, rates), list(demands(commission))
        most = Counter()
        for demand in wanted:
            most[demand.role] += demand.most
        for role, times in Counter(ask.role for ask in asks).items():
            assert times <= most[role]
        for ask in asks:
            bounds = [most_input_tokens(each.request) for each in wanted if each.role == ask.role]
            assert most_input_tokens(ask.request) <= max(bounds)
            [limit] = {each.request.decoding.max_tokens for each in wanted if each.role == ask.role}
            assert ask.request.decoding.max_tokens == limit


def test_an_estimate_is_made_before_anything_is_sent(tmp_path):
    wanted, store = commissions(5, objectives=("violate",)), GenerationStore(tmp_path)
    told = estimated(wanted, store, dict.fromkeys(TERMS.roles, Flat()), SPECS)
    # Verified at once: two verdicts, a plan, an edit, two verdicts. At most: two attempts of eight edits and summaries
    # each, though only six messages may be edited.
    assert told.fewest_calls == 5 * (2 + 1 + 1 + 2)
    assert told.most_calls == 5 * (3 + 2 * (1 + 6 + 6 + 3))
    assert told.expected == told.fewest_calls * Decimal("0.004")
    assert told.at_most == told.most_calls * Decimal("0.004")
    # The other objective adds no questions about the originals.
    both = estimated(commissions(5), store, dict.fromkeys(TERMS.roles, Flat()), SPECS)
    assert both.fewest_calls == 5 * (2 + 2 * (1 + 1 + 2))
    assert (told.commissions, told.settled, told.tables) == (5, 0, ("flat",))
    unpriced = estimated(wanted, store, dict.fromkeys(TERMS.roles, UNPRICED), SPECS)
    assert (unpriced.expected, unpriced.at_most) == (None, None)
    store.close()


def test_the_calls_made_lie_within_the_estimate_and_nothing_is_left_to_pay_at_the_end(tmp_path):
    wanted, store = commissions(10, objectives=("violate",)), GenerationStore(tmp_path)
    wanted = [each for each in wanted if each.leads_on(truth(each))]
    free = dict.fromkeys(TERMS.roles, FREE)
    told = estimated(wanted, store, free, SPECS)
    with ChatServer(simulated_answers()) as server:
        rewritten(wanted, tmp_path, server.base_url)
        assert told.fewest_calls <= server.asked.total() <= told.most_calls
    after = estimated(wanted, store, free, SPECS)
    assert (after.settled, after.fewest_calls, after.most_calls) == (len(wanted), 0, 0)
    store.close()


def test_the_record_keeps_every_answer_by_its_role(tmp_path):
    with ChatServer(simulated_answers()) as server:
        _, watch = rewritten(commissions(4), tmp_path, server.base_url, watch=Watch())
        asked = server.answered.total()
    store = GenerationStore(tmp_path)
    spent = list(store.spent())
    store.close()
    assert len(spent) == asked == len(watch.responses)
    assert {role for role, _ in spent} <= set(TERMS.roles)
    assert all(re.fullmatch(r"[0-9a-f]{32}", response.trial_id) for _, response in spent)
