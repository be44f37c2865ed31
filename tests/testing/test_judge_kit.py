"""The kit for judge adapters: the one that ships keeps every promise, and a broken one is caught by its promise."""

import asyncio
from typing import get_args

import pytest

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import JUDGE_ADAPTERS, Adapted
from umpirical.judges.spec import JudgeSpec
from umpirical.testing.judges import JudgeSamples, Promise, check_judge_adapter

SPEC = JudgeSpec(name="j", callable="a_module:judge")
EXPECTED = [(Presented("t", "long answer", "short"), "1"), (Presented("t", "short", "long answer"), "2")]


def judge(task, first, second):  # noqa: ARG001
    return "1" if len(first) > len(second) else "2"


async def asynchronous(task, first, second):
    return judge(task, first, second)


def broken(*_):
    raise RuntimeError("no")


class Judge:
    """One of a class of judges, told apart by their rubrics."""

    def __init__(self, rubric):
        self.rubric = rubric

    def __call__(self, task, first, second):
        return judge(task, first, second)


def check(adapter, adapted=judge, **changed):
    given = {"expected": EXPECTED, "broken": broken, "other": Judge("another"), "stranger": 7} | changed
    check_judge_adapter(adapter, SPEC, JudgeSamples(judge=adapted, **given))


@pytest.mark.parametrize("adapted", [judge, asynchronous, Judge("mine")])
def test_the_adapter_that_ships_keeps_every_promise(adapted):
    assert JUDGE_ADAPTERS.names()[0] == "python"
    # A file is one judge: what else it defines is part of it, so the other judge comes from another file.
    check(JUDGE_ADAPTERS.get("python"), adapted, other=_other_judge())


def _other_judge():
    from tests.testing.other_judge import judge as other

    return other


class Toy:
    """An adapter of judges that can be called; a test changes how."""

    def adapt(self, judge, spec):  # noqa: ARG002
        if not callable(judge):
            raise UsageError("it cannot be called", fix="name a judge")
        return Adapted(lambda shown: self.ask(judge, shown), self.identity(judge))

    async def ask(self, judge, shown):
        await asyncio.sleep(0)
        return judge(shown.task, shown.first, shown.second)

    def identity(self, judge):
        return getattr(judge, "rubric", "none")


class SaysOneThing(Toy):
    async def ask(self, judge, shown):  # noqa: ARG002
        return "1"


class Remembers(Toy):
    async def ask(self, judge, shown):
        self.shown = shown
        await asyncio.sleep(0.01)
        return judge(shown.task, self.shown.first, self.shown.second)


class WantsText(Toy):
    async def ask(self, judge, shown):
        if not shown.first.strip():
            raise ValueError("no text")
        return await super().ask(judge, shown)


class Swallows(Toy):
    async def ask(self, judge, shown):
        try:
            return await super().ask(judge, shown)
        except RuntimeError:
            return "tie"


class Anonymous(Toy):
    def identity(self, judge):  # noqa: ARG002
        return "a judge"


class New(Toy):
    """Takes a judge for another one each time."""

    seen = 0

    def identity(self, judge):  # noqa: ARG002
        self.seen += 1
        return self.seen


class Unwritable(Toy):
    def identity(self, judge):
        return judge


class TakesAnything(Toy):
    def adapt(self, judge, spec):
        return super().adapt(print if judge == 7 else judge, spec)


class Crashes(Toy):
    def adapt(self, judge, spec):
        if judge == 7:
            raise TypeError("int")
        return super().adapt(judge, spec)


class WorksOnce(Toy):
    """Answers the first run, and is worn out after it."""

    def adapt(self, judge, spec):
        adapted, self.asked = super().adapt(judge, spec), 0
        return adapted

    async def ask(self, judge, shown):
        self.asked += 1
        if self.asked > len(EXPECTED) + 24 + 5 + 2:
            raise RuntimeError("worn out")
        return await super().ask(judge, shown)


class OneAtATime(Toy):
    """Never lets go of its lock when it is given up."""

    def __init__(self):
        self.lock = asyncio.Lock()

    async def ask(self, judge, shown):
        await self.lock.acquire()
        await asyncio.sleep(0.01)
        self.lock.release()
        return judge(shown.task, shown.first, shown.second)


BROKEN = [
    ("answer", SaysOneThing),
    ("its own answer", Remembers),
    ("any text", WantsText),
    ("its errors", Swallows),
    ("identity", Anonymous),
    ("identity", New),
    ("identity", Unwritable),
    ("refusals", TakesAnything),
    ("refusals", Crashes),
    ("again", WorksOnce),
    ("cancelled", OneAtATime),
]


def test_the_toy_keeps_every_promise():
    check(Toy())


@pytest.mark.parametrize(("promise", "adapter"), BROKEN)
def test_a_broken_promise_is_named(promise, adapter, monkeypatch):
    monkeypatch.setattr("umpirical.testing.judges.PATIENCE", 2.0)
    with pytest.raises(AssertionError, match=f"^{promise}: "):
        check(adapter())


def test_no_promise_goes_untried():
    assert {promise for promise, _ in BROKEN} == set(get_args(Promise))


def test_questions_that_cannot_tell_answers_apart_are_refused():
    with pytest.raises(ValueError, match="two different answers"):
        check(Toy(), expected=EXPECTED[:1])
