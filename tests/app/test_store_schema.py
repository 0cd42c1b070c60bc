"""Migrations: from nothing to the tables of `tables.py`, on both databases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from alembic import command, op
from alembic.autogenerate import compare_metadata
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, delete, inspect, text, update

from app.settings import Settings
from app.store import Store, open_store, schema_is_current, upgrade
from app.store.schema import WrongSchema, _config
from app.store.tables import accounts, metadata, nodes
from tests.support.stores import NOON, a_playing_match, append, look, settings_of


@pytest.fixture
def empty(database_url: str, tmp_path: Path) -> Settings:
    """Settings of a database without tables."""
    return settings_of(database_url, tmp_path)


async def test_migrations_lead_to_the_tables_of_the_program(store: Store) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    assert await look(store, differences) == []


async def test_migrations_make_the_tables_to_the_letter(sqlite_url: str, tmp_path: Path) -> None:
    """What no comparison sees: checks, tables without row ids."""

    def tables(connection: Connection) -> dict[str, list[str]]:
        rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
        return {
            name: sorted(
                sql.replace(",", "").replace('"', "").split()
            )  # a table made anew has its name in quotes
            for name, sql in rows
            if name != "alembic_version"
        }

    store = await open_store(settings_of(sqlite_url, tmp_path))
    migrated = await look(store, tables)
    await store.close()
    engine = create_engine(f"sqlite:///{tmp_path / 'other.sqlite3'}")
    with engine.begin() as connection:
        metadata.create_all(connection)
        assert tables(connection) == migrated
    engine.dispose()


async def test_an_empty_database_is_brought_up_to_date(empty: Settings) -> None:
    assert not await schema_is_current(empty)
    await asyncio.gather(*(upgrade(empty) for _ in range(3)))  # servers that start at once
    assert await schema_is_current(empty)
    await upgrade(empty)
    assert await schema_is_current(empty)
    await (await open_store(empty)).close()


async def test_a_file_is_brought_up_to_date_by_opening_it(sqlite_url: str, tmp_path: Path) -> None:
    settings = settings_of(sqlite_url, tmp_path)
    stores = await asyncio.gather(*(open_store(settings) for _ in range(3)))
    for store in stores:
        await store.close()
    assert await schema_is_current(settings)


async def test_servers_that_start_at_once_on_a_new_database_agree(empty: Settings) -> None:
    await upgrade(empty)
    stores = await asyncio.gather(*(open_store(empty) for _ in range(4)))
    for store in stores:
        await store.close()


async def test_a_table_that_others_refer_to_can_be_made_anew(store: Store) -> None:
    match = await a_playing_match(store)
    await append(store, match, 0)

    def anew(connection: Connection) -> None:
        context = MigrationContext.configure(connection)
        with Operations.context(context), op.batch_alter_table("matches") as batch:
            batch.alter_column("preset", nullable=True)

    await store._database.migrate(anew)
    await append(store, match, 1)
    assert await store.matches.load(match.id) == replace(match, version=2, deadline=NOON + 5)


async def test_a_migration_that_leaves_a_reference_dangling_is_undone(store: Store) -> None:
    match = await a_playing_match(store)

    def careless(connection: Connection) -> None:
        connection.execute(delete(accounts))

    with pytest.raises(Exception, match=r"refer|foreign key"):
        await store._database.migrate(careless)
    assert set(await store.accounts.load_many([match.maker])) == {match.maker}
    with pytest.raises(Exception, match=r"(?i)foreign key"):  # and references are checked again
        await store._database.write(careless)


async def test_a_server_is_brought_up_to_date_by_its_owner(postgres_url: str, tmp_path: Path) -> None:
    with pytest.raises(WrongSchema, match="nardy migrate"):
        await open_store(settings_of(postgres_url, tmp_path))


async def test_migrations_can_be_taken_back(store: Store) -> None:
    def back(connection: Connection) -> list[str]:
        config = _config()
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        return inspect(connection).get_table_names()

    assert await store._database.write(back) == ["alembic_version"]


async def test_a_failed_migration_leaves_nothing_behind(
    empty: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alembic.op.create_index", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await upgrade(empty)
    monkeypatch.undo()
    assert not await schema_is_current(empty)
    await upgrade(empty)
    assert await schema_is_current(empty)


async def test_a_database_of_the_future_is_left_alone(store: Store, store_settings: Settings) -> None:
    await store._database.write(
        lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    )
    assert not await schema_is_current(store_settings)
    with pytest.raises(WrongSchema, match="newer version"):
        await upgrade(store_settings)
    with pytest.raises(WrongSchema):
        await open_store(store_settings)


async def test_a_reading_transaction_cannot_write(store: Store) -> None:
    with pytest.raises(Exception, match=r"(?i)read-?only"):
        await look(store, lambda connection: connection.execute(update(nodes).values(heartbeat=1)))
