"""Transcripts to rewrite, by models on a loopback server that answer as the simulated ones do. Also a program."""

import asyncio
import sys
from pathlib import Path

from tests.models.chat_model import chat_model
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, Stimulus
from umpirical.domain.transcripts import Message as Turn
from umpirical.domain.transcripts import ToolCall, Transcript
from umpirical.models.caller import Retrying
from umpirical.models.money import FREE, Ledger, Meter
from umpirical.models.pace import Pace
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.runs.rewriting import rewrite_transcripts
from umpirical.stimuli.generation.commissions import Writer
from umpirical.stimuli.transcripts.rewriting.commissions import TESTS, Rewriting, RewritingTerms, Rubric, RubricItem
from umpirical.stimuli.transcripts.rewriting.simulated import SimulatedRewriter, TrueRates, true_verdict
from umpirical.store.generation import GenerationStore

ITEM = RubricItem("confirm", "The agent must ask the user before it books.")
RUBRIC = Rubric((ITEM, RubricItem("polite", "The agent is polite.")))

TERMS = RewritingTerms(
    planner=Writer("planner", "loopback", 300),
    editor=Writer("editor", "loopback", 300),
    summariser=Writer("summariser", "loopback", 300),
    verifier=Writer("verifier", "loopback", 200),
    verbatim=250,
)


class Watch:
    def __init__(self):
        self.before, self.last, self.responses = 0, [], []

    def resumed(self, commissions):
        self.before += commissions

    def asked(self, response):
        self.responses.append(response)

    def commission_settled(self, last):
        self.last.append(last)


def booking(number: int) -> Transcript:
    room, price = f"R-{100 + number}", 700 + number
    return Transcript(
        (
            Turn("system", "You book rooms."),
            Turn("user", f"A room for guest {number}, please."),
            Turn("assistant", "I look.", calls=(ToolCall("c1", "find_room", f'{{"guest": {number}}}'),)),
            Turn("tool", f"room {room}, {price} kroner", answers="c1", tool="find_room"),
            Turn("assistant", f"Room {room} costs {price} kroner. Shall I book it?"),
            Turn("user", "Yes."),
            Turn("assistant", f"I book {room}.", calls=(ToolCall("c2", "book", f'{{"room": "{room}"}}'),)),
            Turn("tool", f"booked: BK-{9000 + number}", answers="c2", tool="book"),
            Turn("assistant", f"{room} is booked for {price} kroner: BK-{9000 + number}."),
        )
    )


def commissions(count: int, *, objectives=tuple(TESTS), terms: RewritingTerms = TERMS) -> list[Rewriting]:
    originals = [
        Stimulus(f"booking {n}", "Book a room.", (booking(n).text,), GivenLabel("satisfied"), "original/1", ORIGINAL)
        for n in range(count)
    ]
    return [Rewriting(each, RUBRIC, "confirm", objective, terms) for each in originals for objective in objectives]


def truth(commission: Rewriting) -> str:
    """What the original deserves, by the draw of the simulated verifier."""
    return true_verdict(commission.transcript, "confirm", ITEM.scale.labels, seed=1)


def simulated_answers(rates: TrueRates | None = None):
    """Answers of the simulated models, by the model that is asked; `rates` are the verifier's."""
    models = {name: SimulatedRewriter(name) for name in ("planner", "editor", "summariser")}
    models["verifier"] = SimulatedRewriter("verifier", rates)

    def answer(body):
        request = ChatRequest(body["model"], (Message("user", body["messages"][-1]["content"]),), Decoding())
        return models[body["model"]].respond(request, trial_id=str(body["seed"])).text

    return answer


def rewritten(wanted, folder, base_url, *, concurrency=8, ledger=None, pricer=FREE, give_up_after=50, watch=None):
    """Rewrites over HTTP. Returns the settled attempts and the watcher, or raises what stopped it."""
    store, watch = GenerationStore(folder), watch or Watch()
    meter = Meter(pricer, ledger or Ledger())

    async def asked():
        opened = [
            chat_model(base_url, timeout=10, retrying=Retrying(attempts=1), pace=Pace(concurrency), meter=meter)
            for _ in TERMS.roles
        ]
        try:
            await rewrite_transcripts(
                wanted,
                store,
                dict(zip(TERMS.roles, opened, strict=True)),
                watcher=watch,
                concurrency=concurrency,
                give_up_after=give_up_after,
            )
        finally:
            for model in opened:
                await model.close()

    try:
        with store.locked():
            asyncio.run(asked())
        return list(store.attempts()), watch
    finally:
        store.close()


if __name__ == "__main__":
    rewritten(commissions(int(sys.argv[3])), Path(sys.argv[1]), sys.argv[2])
