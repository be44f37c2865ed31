"""A real model plans, summarises and edits transcripts: its server takes every schema, and every attempt is settled.

The verdicts are simulated, since so small a model says the same of everything, and then nothing would be planned.
"""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from tests.models.chat_model import chat_model
from tests.runs.rewriting_server import TERMS, Watch, commissions, truth
from umpirical.models.caller import Retrying
from umpirical.runs.rewriting import rewrite_transcripts, rewritings_left
from umpirical.stimuli.generation.commissions import Writer
from umpirical.stimuli.transcripts.rewriting.settlement import stage_of
from umpirical.stimuli.transcripts.rewriting.simulated import SimulatedRewriter
from umpirical.store.generation import GenerationStore

pytestmark = [pytest.mark.llm, pytest.mark.slow]


def test_a_real_server_takes_every_schema_and_every_attempt_is_settled(server, tmp_path):
    writers = {role: Writer(server.name, "llama.cpp", 120) for role in ("planner", "editor", "summariser")}
    terms = replace(TERMS, **writers, most_steps=2, most_repairs=1, temperatures=(0.7,), tries=2)
    wanted = [each for each in commissions(6, objectives=("violate",), terms=terms) if truth(each) == "satisfied"][:2]
    store, watch = GenerationStore(tmp_path), Watch()

    async def asked():
        real = chat_model(server.base_url, timeout=900, retrying=Retrying(attempts=1))
        models = {"verifier": SimulatedRewriter("verifier")} | dict.fromkeys(writers, real)
        try:
            await rewrite_transcripts(wanted, store, models, watcher=watch, concurrency=1)
        finally:
            await real.close()

    asyncio.run(asked())
    attempts, spent = list(store.attempts()), list(store.spent())
    left = rewritings_left(wanted, store)
    store.close()
    assert left == []
    assert [response.failure for _, response in spent if response.failure] == []
    assert {"planner", "editor"} <= {role for role, _ in spent}
    ends = Counter("verified" if each.stimulus else stage_of(each) for each in attempts)
    print(ends, [each.rejected for each in attempts])  # noqa: T201  # worth reading with -s
    assert None not in ends
    assert ends["original"] == 0
