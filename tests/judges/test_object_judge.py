"""A judge that is a Python function: whatever it does, there is one outcome."""

import asyncio
import json
import sys
from contextvars import ContextVar

import pytest

from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Abstained, Failed, Unparsed, Verdict
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.adapters.catalogue import judge_adapter_of
from umpirical.judges.answers import AnswerReader, read_response
from umpirical.judges.factory import build_judge
from umpirical.judges.judge import Capabilities, prompt_id
from umpirical.judges.object_judge import ObjectJudge
from umpirical.judges.shapes import AnswerSpec, shape_of
from umpirical.judges.spec import JudgeSpec
from umpirical.judges.user_code import in_thread
from umpirical.models.spec import Calling

SHOWN = Presented("task", "long first", "second")


def judge_of(function, scale=None, deadline=10.0):
    kind = "compare" if scale is None else "grade"
    adapted = judge_adapter_of(function).adapt(function, JudgeSpec(name="j", kind=kind, scale=scale, callable="m:f"))
    return ObjectJudge("j", kind, "m:f", adapted, AnswerReader(scale), Capabilities(), deadline, "print")


async def outcome_of(function, *, shown=SHOWN, scale=None, deadline=10.0):
    judge = judge_of(function, scale, deadline)
    asked = judge.ask(judge.request(shown, Presentation()), trial_id="t")
    response = await asyncio.wait_for(asked, timeout=10)
    assert response.trial_id == "t"
    return judge.read(response, Presentation())


def longer(task, first, second):
    assert task == "task"
    return "1" if len(first) > len(second) else "2"


async def longer_later(task, first, second):
    await asyncio.sleep(0)
    return longer(task, first, second)


class LongerLater:
    async def __call__(self, task, first, second):
        return longer(task, first, second)


def longer_in_two_steps(*shown):
    return longer_later(*shown)


@pytest.mark.parametrize("function", [longer, longer_later, LongerLater(), longer_in_two_steps])
async def test_a_function_may_be_sync_or_async_or_an_object(function):
    assert await outcome_of(function) == Verdict(Choice.POSITION_1)
    assert await outcome_of(function, shown=Presented("task", "b", "long")) == Verdict(Choice.POSITION_2)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("tie", Verdict(Choice.TIE)),
        (Choice.POSITION_2, Verdict(Choice.POSITION_2)),
        ({"verdict": "tie"}, Verdict(Choice.TIE)),
        ({"verdict": "1", "confidence": 0.75}, Verdict(Choice.POSITION_1, 0.75)),
        (2, Verdict(Choice.POSITION_2)),
        ("abstain", Abstained()),
    ],
)
async def test_an_answer_may_be_a_label_a_number_or_a_mapping(answer, outcome):
    assert await outcome_of(lambda *_: answer) == outcome


@pytest.mark.parametrize("answer", ["", "candidate 1", 3, 0.5, float("nan"), {}, {"winner": "1"}, True, None])
async def test_an_answer_off_the_scale_is_unparsed(answer):
    assert isinstance(await outcome_of(lambda *_: answer), Unparsed)


@pytest.mark.parametrize("answer", [["1"], b"1", object(), {"verdict": object()}])
async def test_an_answer_of_the_wrong_type_is_a_failure_of_the_judge(answer):
    outcome = await outcome_of(lambda *_: answer)
    assert isinstance(outcome, Failed)
    assert outcome.kind == "judge-error"
    assert "TypeError" in outcome.detail


@pytest.mark.parametrize("error", [KeyError("x"), ValueError("bad " * 1000), StopIteration()])
async def test_an_exception_is_a_failure_that_names_it(error):
    def broken(*_):
        raise error

    async def broken_later(*_):
        raise error

    for function in (broken,) if isinstance(error, StopIteration) else (broken, broken_later):
        outcome = await outcome_of(function)
        assert isinstance(outcome, Failed)
        assert outcome.kind == "judge-error"
        assert type(error).__name__ in outcome.detail
        assert len(outcome.detail) <= 300


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), BaseException("b")])
async def test_what_would_end_a_process_or_a_task_is_a_failure_of_the_judge_too(error):
    def broken(*_):
        raise error

    async def broken_later(*_):
        raise error

    for function in (broken, broken_later):
        outcome = await outcome_of(function)
        assert (outcome.kind, type(error).__name__ in outcome.detail) == ("judge-error", True)


