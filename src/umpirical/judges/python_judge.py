"""A judge that is a Python function of the user's."""

import asyncio
import inspect
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from umpirical.domain.digests import Json, digest
from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.domain.scales import JudgeKind
from umpirical.domain.trials import Presented
from umpirical.judges.answers import AnswerReader
from umpirical.judges.judge import Capabilities
from umpirical.judges.model_judge import read_response

__all__ = ["CallableJudge", "CallableRequest", "source_digest"]


@dataclass(frozen=True, slots=True)
class CallableRequest:
    """The arguments of one call, and whose they are."""

    function: str
    source: str
    shown: Presented

    def payload(self) -> Json:
        shown = [self.shown.task, self.shown.first, self.shown.second]
        return {"function": self.function, "source": self.source, "shown": shown}


@dataclass(frozen=True)
class CallableJudge:
    """Calls `function(task, first, second)`, or `function(task, response)` for a `grade` judge.

    The function may be async. It answers with a label, or with a mapping such as {"verdict": "tie"}.
    """

    name: str
    kind: JudgeKind
    function: Callable[..., object]
    path: str
    source: str
    """Digest of the function's source."""
    reader: AnswerReader
    capabilities: Capabilities
    fingerprint: str
    arms: tuple[str, ...] = ("baseline",)

    @property
    def question_fingerprint(self) -> str:
        return digest("questions", {"function": self.path, "source": self.source})

    def request(self, shown: Presented, *, arm: str, seed: int | None = None) -> CallableRequest:  # noqa: ARG002
        # A function has one arm, and no seed that we could set.
        return CallableRequest(self.path, self.source, shown)

    async def ask(self, request: CallableRequest, *, trial_id: str) -> Response:
        asked_at, start = datetime.now(UTC).isoformat(), time.perf_counter()
        try:
            answer = Response(trial_id, _as_text(await self._call(request.shown)))
        except Exception as error:  # noqa: BLE001  # the user's own code: whatever it raises is this call's outcome
            answer = Response(trial_id, None, "judge-error", f"{type(error).__name__}: {error}"[:300])
        elapsed = (time.perf_counter() - start) * 1000
        return replace(answer, served_by=self.path, latency_ms=elapsed, asked_at=asked_at)

    def read(self, response: Response) -> Outcome:
        return read_response(self.reader, response)

    async def close(self) -> None:
        """Nothing to release."""

    async def _call(self, shown: Presented) -> object:
        arguments = (shown.task, shown.first) if shown.second is None else (shown.task, shown.first, shown.second)
        if inspect.iscoroutinefunction(self.function):
            return await self.function(*arguments)
        answer = await asyncio.to_thread(self._call_in_thread, *arguments)
        # An object whose __call__ is async does not look like a coroutine function.
        return await answer if inspect.isawaitable(answer) else answer

    def _call_in_thread(self, *arguments: str) -> object:
        try:
            return self.function(*arguments)
        except StopIteration as error:
            # A future cannot carry one: whoever awaits it would wait for ever.
            raise RuntimeError(f"StopIteration: {error}") from error


def source_digest(function: Callable[..., object]) -> str:
    """Digest of the file the function is in, so that an edited judge is a different judge."""
    try:
        module = inspect.getmodule(function)
        return digest("source", inspect.getsource(module) if module else inspect.getsource(function))
    except (OSError, TypeError):
        # A function without source (built in, or typed into a shell) is known by its name only.
        return digest("source", getattr(function, "__qualname__", repr(type(function))))


def _as_text(answer: object) -> str:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, dict | int | float) and not isinstance(answer, bool):
        return json.dumps(answer)
    raise TypeError(f"the judge returned {type(answer).__name__}, expected text, a number or a mapping")
