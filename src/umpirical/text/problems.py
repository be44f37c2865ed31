"""What is wrong with a file, in words for whoever wrote it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

KNOWN = {"missing": "this key is missing", "extra_forbidden": "unknown key"}


def first_problem(error: "ValidationError") -> str:
    """Returns the first problem of a record or another document, and where it is."""
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {plain_problem(first)}"


def plain_problem(problem: "ErrorDetails") -> str:
    return KNOWN.get(problem["type"]) or problem["msg"].removeprefix("Value error, ").replace("Input should", "must")
