"""Generating over real HTTP: a generator and a validator on loopback, whose calls are counted."""

import asyncio
import json
import re
from collections import Counter

import pytest

from tests.models.chat_model import chat_model
from tests.servers.chat_server import ChatServer
from umpirical.domain.errors import UmpiricalError
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, Stimulus
from umpirical.models.caller import Retrying
from umpirical.models.money import FREE, Ledger, Meter
from umpirical.models.pace import Pace
from umpirical.runs.generation import Unlike, Writers, commissions_left, generate
from umpirical.stimuli.generation.commissions import Commission, GenerationTerms, Writer
from umpirical.stimuli.perturbations.catalogue import Check, GeneratedPerturbation, Made
from umpirical.store.generation import GenerationStore

SCALE = GradeScale("ordinal", ("1", "2", "3"))


def differs(made: Made) -> bool:
    return made.changed not in (made.original, *made.others)


REWRITE = GeneratedPerturbation(
    name="rewrite",
    title="Rewrite",
    about="Says the same in other words.",
    version=1,
    expectation="same-verdict",
    prompt="Rewrite, {{fence}}:\n{{response}}",
    checks=(Check("new", "another text", lambda made: made.changed[:20], differs),),
)
NEW = GeneratedPerturbation(
    name="new",
    title="New",
    about="Writes a text of a level.",
    version=1,
    expectation="given-label",
    prompt="Write one of level {{target}}, {{fence}}",
    checks=(Check("new", "another text", lambda made: made.changed[:20], differs),),
    validation="target-grade",
)
TERMS = GenerationTerms(
    instruction="Grade it.",
    rubric="More is better.",
    scale=SCALE,
    generator=Writer("writer", "loopback", 100),
    validator=Writer("validator", "loopback", 20),
    votes=3,
    agree=2,
    temperatures=(0.5, 1.0),
    tries=1,
)


def originals(count):
    return [
        Stimulus(f"item{n}", "Say it.", (f"original {n}",), GivenLabel("2"), "original/1", ORIGINAL, gold="2")
        for n in range(count)
    ]


def rewrites(count):
    return [Commission(REWRITE, TERMS, source) for source in originals(count)]


class Watch:
    def __init__(self):
        self.before, self.last, self.responses = 0, [], []

    def resumed(self, commissions):
        self.before += commissions

    def asked(self, response):
        self.responses.append(response)

    def commission_settled(self, last):
        self.last.append(last)


def writes(body):
    """The generator and the validator on one server, told apart by the model they are asked as."""
    if body["model"] == "validator":
        return '{"verdict": "same"}'
    return "rewritten " + re.search(r"original \d+", body["messages"][-1]["content"])[0]


def run(commissions, folder, server, *, concurrency=8, attempts=1, watch=None):
    store, watch = GenerationStore(folder), watch or Watch()

    def model():
        return chat_model(
            server.base_url,
            api_key=None,
            timeout=10,
            retrying=Retrying(attempts=attempts),
            pace=Pace(concurrency),
            meter=Meter(FREE, Ledger()),
        )

    async def asked():
        writers = Writers(model(), model())
        try:
            await generate(commissions, store, writers, watcher=watch, unlike=Unlike(), concurrency=concurrency)
        finally:
            await writers.generator.close()
            await writers.validator.close()

    try:
        asyncio.run(asked())
    finally:
        found = list(store.attempts())
        store.close()
    return found, watch


def test_every_commission_becomes_a_stimulus_with_its_evidence(tmp_path):
    with ChatServer(writes, latency=0.01) as server:
        found, watch = run(rewrites(40), tmp_path, server)
    assert sorted(attempt.text for attempt in found) == sorted(f"rewritten original {n}" for n in range(40))
    assert all(attempt.stimulus is not None and not attempt.rejected for attempt in found)
    assert len(watch.last) == 40
    # One text and two opinions each: the third is not asked for once two agree.
    assert sum(server.answered.values()) == 40 * 3
    [stimulus] = {attempt.stimulus for attempt in found if attempt.text.endswith(" 7")}
    assert stimulus.parent == originals(8)[7].id
    assert "2 of 2 agree" in stimulus.evidence["validators"]
    assert server.most_in_flight > 1


def test_what_is_settled_is_not_asked_again(tmp_path):
    commissions = rewrites(10)
    with ChatServer(writes) as server:
        run(commissions[:6], tmp_path, server)
        first = sum(server.asked.values())
        _, watch = run(commissions, tmp_path, server)
    assert watch.before == 6
    assert sum(server.asked.values()) - first == 4 * 3
    assert max(server.answered.values()) == 1


