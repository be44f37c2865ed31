"""Who may come in. A link is good once and leads to a session; of both only the hash is kept."""

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import get_args

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewRole
from umpirical.review.clock import now
from umpirical.review.database import Database, entering, places
from umpirical.review.database.entering import Purpose

__all__ = ["LINK_LASTS", "LONGEST_NAME", "SESSION_LASTS", "People", "Person", "is_name", "name_key"]

LINK_LASTS = timedelta(hours=24)

SESSION_LASTS = timedelta(days=30)

LONGEST_NAME = 64

TOKEN_BYTES = 32
"""256 bits: nobody guesses one."""


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who takes part."""

    name: str
    role: ReviewRole
    revoked: bool
    """No longer: their links and sessions have ended. What they said stays."""


class People:
    """Those who take part in a review, and the tokens that they come in with."""

    def __init__(self, database: Database, clock: Callable[[], datetime] = now) -> None:
        self._database = database
        self._clock = clock

    def invite(self, name: str, role: ReviewRole) -> str:
        """A new token for a one-time link, good for a day. An earlier link ends; a revoked person is let in again."""
        return self._issue(name, role, "link")

    def session_for(self, name: str, role: ReviewRole) -> str:
        """A session without a link, for the one who starts the server on their own machine."""
        return self._issue(name, role, "session")

    def redeem(self, token: str) -> str | None:
        """A session for a link's token, once; None if it is unknown, used, revoked or older than a day."""
        with self._database.write() as connection:
            found = entering.token_of(connection, _hash(token), "link")
            if found is None or not self._good(token, found, LINK_LASTS) or found.used:
                return None
            entering.use(connection, found.hash)
            session = secrets.token_urlsafe(TOKEN_BYTES)
            entering.add_token(connection, found.person, _hash(session), purpose="session", at=self._at())
            entering.note(connection, "redeemed", found.name, at=self._at())
            return session

    def person(self, session: str) -> Person | None:
        """Whose session it is; None if it is unknown or revoked, or older than a month."""
        with self._database.read() as connection:
            found = entering.token_of(connection, _hash(session), "session")
        if found is None or not self._good(session, found, SESSION_LASTS):
            return None
        return Person(found.name, found.role, revoked=False)

    def revoke(self, name: str) -> bool:
        """Ends all links and sessions of a person at once, and gives back what they have open; False if unknown."""
        with self._database.write() as connection:
            found = entering.person_of(connection, name_key(name))
            if found is None:
                return False
            entering.revoke(connection, found.key)
            places.release(connection, found.name, at=self._at())
            entering.note(connection, "revoked", found.name, at=self._at())
            return True

    def all(self) -> list[Person]:
        """Everyone, revoked ones included, by name."""
        with self._database.read() as connection:
            found = entering.everyone(connection)
        return sorted((Person(row.name, row.role, row.revoked) for row in found), key=lambda person: person.name)

    def _issue(self, name: str, role: ReviewRole, purpose: Purpose) -> str:
        if role not in get_args(ReviewRole):
            raise UsageError(f"there is no role {role!r}", fix=f"choose one of: {', '.join(get_args(ReviewRole))}")
        key, token = name_key(_checked(name)), secrets.token_urlsafe(TOKEN_BYTES)
        with self._database.write() as connection:
            found = entering.person_of(connection, key)
            if found is not None and found.name != name:
                raise UsageError(
                    f"the name {name} is too much like {found.name}", fix=f"invite {found.name}, or another name"
                )
            entering.let_in(connection, key, name=name, role=role)
            if purpose == "link":
                entering.end_links(connection, key)
            entering.add_token(connection, key, _hash(token), purpose=purpose, at=self._at())
            entering.note(connection, "invited", name, at=self._at(), detail=role)
        return token

    def _good(self, token: str, found: entering.FoundToken, lasts: timedelta) -> bool:
        age = self._clock() - datetime.fromisoformat(found.at)
        # The hash was found by an index; that it is the same is told in a time that tells nothing.
        same = hmac.compare_digest(_hash(token), found.hash)
        return same and not found.token_revoked and not found.revoked and age <= lasts

    def _at(self) -> str:
        return self._clock().astimezone(UTC).isoformat()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_name(name: str) -> bool:
    """Whether a person can be called so: it can be seen, all of it."""
    return 1 <= len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()


def _checked(name: str) -> str:
    if not is_name(name):
        raise UsageError(
            f"a name of {len(name)} characters, some of which may not show: {name[:LONGEST_NAME]!r}",
            fix=f"use 1 to {LONGEST_NAME} characters that can be seen, without a space at either end",
        )
    return name


def name_key(name: str) -> str:
    """Names that differ in case, or in how the same letters are written, are one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
