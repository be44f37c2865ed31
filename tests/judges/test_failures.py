"""What an exception of a judge means, however deep its cause lies."""

from concurrent.futures import Future

import pytest

from tests.cases import each
from umpirical.judges.failures import READING, Unreadable, failure_of


def error(name, *bases, **attributes):
    return type(name, bases or (Exception,), attributes)("said")


def caused(outer, inner):
    outer.__cause__ = inner
    return outer


def retried(last):
    attempt = Future()
    attempt.set_exception(last)
    return error("RetryError", last_attempt=attempt)


@each(
    ("raised", "kind"),
    [
        (error("APITimeoutError"), "timeout"),
        (error("RateLimitError"), "rate-limited"),
        (error("APIConnectionError"), "connection"),
        (error("InternalServerError"), "server-error"),
        (error("BadRequestError"), "rejected"),
        (error("AuthenticationError"), "rejected"),
        (error("ContentFilterFinishReasonError"), "refused"),
        (error("APIStatusError", status_code=529), "server-error"),
        (error("APIStatusError", status_code=429), "rate-limited"),
        (error("APIStatusError", status_code=422), "rejected"),
        (error("HTTPStatusError", response=error("Response", status_code=503)), "server-error"),
        (caused(ValueError("judge failed"), error("RateLimitError")), "rate-limited"),
        (caused(ValueError("a"), caused(KeyError("b"), ConnectionRefusedError("c"))), "connection"),
        (retried(error("InternalServerError")), "server-error"),
        (caused(RuntimeError("r"), retried(caused(ValueError("v"), TimeoutError("t")))), "timeout"),
        (ExceptionGroup("many", [ValueError("v"), error("RateLimitError")]), "rate-limited"),
        (error("Odd"), "judge-error"),
        (ZeroDivisionError("z"), "judge-error"),
        (ValueError("v"), "judge-error"),
    ],
)
def test_the_cause_says_what_happened(raised, kind):
    assert failure_of(raised).kind == kind


@pytest.mark.parametrize(
    "raised",
    [
        error("JSONDecodeError", ValueError),
        error("ValidationError", ValueError),
        Unreadable("blank"),
        caused(RuntimeError("r"), Unreadable("blank")),
        retried(error("ValidationError")),
    ],
)
def test_an_answer_that_could_not_be_read_is_no_failure_of_the_wire(raised):
    assert failure_of(raised).kind is None


def test_what_only_a_framework_means_by_it_is_said_by_its_adapter():
    assert failure_of(KeyError("winner")).kind == "judge-error"
    assert failure_of(KeyError("winner"), READING).kind is None
    assert failure_of(caused(ValueError("no score"), error("APITimeoutError")), READING).kind == "timeout"


def test_a_circle_of_causes_ends():
    one, other = ValueError("one"), ValueError("other")
    one.__context__, other.__context__ = other, one
    assert failure_of(one).kind == "judge-error"