def test_temperature_steps_and_seeds_are_really_sent(tmp_path):
    def stubborn(body):
        return '{"verdict": "different"}' if body["model"] == "validator" else writes(body)

    with ChatServer(stubborn) as server:
        found, _ = run(rewrites(1), tmp_path, server)
    sent = [body for body in server.bodies if body["model"] == "writer"]
    assert [body["temperature"] for body in sent] == [0.5, 1.0]
    assert len({body["seed"] for body in sent}) == 2
    assert [attempt.rejected.split(":")[0] for attempt in found] == ["validators", "validators"]
    # Two of three that say no decide: the third validator is not asked.
    assert len([body for body in server.bodies if body["model"] == "validator"]) == 4


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "wrote nothing"), (None, "new:")],
    ids=["nothing", "a copy"],
)
def test_a_generator_that_writes_nothing_or_copies_yields_no_stimulus(text, why, tmp_path):
    def answer(body):
        copied = re.search(r"original \d+", body["messages"][-1]["content"])
        return copied[0] if text is None else text

    with ChatServer(answer) as server:
        found, watch = run(rewrites(5), tmp_path, server)
    assert len(found) == 5 * TERMS.attempts
    assert all(attempt.stimulus is None and why in attempt.rejected for attempt in found)
    assert all(last is not None and last.stimulus is None for last in watch.last)
    # No validator is asked about what no program would take.
    assert all(body["model"] == "writer" for body in server.bodies)


def test_a_failed_call_leaves_its_commission_open_and_is_made_up_for_later(tmp_path):
    commissions = rewrites(12)

    def misbehave(name, times):
        return "server-error" if times == 1 and int(name[:2], 16) % 3 == 0 else None

    with ChatServer(writes, misbehave=misbehave) as server:
        found, watch = run(commissions, tmp_path, server)
        still_open = sum(last is None for last in watch.last)
        store = GenerationStore(tmp_path)
        assert still_open == len(commissions_left(commissions, store)) == 12 - len(found) > 0
        store.close()
        for _ in range(4):
            found, _ = run(commissions, tmp_path, server)
    assert len(found) == 12
    assert all(attempt.stimulus is not None for attempt in found)
    # Nothing that was answered was asked for again.
    assert max(server.answered.values()) == 1


def test_a_server_that_is_down_is_not_asked_for_ever(tmp_path):
    with (
        ChatServer(writes, misbehave=lambda _name, _times: "server-error") as server,
        pytest.raises(UmpiricalError, match="in a row failed") as stopped,
    ):
        run(rewrites(500), tmp_path, server, concurrency=4)
    assert stopped.value.exit_code == 5
    assert sum(server.asked.values()) < 90


def test_two_texts_of_one_level_are_never_the_same(tmp_path):
    """Workers that write at the same time cannot both have the same idea accepted."""
    ideas = Counter()

    def unimaginative(body):
        if body["model"] == "validator":
            return '{"grade": "3"}'
        ideas["asked"] += 1
        return f"idea {ideas['asked'] % 3}"

    commissions = [Commission(NEW, TERMS, originals(1)[0], target="3", number=n) for n in range(12)]
    with ChatServer(unimaginative, latency=0.01) as server:
        found, _ = run(commissions, tmp_path, server, concurrency=12)
    taken = [attempt.text for attempt in found if attempt.stimulus is not None]
    assert sorted(taken) == ["idea 0", "idea 1", "idea 2"]
    assert all(attempt.stimulus.gold == "3" for attempt in found if attempt.stimulus)
    assert all(attempt.stimulus.gold_from == "construction" for attempt in found if attempt.stimulus)


def test_a_validator_never_sees_which_level_is_hoped_for(tmp_path):
    with ChatServer(lambda body: '{"grade": "3"}' if body["model"] == "validator" else "a text") as server:
        run([Commission(NEW, TERMS, originals(1)[0], target="3")], tmp_path, server)
    [shown] = {body["messages"][-1]["content"] for body in server.bodies if body["model"] == "validator"}
    assert TERMS.instruction in shown
    assert TERMS.rubric in shown
    for level in SCALE.labels:
        assert shown.count(f'"{level}"') == shown.count('"1"')
    schema = next(body for body in server.bodies if body["model"] == "validator")["response_format"]
    assert json.dumps(schema).count('"3"') == 1