async def test_an_answer_after_the_deadline_is_none_even_if_the_judge_swallows_its_cancellation():
    async def stubborn(*_):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "1"

    outcome = await outcome_of(stubborn, deadline=0.05)
    assert (outcome.kind, outcome.detail) == ("timeout", "no answer within 0.05 s")


async def test_a_judge_that_swallows_its_cancellation_does_not_keep_the_run_from_being_cancelled():
    started = asyncio.Event()

    async def stubborn(*_):
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "1"

    asking = asyncio.create_task(outcome_of(stubborn))
    await started.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_an_answer_that_the_judge_cannot_read_is_unparsed_and_never_asked_again():
    def strict(*_):
        return json.loads("I think that 1 is better, or a tie")

    judge = judge_of(strict)
    response = await judge.ask(judge.request(SHOWN, Presentation()), trial_id="t")
    assert (response.failure, response.ending) == (None, "unread")
    # What would find an answer in the message of the error is not tried on it.
    reader = AnswerReader(None, shape=shape_of(AnswerSpec(pattern="(?P<answer>1)")))
    assert isinstance(read_response(reader, response, Presentation()), Unparsed)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("t"), "timeout"),
        (ConnectionResetError("r"), "connection"),
        (type("RateLimitError", (Exception,), {})("slow down"), "rate-limited"),
    ],
)
async def test_an_error_of_the_wire_has_its_own_kind(error, kind):
    def broken(*_):
        raise error

    assert (await outcome_of(broken)).kind == kind


def test_a_function_that_takes_too_few_arguments_is_refused_before_it_is_asked():
    with pytest.raises(UsageError, match=r"is called with task, first, second, but its parameters are \(_task\)"):
        judge_of(lambda _task: "1")


async def test_a_grade_judge_is_called_with_the_one_response():
    scale = GradeScale("interval", low=0, high=10)
    outcome = await outcome_of(lambda _task, response: len(response), shown=Presented("t", "four", None), scale=scale)
    assert outcome == Verdict(4.0)


async def test_a_slow_function_does_not_hold_up_the_others():
    started = asyncio.Event()
    loop, release = asyncio.get_running_loop(), asyncio.Event()

    def slow(*_):
        loop.call_soon_threadsafe(started.set)
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result(timeout=10)
        return "1"

    waiting = asyncio.create_task(outcome_of(slow))
    await asyncio.wait_for(started.wait(), timeout=10)
    assert await outcome_of(longer) == Verdict(Choice.POSITION_1)
    assert not waiting.done()
    release.set()
    assert await waiting == Verdict(Choice.POSITION_1)


def test_both_orders_are_different_questions():
    judge = judge_of(longer)
    orders = [Presented("t", "a", "b"), Presented("t", "b", "a"), Presented("t2", "a", "b"), Presented("t", "a", None)]
    assert len({prompt_id(judge.request(shown, Presentation())) for shown in orders}) == 4


def test_a_judge_with_edited_source_is_another_judge(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = JudgeSpec(name="j", callable="edited_judge:judge")
    prints = []
    for source in ("def judge(t, a, b): return '1'\n", "def judge(t, a, b): return '2'\n"):
        (tmp_path / "edited_judge.py").write_text(source)
        sys.modules.pop("edited_judge", None)
        built = build_judge(spec, folder=tmp_path, calling=Calling(answer_key=lambda: len, seed=1))
        prints.append((built.fingerprint, built.question_fingerprint))
    sys.modules.pop("edited_judge", None)
    assert prints[0][0] != prints[1][0]
    assert prints[0][1] != prints[1][1]


async def test_a_judge_in_a_thread_sees_the_context_of_its_caller():
    client = ContextVar("client", default="nobody's")
    client.set("the user's")
    assert await in_thread(client.get) == "the user's"
