"""People and their tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, insert, select, update

from umpirical.domain.reviews import ReviewRole
from umpirical.review.database.tables import person, token

Purpose = Literal["link", "session"]


@dataclass(frozen=True, slots=True)
class FoundToken:
    """A known token, with the person it belongs to."""

    hash: str
    person: str
    """The person's key."""
    at: str
    used: bool
    token_revoked: bool
    name: str
    role: ReviewRole
    revoked: bool
    """Whether the person is revoked."""


def token_of(connection: Connection, hashed: str, purpose: Purpose) -> FoundToken | None:
    query = (
        select(
            token.c.hash,
            token.c.person,
            token.c.at,
            token.c.used,
            token.c.revoked.label("token_revoked"),
            person.c.name,
            person.c.role,
            person.c.revoked,
        )
        .join(person, person.c.key == token.c.person)
        .where(token.c.hash == hashed, token.c.purpose == purpose)
    )
    found = connection.execute(query).one_or_none()
    return None if found is None else FoundToken(*found)


def person_of(connection: Connection, key: str) -> Row[Any] | None:
    return connection.execute(select(person).where(person.c.key == key)).one_or_none()


def role_of(connection: Connection, name: str) -> ReviewRole | None:
    """The role of the person of that very name; None if there is none, or they were revoked."""
    query = select(person.c.role).where(person.c.name == name, ~person.c.revoked)
    return connection.execute(query).scalar_one_or_none()


def everyone(connection: Connection) -> Sequence[Row[Any]]:
    return connection.execute(select(person)).all()


def admit(connection: Connection, key: str, *, name: str, role: ReviewRole) -> None:
    """Adds a person. A known one gets the role, and is no longer revoked."""
    if person_of(connection, key) is None:
        connection.execute(insert(person), {"key": key, "name": name, "role": role, "revoked": False})
    else:
        connection.execute(update(person).where(person.c.key == key).values(role=role, revoked=False))


def add_token(connection: Connection, key: str, hashed: str, *, purpose: Purpose, at: str) -> None:
    row = {"hash": hashed, "person": key, "purpose": purpose, "at": at, "used": False, "revoked": False}
    connection.execute(insert(token), row)


def mark_used(connection: Connection, hashed: str) -> None:
    connection.execute(update(token).where(token.c.hash == hashed).values(used=True))


def end_links(connection: Connection, key: str) -> None:
    connection.execute(update(token).where(token.c.person == key, token.c.purpose == "link").values(revoked=True))


def revoke(connection: Connection, key: str) -> None:
    connection.execute(update(token).where(token.c.person == key).values(revoked=True))
    connection.execute(update(person).where(person.c.key == key).values(revoked=True))
