"""Runs the migrations on the connection that `connection` hands over, within its transaction."""  # noqa: INP001  # Alembic reads it as a file

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
