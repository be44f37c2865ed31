"""Judgments in batches, for a judge that takes many questions at a time and answers with a list."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

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
    """Returns an exception that a future can carry."""
    return RuntimeError(f"StopIteration: {error}") if isinstance(error, StopIteration) else error


def _matched(found: Sequence[A], asked: int) -> Sequence[A]:
    """Returns the answers. Raises if there are not as many as questions: nobody knows which belongs to which."""
    if not isinstance(found, list | tuple) or len(found) != asked:
        got = f"{len(found)} answers" if isinstance(found, list | tuple) else f"a {type(found).__name__}"
        raise ValueError(f"{asked} questions were put to the judge, and it returned {got}")
    return found
