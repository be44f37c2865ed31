"""Who may take part. A link works once and opens a session; only hashes of links and sessions are stored.

In a database that is a file the hashes are made with a key that is not in it: a file that was sent here brings nobody
in. A database server admits its users itself, and people may be invited from one machine and let in by another.
"""

import hashlib
import hmac
import os
import secrets
import stat
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewRole
from umpirical.review.database import Database, people
from umpirical.review.database.assignments import release
from umpirical.review.database.events import record_event
from umpirical.review.database.people import FoundToken, Purpose
from umpirical.review.records import utc_now
from umpirical.store.files import state_folder
from umpirical.web.guard import OVER_TLS

KEY_BYTES = 32


def key_file(environment: Mapping[str, str] = os.environ) -> Path:
    return state_folder(environment) / "review.key"


def own_key(environment: Mapping[str, str] = os.environ) -> bytes:
    """The key, which is made the first time. Raises if others can read it, or wrote it."""
    path = key_file(environment)
    try:
        if not path.exists():
            _make(path)
        return _read(path)
    except OSError as error:
        raise UsageError(
            f"cannot use your review key {path}: {error.strerror or error}",
            fix="make its folder yours and writable, or set XDG_STATE_HOME to a private folder",
        ) from None


def _make(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, secrets.token_bytes(KEY_BYTES))
        os.fsync(handle)
    finally:
        os.close(handle)
    # A link, not a rename: of two programs that start at once, both use the key of the first.
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()


def _read(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        found, key = os.fstat(handle), os.read(handle, KEY_BYTES + 1)
    finally:
        os.close(handle)
    if os.name == "posix" and (found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077):
        raise UsageError(
            f"other users can read or have changed your review key {path}",
            fix="delete it; Umpirical creates a new one, and every reviewer needs a new link",
        )
    if len(key) != KEY_BYTES:
        raise UsageError(f"your review key {path} is damaged", fix="delete it; Umpirical creates a new one")
    return key


# Who may take part. A link works once and opens a session; only hashes of links and sessions are stored.


LINK_LASTS = timedelta(hours=24)

SESSION_LASTS = timedelta(days=30)

LONGEST_NAME = 64

TOKEN_BYTES = 32
"""256 bits, which nobody guesses."""


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who takes part."""

    name: str
    role: ReviewRole
    revoked: bool
    """Their links and sessions have ended. Their decisions stay."""


class People:
    """Those who take part in a review, and the tokens they sign in with."""

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._key: bytes | None = None

    def invite(self, name: str, role: ReviewRole) -> str:
        """A new token for a one-time link, valid for a day. It ends earlier links, and readmits a revoked person."""
        return self._issue(name, role, "link")

    def session_for(self, name: str, role: ReviewRole) -> str:
        """A session without a link, for whoever starts the server on their own machine."""
        return self._issue(name, role, "session")

    def redeem(self, token: str, *, over_tls: bool = False) -> str | None:
        """Exchanges a link's token for a session, once; None if it is unknown, used, revoked or older than a day."""
        with self._database.write() as connection:
            found = people.token_of(connection, self._hash(token), "link")
            if found is None or not self._good(token, found, LINK_LASTS) or found.used:
                return None
            people.mark_used(connection, found.hash)
            session = (OVER_TLS if over_tls else "") + secrets.token_urlsafe(TOKEN_BYTES)
            people.add_token(connection, found.person, self._hash(session), purpose="session", at=self._at())
            record_event(connection, "redeemed", at=self._at(), person=found.name)
            return session

    def person(self, session: str) -> Person | None:
        """The person whose session it is; None if it is unknown, revoked or older than a month."""
        with self._database.read() as connection:
            found = people.token_of(connection, self._hash(session), "session")
        if found is None or not self._good(session, found, SESSION_LASTS):
            return None
        return Person(found.name, found.role, revoked=False)

    def revoke(self, name: str) -> bool:
        """Ends all links and sessions of a person at once, and frees what they have open. Returns False if unknown."""
        with self._database.write() as connection:
            found = people.person_of(connection, name_key(name))
            if found is None:
                return False
            people.revoke(connection, found.key)
            release(connection, found.name, at=self._at())
            record_event(connection, "revoked", at=self._at(), person=found.name)
            return True

    def all(self) -> list[Person]:
        """Everyone, revoked people included, sorted by name."""
        with self._database.read() as connection:
            found = people.everyone(connection)
        return sorted((Person(row.name, row.role, row.revoked) for row in found), key=lambda person: person.name)

    def mark(self, session: str) -> str:
        """What the pages of a session send along with every change. It does not reveal the session.

        It is made with the key of whoever serves, so that a copied session alone does not lead to it.
        """
        return hmac.new(self._own_key(), f"form {session}".encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def _issue(self, name: str, role: ReviewRole, purpose: Purpose) -> str:
        if role not in get_args(ReviewRole):
            raise UsageError(f"unknown role {role!r}", fix=f"choose one of: {', '.join(get_args(ReviewRole))}")
        key, token = name_key(_checked(name)), secrets.token_urlsafe(TOKEN_BYTES)
        with self._database.write() as connection:
            found = people.person_of(connection, key)
            if found is not None and found.name != name:
                raise UsageError(
                    f"the name {name} is too similar to {found.name}", fix=f"invite {found.name}, or use another name"
                )
            people.admit(connection, key, name=name, role=role)
            if purpose == "link":
                people.end_links(connection, key)
            people.add_token(connection, key, self._hash(token), purpose=purpose, at=self._at())
            record_event(connection, "invited", at=self._at(), person=name, detail=role)
        return token

    def _good(self, token: str, found: FoundToken, lasts: timedelta) -> bool:
        age = self._clock() - datetime.fromisoformat(found.at)
        # The hash was found through an index; this comparison takes the same time wherever two hashes differ.
        same = hmac.compare_digest(self._hash(token), found.hash)
        return same and not found.token_revoked and not found.revoked and age <= lasts

    def _hash(self, token: str) -> str:
        secret = token.encode("utf-8", "surrogatepass")
        if self._database.is_file:
            return hmac.new(self._own_key(), secret, hashlib.sha256).hexdigest()
        return hashlib.sha256(secret).hexdigest()

    def _own_key(self) -> bytes:
        """Read when it is first needed: whoever only looks at a review needs none."""
        if self._key is None:
            self._key = own_key()
        return self._key

    def _at(self) -> str:
        return self._clock().astimezone(UTC).isoformat()


def is_name(name: str) -> bool:
    """Whether it can be the name of a person: every character of it is visible."""
    return 1 <= len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()


def _checked(name: str) -> str:
    if not is_name(name):
        raise UsageError(
            f"invalid name (it has {len(name)} characters, some may be invisible): {name[:LONGEST_NAME]!r}",
            fix=f"use 1 to {LONGEST_NAME} visible characters, without a space at either end",
        )
    return name


def name_key(name: str) -> str:
    """The same for names that differ only in case, or in how the same letters are encoded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
