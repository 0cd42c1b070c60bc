"""Several servers over one PostgreSQL: opened, waited for, cut off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from app.store import Store
from app.store.line import _driver
from app.store.postgres import PostgresDatabase
from engine.turn import Seat
from tests.support.stores import look


def is_server(store: Store) -> bool:
    """Whether a store is on PostgreSQL, where several servers can share it."""
    return isinstance(store._database, PostgresDatabase)


async def cut_off(*stores: Store) -> None:
    """PostgreSQL ends the connections on which these servers hold their locks and hear the others."""
    pids = []
    for store in stores:
        assert isinstance(store._database, PostgresDatabase)
        connection = store._database._line._connection
        assert connection is not None
        pids.append((await _driver(connection)).get_server_pid())
    for pid in pids:
        await look(
            stores[0],
            lambda connection, pid=pid: connection.exec_driver_sql(
                f"SELECT pg_terminate_backend({pid})"
            ).all(),
        )


async def until(true: Callable[[], object], patience_s: float = 5.0) -> None:
    """Waits for something that happens by itself."""
    async with asyncio.timeout(patience_s):
        while True:
            if true():
                return
            await asyncio.sleep(0.01)


async def connected(store: Store) -> set[tuple[str, Seat, str]]:
    """Which seats have displays at which servers, as it is stored."""
    rows = await look(
        store,
        lambda connection: connection.exec_driver_sql("SELECT match_id, seat, node FROM connections").all(),
    )
    return {(match_id, Seat(seat), node) for match_id, seat, node in rows}
