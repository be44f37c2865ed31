"""The first tables."""  # noqa: INP001  # Alembic reads it as a file

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Makes every table, and the counters that all writers go through."""
    _items()
    _decisions()
    _people()
    counter = op.create_table(
        "counter",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("value", _Number, nullable=False),
    )
    op.bulk_insert(counter, [{"name": name, "value": 0} for name in ("version", "overlap", "guideline")])


def _items() -> None:
    op.create_table(
        "item",
        sa.Column("serial", _Number, primary_key=True, autoincrement=False),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
    )
    op.create_table(
        "revision",
        sa.Column("item", _Number, sa.ForeignKey("item.serial"), primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("parent", sa.Integer, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("at", sa.String, nullable=False),
    )
    op.create_table(
        "assignment",
        sa.Column("item", _Number, sa.ForeignKey("item.serial"), primary_key=True, autoincrement=False),
        sa.Column("reviewer", sa.Text, primary_key=True),
        sa.Column("slot", sa.Integer),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("position", _Number, nullable=False),
        sa.Column("turn", _Number, nullable=False),
        sa.UniqueConstraint("item", "slot", name="assignment_slot"),
    )
    op.create_index("assignment_turn", "assignment", ["reviewer", "state", "turn"])
    op.create_index("assignment_position", "assignment", ["reviewer", "position"])
    op.create_table(
        "standing",
        sa.Column("item", _Number, sa.ForeignKey("item.serial"), primary_key=True, autoincrement=False),
        sa.Column("position", _Number, nullable=False, unique=True),
        sa.Column("free", sa.Integer, nullable=False),
        sa.Column("moves", sa.Integer, nullable=False),
        sa.Column("state", sa.String, nullable=False),
    )
    _partial("standing_free", "standing", ["position", "free"], "free > 0")
    _partial("standing_free_again", "standing", ["position"], "free > 0 and moves > 0")
    _partial("standing_disputed", "standing", ["item"], "state = 'disputed'")


def _decisions() -> None:
    op.create_table(
        "decision",
        sa.Column("number", _Number, primary_key=True, autoincrement=False),
        sa.Column("item", _Number, sa.ForeignKey("item.serial"), nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("milliseconds", _Number),
        sa.Column("mode", sa.String, nullable=False),
        sa.Column("guideline", sa.Integer, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("reason", sa.String),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("adjudicates", sa.Boolean, nullable=False),
    )
    op.create_index("decision_item", "decision", ["item", "number"])
    op.create_index("decision_reviewer", "decision", ["reviewer", "number"])
    op.create_table(
        "event",
        sa.Column("number", _Number, primary_key=True, autoincrement=False),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("decision", _Number, sa.ForeignKey("decision.number")),
        sa.Column("detail", sa.Text, nullable=False),
    )
    _partial("event_undone", "event", ["decision"], "kind = 'undone'", unique=True)
    op.create_table(
        "guideline",
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("at", sa.String, nullable=False),
    )


def _people() -> None:
    op.create_table(
        "person",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("revoked", sa.Boolean, nullable=False),
    )
    op.create_table(
        "token",
        sa.Column("hash", sa.String, primary_key=True),
        sa.Column("person", sa.Text, sa.ForeignKey("person.key"), nullable=False),
        sa.Column("purpose", sa.String, nullable=False),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("used", sa.Boolean, nullable=False),
        sa.Column("revoked", sa.Boolean, nullable=False),
    )
    op.create_index("token_person", "token", ["person"])


def _partial(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)
