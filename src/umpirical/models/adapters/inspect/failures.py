"""What an exception from Inspect AI, or from the provider's client under it, says about a call."""

import re
from collections.abc import Iterable
from typing import Any

from tenacity import RetryError

from umpirical.domain.responses import FailureKind
from umpirical.models.caller import CallFailed

__all__ = ["failure_of", "not_billed", "redacted"]

KEY_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|r8|key)[-_][A-Za-z0-9_\-*.]{6,}|\bAIza[\w-]{10,}|\bAKIA[A-Z0-9]{12,}|\bBearer\s+\S{6,}"
)
"""What keys of the known providers look like. A provider quotes a wrong key, often in part, in its error."""

CONNECTION_ERRORS = frozenset(
    {"APIConnectionError", "TransportError", "ClientConnectionError", "EndpointConnectionError"}
)
"""Base classes of openai, anthropic, httpx, aiohttp and botocore, by name: none of them need be installed."""

NEVER_SENT = frozenset({"PrerequisiteError", "ParamValidationError"})
"""Raised while the request is put together, by Inspect and by botocore."""

CODES: dict[str, FailureKind] = {"rate_limit_exceeded": "rate-limited", "server_error": "server-error"}
"""Errors the Responses API reports inside an answer of status 200."""


def failure_of(error: BaseException, *, secrets: Iterable[str] = ()) -> CallFailed:
    """The failure to record. Nothing that was asked and no key is in its detail."""
    cause = _cause(error)
    status = _status(cause)
    said = redacted(_message(cause), secrets)
    if status is None:
        return CallFailed(_kind(cause), f"{type(cause).__name__}: {said}")
    if status == 429:
        return CallFailed("rate-limited", f"HTTP 429: {said}", retry_after=_retry_after(cause), busy=True)
    if status == 408 or status >= 500:
        busy = status in (503, 529)
        return CallFailed("server-error", f"HTTP {status}: {said}", retry_after=_retry_after(cause), busy=busy)
    return CallFailed("rejected", f"HTTP {status}: {said}")


def not_billed(error: BaseException) -> bool:
    """The server turned the call down, or never saw it."""
    cause = _cause(error)
    return _status(cause) is not None or _never_sent(cause)


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return KEY_SHAPES.sub("[key]", text)


def _cause(error: BaseException) -> BaseException:
    """Inspect wraps what it gave up on; a batch does so twice."""
    while isinstance(error, RetryError) and (last := error.last_attempt.exception()) is not None:
        error = last
    return error


def _status(cause: BaseException) -> int | None:
    """The status the server turned the call down with; None where no whole answer came."""
    found = [getattr(cause, name, None) for name in ("status_code", "status", "code")]
    response = getattr(cause, "response", None)
    if isinstance(response, dict):
        found.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    # A bool is an int, and 200 is the status of a reply that could not be read.
    return next((code for code in found if type(code) is int and 400 <= code < 600), None)


def _message(error: BaseException) -> str:
    # Inspect's own message holds the whole request; the provider's is kept beside it.
    said = getattr(error, "provider_message", None)
    whole = said if isinstance(said, str) else str(error)
    if (below := error.__cause__) is not None and _status(error) is None:
        # "Connection error." alone helps nobody.
        whole = f"{whole} ({type(below).__name__}: {below})"
    return " ".join(whole.split())


def _kind(error: BaseException) -> FailureKind:
    names = {base.__name__ for base in type(error).__mro__}
    if any("Timeout" in name for name in names):
        return "timeout"
    if names & CONNECTION_ERRORS or isinstance(error, OSError):
        return "connection"
    if "ModelRefusalError" in names:
        return "refused"
    # Inspect and its batches raise a bare RuntimeError for what would come out the same again.
    if _never_sent(error) or type(error) is RuntimeError:
        return "rejected"
    if "Unexpected non-" in str(error):
        return "malformed"
    return CODES.get(str(getattr(error, "code", None)), "malformed")


def _never_sent(error: BaseException) -> bool:
    return isinstance(error, UnicodeEncodeError) or type(error).__name__ in NEVER_SENT


def _retry_after(error: BaseException) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, TypeError, ValueError):
        return None
