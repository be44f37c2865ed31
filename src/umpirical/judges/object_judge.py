"""A judge that is the user's own: a function, an object that a judge adapter has made askable, or a program."""

import asyncio
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from umpirical.domain.digests import Json, digest
from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import UNREADABLE, Response
from umpirical.domain.scales import JudgeKind
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.answers import AnswerReader, read_response
from umpirical.judges.failures import JudgeFailure, failure_of
from umpirical.judges.judge import Capabilities
from umpirical.models.recording import Recording, environment_secrets


@dataclass(frozen=True, slots=True)
class ObjectRequest:
    """What one judgment is about, and which judge gives it."""

    path: str
    identity: Json
    shown: Presented

    def text(self) -> str:
        """Returns what the judge is shown, part by part, for a person."""
        parts = {"task": self.shown.task, "first": self.shown.first, "second": self.shown.second}
        if self.shown.second is None:
            parts = {"task": self.shown.task, "response": self.shown.first}
        return "\n".join(f"{name}: {text}" for name, text in {**parts, **dict(self.shown.columns)}.items())

    def payload(self) -> Json:
        shown = [self.shown.task, self.shown.first, self.shown.second]
        columns: dict[str, Json] = {"columns": dict(self.shown.columns)} if self.shown.columns else {}
        return {"function": self.path, "source": self.identity, "shown": shown, **columns}


@dataclass(frozen=True)
class ObjectJudge:
    """Asks the object, with a deadline for each judgment; an exception becomes that judgment's outcome."""

    name: str
    kind: JudgeKind
    path: str
    """Where the judge is found: `module:name`, or the command of a program."""
    adapted: Adapted
    reader: AnswerReader
    capabilities: Capabilities
    deadline: float
    """Seconds for one judgment."""
    fingerprint: str
    variants: tuple[str, ...] = ("baseline",)
    columns: tuple[str, ...] = ()
    recording: Recording = field(default_factory=lambda: Recording(environment_secrets()))
    """Its clients read their keys by themselves, and their errors may quote them."""

    @property
    def question_fingerprint(self) -> str:
        return digest("questions", {"function": self.path, "source": self.adapted.identity})

    def request(self, shown: Presented, presentation: Presentation) -> ObjectRequest:  # noqa: ARG002
        # An object renders its own prompt: it has one variant, and no seed that could be set.
        return ObjectRequest(self.path, self.adapted.identity, shown)

    async def ask(self, request: ObjectRequest, *, trial_id: str) -> Response:
        asked_at, start = datetime.now(UTC).isoformat(), time.perf_counter()
        deadline = asyncio.timeout(self.deadline)
        try:
            async with deadline:
                answer = Response(trial_id, await self.adapted.judge(request.shown))
        except GeneratorExit:
            raise
        except BaseException as error:  # noqa: BLE001  # the user's own code: whatever it raises is this call's outcome
            # Even what would end a process: another thread handles Ctrl-C, so this one is the judge's own.
            answer = _failed(trial_id, failure_of(error, self.adapted.reading))
        # A judge may raise its own TimeoutError or CancelledError, and may swallow the one that was meant for
        # it, so what it raises does not show what has happened.
        if _is_cancelled():
            raise asyncio.CancelledError
        if deadline.expired():
            answer = Response(trial_id, None, "timeout", f"no answer within {self.deadline:g} s")
        elapsed = (time.perf_counter() - start) * 1000
        return replace(self.recording.keep(answer), served_by=self.path, latency_ms=elapsed, asked_at=asked_at)

    def read(self, response: Response, presentation: Presentation) -> Outcome:
        return read_response(self.reader, response, presentation)

    async def close(self) -> None:
        """Ends a program. An object belongs to the user, and outlives the run."""
        if self.adapted.close is not None:
            await self.adapted.close()


def _failed(trial_id: str, found: JudgeFailure) -> Response:
    """An answer that the judge itself could not read is an answer: it is not asked for again until it can be read."""
    if found.kind is None:
        return Response(trial_id, found.detail, finish_reason=UNREADABLE)
    return Response(trial_id, None, found.kind, found.detail)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
