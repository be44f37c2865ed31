"""The adapter for plain Python: a function, or any callable object."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.returned import returned_text
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.arguments import Arguments, arguments_of, question_of
from umpirical.judges.batches import Batches
from umpirical.judges.threads import in_thread

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec


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
            raise UsageError(f"{spec.callable} is a class, expected a function", fix="name an instance of it")
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
