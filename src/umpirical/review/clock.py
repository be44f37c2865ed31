"""The clock of a review, where none is given."""

from datetime import UTC, datetime

__all__ = ["now"]


def now() -> datetime:
    return datetime.now(UTC)
