"""What reviewers were told, each text under its own number."""

from sqlalchemy import Connection, insert, select

from umpirical.review.database.counting import bump, following, record_event, set_counter, value_of
from umpirical.review.database.tables import guideline

__all__ = ["in_force", "put_in_force"]


def in_force(connection: Connection) -> tuple[int, str]:
    version = value_of(connection, "guideline")
    text = connection.execute(select(guideline.c.text).where(guideline.c.version == version)).scalar_one_or_none()
    return version, text or ""


def put_in_force(connection: Connection, text: str, *, at: str) -> int:
    """The version of a text, which is the one in force from now on; without any text, none is, and that is 0."""
    version, now = in_force(connection)
    if text == now:
        return version
    known = select(guideline.c.version).where(guideline.c.text == text)
    version = connection.execute(known).scalar_one_or_none() or 0
    if text and not version:
        version = following(connection, guideline.c.version)
        connection.execute(insert(guideline), {"version": version, "text": text, "at": at})
    set_counter(connection, "guideline", version)
    record_event(connection, "guideline", at=at, detail=str(version))
    bump(connection)
    return version
