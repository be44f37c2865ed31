"""What the exceptions of Inspect and of its providers are taken to mean."""

import json
import re

import pytest
from tenacity import Future, RetryError

from umpirical.integrations.inspect.calls import failure_of, not_billed


def error(name, *bases, text="it broke", **attributes):
    """An exception as a provider's package would raise it; most of them are not installed."""
    raised = type(name, bases or (Exception,), {})(text)
    for attribute, value in attributes.items():
        setattr(raised, attribute, value)
    return raised


def given_up(cause):
    attempt = Future(1)
    attempt.set_exception(cause)
    return RetryError(attempt)


def caused(raised, cause):
    raised.__cause__ = cause
    return raised


def _plain(value):
    """The same in every process that runs a part of the tests."""
    return re.sub(r" at 0x\w+", "", repr(value))


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (error("RateLimitError", status_code=429), "rate-limited"),
        (given_up(error("RateLimitError", status_code=429)), "rate-limited"),
        (given_up(given_up(error("InternalServerError", status_code=500))), "server-error"),
        (error("APIStatusError", status_code=408), "server-error"),
        (error("APIStatusError", status_code=529), "server-error"),
        (error("ClientError", code=503), "server-error"),
        (error("ClientError", response={"ResponseMetadata": {"HTTPStatusCode": 429}}), "rate-limited"),
        (error("ModelGenerateError", RuntimeError, status_code=400), "rejected"),
        (error("AuthenticationError", status_code=401), "rejected"),
        (error("AttemptTimeoutError", RuntimeError), "timeout"),
        (error("APITimeoutError", error("APIConnectionError").__class__), "timeout"),
        (TimeoutError(), "timeout"),
        (error("APIConnectionError"), "connection"),
        (error("ConnectError", error("TransportError").__class__), "connection"),
        (ConnectionResetError(), "connection"),
        (error("ModelRefusalError"), "refused"),
        (error("PrerequisiteError"), "rejected"),
        (RuntimeError("[invalid_model] no such model"), "rejected"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), "rejected"),
        (error("OpenAIResponseError", code="rate_limit_exceeded"), "rate-limited"),
        (error("OpenAIResponseError", code="server_error"), "server-error"),
        (error("OpenAIResponseError", text="Unexpected non-ChatCompletion", code="server_error"), "malformed"),
        (json.JSONDecodeError("x", "y", 0), "malformed"),
        (TypeError("'NoneType' object is not iterable"), "malformed"),
        (IndexError(), "malformed"),
        (error("SomethingNew", code={"un": "hashable"}), "malformed"),
    ],
    ids=_plain,
)
def test_every_error_has_its_kind(raised, kind):
    assert failure_of(raised).kind == kind


@pytest.mark.parametrize(
    ("raised", "free"),
    [
        (error("RateLimitError", status_code=429), True),
        (error("BadRequestError", status_code=400), True),
        (given_up(error("InternalServerError", status_code=500)), False),
        (error("ServiceUnavailable", status_code=503), False),
        (error("RequestTimeout", status_code=408), False),
        (caused(error("APIConnectionError"), error("ConnectError")), True),
        (caused(error("APIConnectionError"), caused(error("ConnectError"), ConnectionRefusedError())), True),
        (caused(error("APIConnectionError"), error("ReadError")), False),
        (caused(error("APITimeoutError"), error("ReadTimeout")), False),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), True),
        (error("OpenAIResponseError", code="server_error"), False),
        (error("APIStatusError", status_code=200), False),
        (error("APIConnectionError"), False),
        (RuntimeError("what happened?"), False),
        (TypeError(), False),
    ],
    ids=_plain,
)
def test_only_a_call_turned_down_or_never_sent_is_known_not_to_be_billed(raised, free):
    assert not_billed(raised) is free


@pytest.mark.parametrize(("header", "seconds"), [("2.5", 2.5), ("-1", 0.0), ("soon", None), (None, None)])
def test_the_wait_the_server_asks_for_is_passed_on(header, seconds):
    response = type("Response", (), {"headers": {} if header is None else {"retry-after": header}})()
    assert failure_of(error("RateLimitError", status_code=429, response=response)).retry_after == seconds


def test_what_was_asked_is_not_in_the_detail():
    whole = "\nRequest:\n{the whole prompt}\n\nBadRequestError('no')"
    raised = error("ModelGenerateError", RuntimeError, text=whole, status_code=400, provider_message="no such model")
    assert failure_of(raised).detail == "HTTP 400: no such model"


def test_the_reason_below_a_failed_connection_is_told():
    raised = error("APIConnectionError", text="Connection error.")
    raised.__cause__ = ConnectionRefusedError("nobody listens")
    assert failure_of(raised).detail == "APIConnectionError: Connection error. (ConnectionRefusedError: nobody listens)"
