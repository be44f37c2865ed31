"""The adapter for Python functions and other objects that can be called, one question at a time or in lists."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.returned import returned_text
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.arguments import Arguments, arguments_of, question_of
from umpirical.judges.user_code import in_thread

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec


Q = TypeVar("Q")
A = TypeVar("A")

PATIENCE = 0.02
"""Seconds to wait for further questions. Little beside a judgment, and long enough for those asked at the same time."""


@dataclass
class Batches(Generic[Q, A]):
    """Collects questions that are asked one by one, and puts up to `size` of them at a time."""

    ask: Callable[[Sequence[Q]], Awaitable[Sequence[A]]]
    size: int
    _waiting: list[tuple[Q, asyncio.Future[A]]] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def answer(self, question: Q) -> A:
        """Returns the answer to one question, once its batch has been asked. Raises what the batch raised."""
        answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, answer))
        if len(self._waiting) >= self.size:
            self._send()
        elif len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(PATIENCE, self._send)
        return await answer

    def _send(self) -> None:
        batch, self._waiting = self._waiting, []
        # Whoever has given up is not asked for.
        batch = [(question, answer) for question, answer in batch if not answer.done()]
        if batch:
            task = asyncio.ensure_future(self._settle(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _settle(self, batch: Sequence[tuple[Q, asyncio.Future[A]]]) -> None:
        try:
            found = _matched(await self.ask([question for question, _ in batch]), len(batch))
        except BaseException as error:  # noqa: BLE001  # it is raised where an answer is waited for
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(_carried(error))
            return
        for (_, answer), each in zip(batch, found, strict=True):
            if answer.done():
                continue
            if isinstance(each, BaseException):
                answer.set_exception(_carried(each))
            else:
                answer.set_result(each)


def _carried(error: BaseException) -> BaseException:
    return RuntimeError(f"StopIteration: {error}") if isinstance(error, StopIteration) else error


def _matched(found: Sequence[A], asked: int) -> Sequence[A]:
    """Returns the answers. Raises if there are not as many as questions: nobody knows which belongs to which."""
    if not isinstance(found, list | tuple) or len(found) != asked:
        got = f"{len(found)} answers" if isinstance(found, list | tuple) else f"a {type(found).__name__}"
        raise ValueError(f"the judge was given {asked} questions but returned {got}")
    return found


# The adapter for plain Python: a function, or any callable object.


class _Python:
    """Calls `judge(task, first, second)`, or `judge(task, response)` for a `grade` judge, by name where names tell.

    The judge may be async. It answers with a label, a number, true or false, a mapping such as {"verdict": "tie"}, an
    object with such attributes, or a pair of a value and a reason. With `batch`, it is called with a list of mappings
    and returns a list.
    """

    def describe(self, judge: object) -> Mapping[str, Any]:  # noqa: ARG002  # a function tells nothing of itself
        return {}

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        if isinstance(judge, type):
            raise UsageError(f"{spec.callable} is a class, expected a function", fix="use an instance of the class")
        if not callable(judge):
            raise UsageError(f"{spec.callable} is a {type(judge).__name__}, expected a function")
        identity = source_digest(judge)
        if spec.batch:
            return Adapted(_in_batches(judge, spec), identity)
        arguments = arguments_of(judge, spec)
        return Adapted(_one_by_one(judge, arguments, spec), identity)


ADAPTER = _Python()


def _one_by_one(judge: Callable[..., Any], arguments: Arguments, spec: "JudgeSpec") -> Callable[[Presented], Any]:
    async def ask(shown: Presented) -> str:
        by_position, by_name = arguments.of(shown)
        return returned_text(await _called(judge, *by_position, **by_name), spec.answer_field)

    return ask


def _in_batches(judge: Callable[..., Any], spec: "JudgeSpec") -> Callable[[Presented], Any]:
    question = question_of(spec)

    async def put(questions: Sequence[Presented]) -> Sequence[Any]:
        answers: Sequence[Any] = await _called(judge, [question(shown) for shown in questions])
        return answers

    batches: Batches[Presented, Any] = Batches(put, spec.batch)

    async def ask(shown: Presented) -> str:
        return returned_text(await batches.answer(shown), spec.answer_field)

    return ask


async def _called(judge: Callable[..., Any], *arguments: object, **named: object) -> Any:  # noqa: ANN401  # the user's
    if inspect.iscoroutinefunction(judge):
        return await judge(*arguments, **named)
    answer = await in_thread(lambda: judge(*arguments, **named))
    # An object whose __call__ is async does not look like a coroutine function.
    return await answer if inspect.isawaitable(answer) else answer
