"""The review's database: SQLite inside the study, or PostgreSQL for a team. The only part that knows SQL."""

from importlib.util import find_spec

from umpirical.domain.errors import UsageError

if find_spec("sqlalchemy") is None or find_spec("alembic") is None:
    raise UsageError("`umpirical review` needs the review extra", fix="pip install 'umpirical[review]'")

from umpirical.review.database.connection import Database, open_database

__all__ = ["Database", "open_database"]
