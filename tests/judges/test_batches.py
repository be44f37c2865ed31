"""A judge that takes many questions at a time: each gets its own answer, or the error of its batch."""

import asyncio

import pytest

from umpirical.judges.adapters.python import Batches


def doubling(calls):
    async def ask(questions):
        calls.append(list(questions))
        await asyncio.sleep(0)
        return [2 * question for question in questions]

    return ask


async def test_questions_are_put_together_and_each_gets_its_own_answer():
    calls = []
    batches = Batches(doubling(calls), 8)
    assert await asyncio.gather(*(batches.answer(number) for number in range(20))) == [2 * n for n in range(20)]
    assert [len(batch) for batch in calls] == [8, 8, 4]


async def test_a_single_question_does_not_wait_for_others_for_ever():
    calls = []
    assert await asyncio.wait_for(Batches(doubling(calls), 100).answer(3), 60) == 6


@pytest.mark.parametrize("answers", [[], [1], [1, 2, 3], "12", {"a": 1, "b": 2}, None, 7])
async def test_answers_that_cannot_be_told_apart_are_nobodys(answers):
    async def ask(_):
        return answers

    batches = Batches(ask, 2)
    found = await asyncio.gather(batches.answer(1), batches.answer(2), return_exceptions=True)
    assert [str(each).partition(" but returned")[0] for each in found] == ["the judge was given 2 questions"] * 2


async def test_one_that_failed_leaves_the_others_their_answers():
    async def ask(questions):
        return [ValueError("no") if question == 2 else question for question in questions]

    batches = Batches(ask, 3)
    found = await asyncio.gather(*(batches.answer(n) for n in (1, 2, 3)), return_exceptions=True)
    assert (found[0], str(found[1]), found[2]) == (1, "no", 3)


async def test_one_who_gives_up_is_not_asked_for():
    calls = []
    batches = Batches(doubling(calls), 3)
    first = asyncio.ensure_future(batches.answer(1))
    await asyncio.sleep(0)
    first.cancel()
    assert await asyncio.gather(batches.answer(2), batches.answer(3)) == [4, 6]
    assert calls == [[2, 3]]
