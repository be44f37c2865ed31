"""The tables. Rows are added and never change, except where it says so.

item         a generated stimulus, as it arrived
revision     a text that a person made of it
assignment   who has which item; its state changes
decision     what a person decided
standing     the state of each item: derived from the others, and stored so that no key press reads them all; changes
event        what else happened: an undo, a new overlap, a person invited or revoked
guideline    the instructions that reviewers were given
person       who may take part; role and revocation change, each with an event
token        links and sessions, by hash only; used and revoked change
counter      single numbers: the version of the review, the overlap and the guideline in force; they change
"""

import json
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    and_,
    literal_column,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator


class AnyText(TypeDecorator[str]):
    """Any text, stored as a JSON string: PostgreSQL cannot store NUL, and neither database a lone surrogate."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        if value is None:
            return None
        # The error handler writes a lone surrogate as JSON's own escape for it, so it is read back unchanged.
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else str(json.loads(value))


metadata = MetaData()

_Number = BigInteger().with_variant(Integer, "sqlite")
"""On SQLite a key must be an `integer` to be the row number itself."""


def _key(name: str) -> Column[Any]:
    # We number rows ourselves, in the order of commits: a sequence leaves gaps and counts before the commit.
    return Column(name, _Number, primary_key=True, autoincrement=False)


def _of_item(**options: Any) -> Column[Any]:  # noqa: ANN401
    return Column("item", _Number, ForeignKey("item.serial"), autoincrement=False, **options)


item = Table(
    "item",
    metadata,
    _key("serial"),
    Column("id", AnyText, nullable=False, unique=True),
    Column("at", String, nullable=False),
    Column("record", Text, nullable=False),
)

revision = Table(
    "revision",
    metadata,
    _of_item(primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("parent", Integer, nullable=False),
    Column("author", AnyText, nullable=False),
    Column("text", AnyText, nullable=False),
    Column("at", String, nullable=False),
)

assignment = Table(
    "assignment",
    metadata,
    _of_item(primary_key=True),
    Column("reviewer", AnyText, primary_key=True),
    Column("slot", Integer),
    Column("state", String, nullable=False),
    Column("position", _Number, nullable=False),
    Column("turn", _Number, nullable=False),
    # Whatever else goes wrong, two people never hold one place.
    UniqueConstraint("item", "slot", name="assignment_slot"),
)
Index("assignment_turn", assignment.c.reviewer, assignment.c.state, assignment.c.turn)
Index("assignment_position", assignment.c.reviewer, assignment.c.position)

decision = Table(
    "decision",
    metadata,
    _key("number"),
    _of_item(nullable=False),
    Column("reviewer", AnyText, nullable=False),
    Column("kind", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("at", String, nullable=False),
    Column("milliseconds", _Number),
    Column("mode", String, nullable=False),
    Column("guideline", Integer, nullable=False),
    Column("label", AnyText, nullable=False),
    Column("reason", String),
    Column("comment", AnyText, nullable=False),
    Column("adjudicates", Boolean, nullable=False),
)
Index("decision_item", decision.c.item, decision.c.number)
Index("decision_reviewer", decision.c.reviewer, decision.c.number)

standing = Table(
    "standing",
    metadata,
    _of_item(primary_key=True),
    Column("position", _Number, nullable=False, unique=True),
    Column("free", Integer, nullable=False),
    Column("moves", Integer, nullable=False),
    Column("state", String, nullable=False),
)
# Literals, not parameters: a partial index is used only by queries that repeat its condition word for word.
is_free = standing.c.free > literal_column("0")
is_disputed = standing.c.state == literal_column("'disputed'")
is_free_again = and_(is_free, standing.c.moves > literal_column("0"))
Index("standing_free", standing.c.position, standing.c.free, sqlite_where=is_free, postgresql_where=is_free)
Index("standing_free_again", standing.c.position, sqlite_where=is_free_again, postgresql_where=is_free_again)
Index("standing_disputed", standing.c.item, sqlite_where=is_disputed, postgresql_where=is_disputed)

event = Table(
    "event",
    metadata,
    _key("number"),
    Column("at", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("person", AnyText, nullable=False),
    Column("decision", _Number, ForeignKey("decision.number")),
    Column("detail", AnyText, nullable=False),
)
is_undoing = event.c.kind == literal_column("'undone'")
Index("event_undone", event.c.decision, unique=True, sqlite_where=is_undoing, postgresql_where=is_undoing)

guideline = Table(
    "guideline",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("text", AnyText, nullable=False),
    Column("at", String, nullable=False),
)

person = Table(
    "person",
    metadata,
    Column("key", AnyText, primary_key=True),
    Column("name", AnyText, nullable=False),
    Column("role", String, nullable=False),
    Column("revoked", Boolean, nullable=False),
)

token = Table(
    "token",
    metadata,
    Column("hash", String, primary_key=True),
    Column("person", AnyText, ForeignKey("person.key"), nullable=False),
    Column("purpose", String, nullable=False),
    Column("at", String, nullable=False),
    Column("used", Boolean, nullable=False),
    Column("revoked", Boolean, nullable=False),
)
Index("token_person", token.c.person)

counter = Table(
    "counter",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", _Number, nullable=False),
)
