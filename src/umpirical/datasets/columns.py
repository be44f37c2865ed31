"""Columns that are named and are not there."""

from collections.abc import Iterable
from difflib import get_close_matches

from umpirical.domain.errors import ConfigError

__all__ = ["missing_column"]

SHOWN = 30
"""Columns that a message lists."""


def missing_column(column: str, known: Iterable[str], *, where: str) -> ConfigError:
    """The error for a column that is not there: which there are, and which was probably meant."""
    names = list(known)
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    message = f"no column {column!r}; there are: {listed or 'none'}"
    if len(names) == 1 and (mark := next((mark for mark in ";\t|" if mark in names[0]), "")):
        return ConfigError(message, where=where, fix=f"fields are separated by {mark!r} here: save it with commas")
    folded = {name.casefold(): name for name in names}
    near = get_close_matches(column.casefold(), folded, n=1)
    return ConfigError(message, where=where, fix=f"did you mean {folded[near[0]]!r}?" if near else "name one of them")
