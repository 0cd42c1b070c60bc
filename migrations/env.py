"""Runs migrations on the connection that the program hands over; see `app/store/schema.py`."""

from alembic import context

from app.store.tables import metadata

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("Migrations run by `nardy migrate`.")
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
context.run_migrations()
