"""The adapter for plain Python: a function, or any callable object."""

import inspect
import json
from typing import TYPE_CHECKING

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.source import source_digest
from umpirical.judges.threads import in_thread

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec

__all__ = ["ADAPTER"]


class _Python:
    """Calls `judge(task, first, second)`, or `judge(task, response)` for a `grade` judge.

    The judge may be async. It answers with a label, or with a mapping such as {"verdict": "tie"}.
    """

    def adapt(self, judge: object, spec: "JudgeSpec") -> Adapted:
        if not callable(judge):
            raise UsageError(f"{spec.callable} is a {type(judge).__name__}, expected a function")

        async def ask(shown: Presented) -> str:
            arguments = (shown.task, shown.first) if shown.second is None else (shown.task, shown.first, shown.second)
            if inspect.iscoroutinefunction(judge):
                return _as_text(await judge(*arguments))
            answer = await in_thread(judge, *arguments)
            # An object whose __call__ is async does not look like a coroutine function.
            return _as_text(await answer if inspect.isawaitable(answer) else answer)

        return Adapted(ask, source_digest(judge))


ADAPTER = _Python()


def _as_text(answer: object) -> str:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, dict | int | float) and not isinstance(answer, bool):
        return json.dumps(answer)
    raise TypeError(f"the judge returned {type(answer).__name__}, expected text, a number or a mapping")
