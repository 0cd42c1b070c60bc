"""Brings a database to the schema of this version of the program, and says whether it is there."""

from __future__ import annotations

import functools
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from app.store.database import StoreError

_MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


class WrongSchema(StoreError):
    """The database is not at the schema that this version of the program needs."""


def upgrade_schema(connection: Connection) -> None:
    """Makes or changes the tables; goes to `Database.migrate`. Raises WrongSchema."""
    if is_current(connection):
        return
    known = {revision.revision for revision in _scripts().walk_revisions()}
    newer = set(MigrationContext.configure(connection).get_current_heads()) - known
    if newer:
        raise WrongSchema("the database was written by a newer version of this program")
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def is_current(connection: Connection) -> bool:
    """Whether the tables are those of this version of the program."""
    return set(MigrationContext.configure(connection).get_current_heads()) == _heads()


@functools.cache
def _heads() -> frozenset[str]:
    """The schema of this version; it is in files that do not change while the program runs."""
    return frozenset(_scripts().get_heads())


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config
