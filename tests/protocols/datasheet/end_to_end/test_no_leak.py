"""No prompt tells the judge what the study knows: no winner, no level, no label, nothing about the pair."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.stimuli.built import built
from umpirical.domain.stimuli import GivenWinner, NoPreference, Stimulus
from umpirical.domain.trials import Order, Presentation
from umpirical.judges.factory import build_judge
from umpirical.judges.prompt import fence
from umpirical.models.spec import Calling
from umpirical.runs.plan import Design, shown
from umpirical.study.file import parse_study

STUDY = parse_study("study: s\njudges:\n  - {name: j, model: {adapter: simulated, name: careful}}\n", Path())


@pytest.fixture(scope="module")
def judge():
    return build_judge(STUDY.spec.judges[0], folder=Path(), calling=Calling(answer_key=lambda: lambda *_: 0.0, seed=1))


@pytest.fixture(scope="module")
def stimuli() -> tuple[Stimulus, ...]:
    return built("standard")


def prompt(judge, stimulus: Stimulus, order: Order) -> str:
    request = judge.request(shown(stimulus, order), Presentation())
    return "\n".join(message.content for message in request.messages)


def all_prompts(judge, stimuli):
    for stimulus in stimuli:
        for way in (Design()).presentations(stimulus, judge.capabilities):
            yield stimulus, way, prompt(judge, stimulus, way.order)


def test_beyond_task_and_candidates_every_prompt_is_the_same_text(judge, stimuli):
    """Whatever is left once the texts are taken out cannot tell one trial from another."""
    skeletons = set()
    for stimulus, way, text in all_prompts(judge, stimuli):
        seen = shown(stimulus, way.order)
        start = text.index("[candidate 1, ")
        task, fenced = text[:start], text[start:]
        assert task.count(seen.task) == 1
        mark = fence(seen)
        blocks = f"[candidate 1, {mark}]\n{seen.first}\n[end", f"[candidate 2, {mark}]\n{seen.second}\n[end"
        assert all(fenced.count(block) == 1 for block in blocks)
        for number, block in enumerate(blocks):
            fenced = fenced.replace(block, f"BLOCK{number}")
        skeletons.add(task.replace(seen.task, "TASK") + fenced.replace(mark, "FENCE"))
    assert len(skeletons) == 1


def test_no_word_of_the_design_is_in_the_common_text(judge):
    empty = Stimulus("task-id", "TASK", ("FIRST", "SECOND"), NoPreference(), "maker/1", "graded", "stratum", 2.0, 1)
    text = prompt(judge, empty, Order.AB)
    for word in ("task-id", "maker", "graded", "stratum", "delta", "level", "expected", "blank", "order", "ab"):
        found = re.findall(rf"\b{word}\b", text)
        assert not found, word


def test_changing_all_that_the_study_knows_changes_no_prompt(judge, stimuli):
    for stimulus in stimuli:
        lied = replace(
            stimulus,
            task_id="other",
            expectation=GivenWinner(1),
            maker="canary-maker/9",
            family="canary-family",
            stratum="canary-stratum",
            delta=99.0,
            base=42,
            parent="canary-parent",
        )
        for order in Order:
            assert prompt(judge, stimulus, order) == prompt(judge, lied, order)


def test_the_wire_holds_no_more_than_the_prompt_and_the_decoding(judge, stimuli):
    from umpirical.models.adapters.openai_compatible import request_body

    for stimulus in stimuli[:40]:
        body = request_body(judge.request(shown(stimulus, Order.AB), Presentation()))
        assert set(body) <= {"model", "messages", "temperature", "max_tokens", "response_format"}
        assert len(body["messages"]) == 1
        assert set(body["messages"][0]) == {"role", "content"}
