"""The whole store, opened and closed as one."""

from __future__ import annotations

from sqlalchemy import Connection, select

from app.settings import Settings
from app.store.accounts import Accounts
from app.store.analyses import Analyses
from app.store.bots import Bots
from app.store.database import Database, insert_new
from app.store.journal import Journal
from app.store.matches import Matches
from app.store.nodes import Nodes
from app.store.notices import Notices
from app.store.postgres import PostgresDatabase
from app.store.schema import WrongSchema, is_current, upgrade_schema
from app.store.seal import Seal
from app.store.sqlite import SqliteDatabase
from app.store.tables import key_checks

_KNOWN_WORD = b"nardy"


class Store:
    """Everything that outlives the process."""

    def __init__(self, database: Database, seal: Seal) -> None:
        self._database = database
        self.journal = Journal(database)
        self.matches = Matches(database, seal)
        self.accounts = Accounts(database)
        self.analyses = Analyses(database)
        self.bots = Bots(database)
        self.nodes = Nodes(database)
        self.notices = Notices(database)

    async def clock_ms(self) -> int | None:
        """What the database's clock says (Unix ms); None where it is this machine's own."""
        return await self._database.clock_ms()

    async def schema_is_current(self) -> bool:
        """Whether the database answers with the schema of this version; asks it."""
        return await self._database.read(is_current)

    async def close(self) -> None:
        """Writes what still waits, and lets go of the database."""
        await self._database.close()


async def open_store(settings: Settings) -> Store:
    """The store of these settings. An SQLite file is made and brought up to date by itself.

    Raises WrongSchema if another database is not up to date, WrongSecret if it was written with another key.
    """
    seal = Seal(settings.secret())
    database = _open_database(settings)
    try:
        if settings.sqlite_file is not None:
            await _bring_up_to_date(database)
        elif not await database.read(is_current):
            raise WrongSchema("the database is not at the schema of this version: run `nardy migrate`")
        await database.write(lambda connection: _check_key(connection, seal))
    except BaseException:
        await database.close()
        raise
    return Store(database, seal)


async def upgrade(settings: Settings) -> None:
    """Brings the database of these settings to the schema of this version. Raises WrongSchema."""
    database = _open_database(settings)
    try:
        await _bring_up_to_date(database)
    finally:
        await database.close()


async def schema_is_current(settings: Settings) -> bool:
    """Whether the database of these settings is at the schema of this version."""
    database = _open_database(settings)
    try:
        return await database.read(is_current)
    finally:
        await database.close()


async def _bring_up_to_date(database: Database) -> None:
    if not await database.read(is_current):
        await database.migrate(upgrade_schema)


def _open_database(settings: Settings) -> Database:
    file = settings.sqlite_file
    return PostgresDatabase(settings.database_url) if file is None else SqliteDatabase(file)


def _check_key(connection: Connection, seal: Seal) -> None:
    """Refuses a secret key that cannot read what is stored, before anything is written with it."""
    insert_new(connection, key_checks, {"id": 1, "sealed": seal.close("key check", _KNOWN_WORD)})
    seal.open("key check", connection.execute(select(key_checks.c.sealed)).scalar_one())
