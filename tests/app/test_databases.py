"""The databases of the other tests: fresh, copied cheaply, gone afterwards."""

import asyncpg
import pytest

from tests.support.postgres import Server


async def names(url: str) -> list[str]:
    """The tables of a database."""
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    finally:
        await connection.close()
    return [row["tablename"] for row in rows]


async def test_a_database_starts_empty_or_as_a_copy_and_is_gone_afterwards(postgres: Server) -> None:
    with postgres.fresh() as template:
        assert await names(template) == []
        connection = await asyncpg.connect(template)
        await connection.execute("CREATE TABLE matches (id text)")
        await connection.close()
        with postgres.fresh(template) as copy:
            assert await names(copy) == ["matches"]
    for gone in (copy, template):
        with pytest.raises(asyncpg.InvalidCatalogNameError):
            await names(gone)
