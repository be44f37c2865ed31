"""Bringing a database to the version of this program. The steps are in `migrations`, and go with the package."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from umpirical.domain.errors import UsageError

__all__ = ["HEAD", "migrate"]

HEAD = "0001"
"""The newest step; steps are numbered."""

STEPS = Path(__file__).parent / "migrations"

_LOCK = 7_105_636_801
"""Of two programs that open an empty database at once, one waits on this number."""


def migrate(engine: Engine) -> None:
    """Takes the steps that the database has not taken; refuses a database that has taken more than are known."""
    with engine.connect() as connection:
        if _version(connection) == HEAD:
            return
    with engine.connect() as connection:
        writing = connection.execution_options(umpirical_writes=True)
        with writing.begin():
            if engine.dialect.name == "postgresql":
                writing.execute(text("select pg_advisory_xact_lock(:number)"), {"number": _LOCK})
            at = _version(writing)
            if at is None or at < HEAD:
                _upgrade(writing)
            elif at > HEAD:
                raise UsageError(
                    f"the review database is of version {at}, and this program knows up to {HEAD}",
                    fix="pip install --upgrade umpirical",
                )


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("select version_num from alembic_version")).scalar_one_or_none()
    return None if found is None else str(found)


def _upgrade(connection: Connection) -> None:
    # A second and a half of imports, for a new database only.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(STEPS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
