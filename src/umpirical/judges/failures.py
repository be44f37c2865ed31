"""What the exception of a judge object means: why there is no answer, or that an answer came and could not be read.

Frameworks wrap the errors of their clients, and each in its own class. So the whole chain of causes is searched by the
names of classes, and by the status of a reply; no framework is imported for it.
"""

from collections.abc import Collection, Iterator
from concurrent.futures import Future
from dataclasses import dataclass

from umpirical.domain.responses import FailureKind
from umpirical.models.caller import CallFailed

READING = frozenset(
    {"JSONDecodeError", "ValidationError", "OutputParserException", "ParseError", "KeyError", "ValueError", "TypeError"}
)
"""Errors of a framework that reads its model's answer itself, and cannot. Its own code is known to be called rightly.

A plain function may raise most of them for any reason."""

JSON_READING = frozenset({"JSONDecodeError", "ValidationError"})
"""Those of them that have only that meaning."""

KINDS: tuple[tuple[str, FailureKind], ...] = (
    ("Timeout", "timeout"),
    ("RateLimit", "rate-limited"),
    ("TooManyRequests", "rate-limited"),
    ("ContentFilter", "refused"),
    ("ContentPolicy", "refused"),
    ("InternalServer", "server-error"),
    ("ServiceUnavailable", "server-error"),
    ("BadRequest", "rejected"),
    ("Authentication", "rejected"),
    ("PermissionDenied", "rejected"),
    ("NotFoundError", "rejected"),
    ("UnprocessableEntity", "rejected"),
    ("Connection", "connection"),
    ("ConnectError", "connection"),
)
"""Parts of the names of classes, and what they mean. The first that is found counts."""


class Unreadable(Exception):
    """An adapter raises this if a judge got an answer from its model, and there is no verdict in it."""


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """What a judge's exception means."""

    kind: FailureKind | None
    """Why there is no answer; None if an answer came, and the judge itself could not read it."""
    detail: str


def failure_of(error: BaseException, reading: Collection[str] = JSON_READING) -> JudgeFailure:
    """Says what an exception means. `reading` names the errors of a judge that cannot read its model's answer."""
    chain = list(_chain(error))
    detail = f"{type(error).__name__}: {error}"
    if any(isinstance(each, Unreadable) for each in chain):
        return JudgeFailure(None, str(next(each for each in chain if isinstance(each, Unreadable))))
    if isinstance(error, CallFailed):
        return JudgeFailure(error.kind, error.detail)
    for each in chain:
        if (kind := _of_class(each) or _of_status(each)) is not None:
            return JudgeFailure(kind, detail if each is error else f"{detail} ({type(each).__name__}: {each})")
    if any(_names(each) & set(reading) for each in chain):
        return JudgeFailure(None, detail)
    return JudgeFailure("judge-error", detail)


def _of_class(error: BaseException) -> FailureKind | None:
    names = _names(error)
    return next((kind for part, kind in KINDS if any(part in name for name in names)), None)


def _of_status(error: BaseException) -> FailureKind | None:
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    if type(status) is not int or status < 400:
        return None
    if status == 429:
        return "rate-limited"
    return "server-error" if status >= 500 or status == 408 else "rejected"


def _names(error: BaseException) -> set[str]:
    return {base.__name__ for base in type(error).__mro__}


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yields an exception and everything that led to it: causes, members of groups, the last of several attempts."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
        # tenacity keeps the last attempt as a future that is done.
        attempt = getattr(each, "last_attempt", None)
        last = attempt.exception() if isinstance(attempt, Future) and attempt.done() else None
        waiting += [cause for cause in (each.__cause__, each.__context__, last) if cause is not None]
