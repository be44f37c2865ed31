"""Interprets an exception from Inspect AI, or from the provider's client under it, as a failed call."""

from typing import Any

from tenacity import RetryError

from umpirical.domain.responses import FailureKind
from umpirical.models.caller import CallFailed

CONNECTION_ERRORS = frozenset(
    {"APIConnectionError", "TransportError", "ClientConnectionError", "EndpointConnectionError"}
)
"""Base classes of openai, anthropic, httpx, aiohttp and botocore, by name: none of them has to be installed."""

NEVER_SENT = frozenset({"PrerequisiteError", "ParamValidationError"})
"""Raised by Inspect and by botocore while the request is being built."""

NEVER_CONNECTED = frozenset(
    {"ClientConnectorError", "ConnectError", "ConnectTimeout", "ConnectionRefusedError", "EndpointConnectionError"}
)
"""Raised by aiohttp, httpx, the standard library and botocore before there is a connection to send anything over."""

CODES: dict[str, FailureKind] = {"rate_limit_exceeded": "rate-limited", "server_error": "server-error"}
"""Errors that the Responses API reports inside a reply of status 200."""


def failure_of(error: BaseException) -> CallFailed:
    """Returns the failure to record. Its detail does not contain the question."""
    cause = _cause(error)
    if (refused := _refused_by_us(cause)) is not None:
        return refused
    status = _status(cause)
    said = _message(cause)
    if status is None:
        return CallFailed(_kind(cause), f"{type(cause).__name__}: {said}")
    if status == 429:
        return CallFailed("rate-limited", f"HTTP 429: {said}", retry_after=_retry_after(cause), busy=True)
    if status == 408 or status >= 500:
        busy = status in (503, 529)
        return CallFailed("server-error", f"HTTP {status}: {said}", retry_after=_retry_after(cause), busy=busy)
    return CallFailed("rejected", f"HTTP {status}: {said}")


def not_billed(error: BaseException) -> bool:
    """Whether the server turned the call down, or never saw it. Behind a server's error it may have done the work."""
    cause = _cause(error)
    if (refused := _refused_by_us(cause)) is not None:
        return refused.turned_down
    status = _status(cause)
    turned_down = status is not None and status < 500 and status != 408
    return turned_down or _never_sent(cause) or _never_connected(cause)


def _cause(error: BaseException) -> BaseException:
    """Returns the original error: Inspect wraps it once, a batch twice."""
    while isinstance(error, RetryError) and (last := error.last_attempt.exception()) is not None:
        error = last
    return error


def _refused_by_us(cause: BaseException) -> CallFailed | None:
    """Returns the failure with which a reply was refused before it was read; the provider's client wraps it."""
    below: BaseException | None = cause
    while below is not None and not isinstance(below, CallFailed):
        below = below.__cause__
    return below


def _status(cause: BaseException) -> int | None:
    """Returns the status with which the server refused the call; None if no complete reply came."""
    found = [getattr(cause, name, None) for name in ("status_code", "status", "code")]
    response = getattr(cause, "response", None)
    if isinstance(response, dict):
        found.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    # A bool is an int, and 200 is the status of a reply that could not be read.
    return next((code for code in found if type(code) is int and 400 <= code < 600), None)


def _message(error: BaseException) -> str:
    # Inspect's own message contains the whole request, so the provider's is used.
    said = getattr(error, "provider_message", None)
    whole = said if isinstance(said, str) else str(error)
    if (below := error.__cause__) is not None and _status(error) is None:
        # "Connection error." alone is of no help.
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
    # Inspect and its batches raise a bare RuntimeError for failures that would recur.
    if _never_sent(error) or type(error) is RuntimeError:
        return "rejected"
    if "Unexpected non-" in str(error):
        return "malformed"
    return CODES.get(str(getattr(error, "code", None)), "malformed")


def _never_sent(error: BaseException) -> bool:
    return isinstance(error, UnicodeEncodeError) or type(error).__name__ in NEVER_SENT


def _never_connected(error: BaseException | None) -> bool:
    while error is not None:
        if {base.__name__ for base in type(error).__mro__} & NEVER_CONNECTED:
            return True
        error = error.__cause__
    return False


def _retry_after(error: BaseException) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, TypeError, ValueError):
        return None
