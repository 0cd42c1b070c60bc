"""The connection that a node keeps to PostgreSQL: its locks are held on it, and on it the node hears the others.

When it is lost it is made anew, with everything that was on it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import asyncpg
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.store.database import StoreClosed, Work

T = TypeVar("T")

CHANNEL = "nardy"

_PING_S = 2.0  # between two looks at whether the connection still answers
_PATIENCE_S = 3.0  # for that answer
_LONGEST_S = 10.0  # to make a connection, and all that is to be on it
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0  # before a lost connection is made anew, and doubling
# The server lets go of the locks of a machine that has vanished within this time, not after its usual two hours.
_KEEP_ALIVE = "SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3"

log = logging.getLogger(__name__)


class Line:
    """One connection, there from the first time that something needs it until nothing does."""

    def __init__(self, engine: AsyncEngine) -> None:
        """`engine` makes connections that nobody else uses."""
        self._engine = engine
        self._connection: AsyncConnection | None = None
        self._lost = asyncio.Event()
        self._in_use = asyncio.Lock()
        self._watcher: asyncio.Task[None] | None = None
        self._work: Work[Any] | None = None
        self._again: Callable[[], Awaitable[None]] | None = None
        self._node = ""
        self._heard: Callable[[str], None] | None = None
        self._missed: Callable[[], None] | None = None
        self._closed = False

    async def keep(self, work: Work[T], again: Callable[[], Awaitable[None]]) -> T:
        """As `Database.keep`."""
        async with self._in_use, asyncio.timeout(_LONGEST_S):
            connection = await self._open()
            async with connection.begin():
                answer = await connection.run_sync(work)
            self._work, self._again = work, again
        return answer

    async def let_go(self) -> None:
        """As `Database.let_go`."""
        async with self._in_use:
            self._work = self._again = None
            if self._heard is None:
                await self._hang_up()
            elif self._connection is not None:
                with suppress(Exception):  # a lost connection holds nothing
                    await (await _driver(self._connection)).execute("SELECT pg_advisory_unlock_all()")

    async def listen(self, node: str, heard: Callable[[str], None], missed: Callable[[], None]) -> None:
        """As `Database.listen`."""
        async with self._in_use, asyncio.timeout(_LONGEST_S):
            connection = await self._open()
            self._node, self._heard, self._missed = node, heard, missed
            await self._lend_an_ear(connection)

    async def stop_listening(self) -> None:
        """As `Database.stop_listening`."""
        async with self._in_use:
            self._heard = self._missed = None
            if self._work is None:
                await self._hang_up()
            elif self._connection is not None:
                with suppress(Exception):  # on a lost connection nothing is heard
                    await (await _driver(self._connection)).remove_listener(CHANNEL, self._said)

    async def close(self) -> None:
        """Lets go of everything."""
        self._closed = True
        await self._stop_watching()  # it may be waiting for a database that does not come back
        async with self._in_use:
            self._work = self._again = self._heard = self._missed = None
            await self._hang_up()

    # ------------------------------------------------------------------------------------------------------ within

    async def _open(self) -> AsyncConnection:
        if self._closed:
            raise StoreClosed
        if self._connection is None:
            lost = asyncio.Event()
            connection = await self._engine.connect()
            try:
                driver = await _driver(connection)
                driver.add_termination_listener(lambda _: lost.set())
                await driver.execute(_KEEP_ALIVE, timeout=_PATIENCE_S)
            except BaseException:
                await _drop(connection)
                raise
            self._connection, self._lost = connection, lost
        if self._watcher is None:
            self._watcher = asyncio.create_task(self._watch(), name="store-line")
        return self._connection

    async def _lend_an_ear(self, connection: AsyncConnection) -> None:
        await (await _driver(connection)).add_listener(CHANNEL, self._said)

    async def _hang_up(self) -> None:
        await self._stop_watching()
        await self._let_fall()

    async def _stop_watching(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.cancel()
            await asyncio.wait([watcher])

    async def _let_fall(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await _drop(connection)

    async def _watch(self) -> None:
        """Looks whether the connection is there; if not, makes it anew until it is."""
        pause = _SHORTEST_PAUSE_S
        while True:
            try:
                if await self._is_lost():
                    await self._renew()
                    pause = _SHORTEST_PAUSE_S
            except Exception as wrong:
                level = logging.WARNING if pause == _SHORTEST_PAUSE_S else logging.DEBUG
                log.log(level, "the database cannot be reached: %r", wrong)
                self._lost.set()
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    async def _is_lost(self) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(_PING_S):
                await self._lost.wait()
        if not self._lost.is_set():
            async with self._in_use:
                assert self._connection is not None
                try:
                    driver = await _driver(self._connection)
                    await driver.fetchval("SELECT 1", timeout=_PATIENCE_S)
                except Exception:
                    self._lost.set()
        return self._lost.is_set()

    async def _renew(self) -> None:
        async with self._in_use, asyncio.timeout(_LONGEST_S):
            await self._let_fall()
            connection = await self._open()
            if self._heard is not None:
                await self._lend_an_ear(connection)
            if self._work is not None:
                async with connection.begin():
                    await connection.run_sync(self._work)
            again, missed = self._again, self._missed
        if again is not None:
            await again()
        log.info("the connection to the other servers was lost; it is there again")
        if missed is not None:
            try:
                missed()
            except Exception:
                log.exception("a gap in what other servers said was not made good")

    def _said(self, _connection: object, _process: int, _channel: str, payload: object) -> None:
        node, _, notice = str(payload).partition(":")
        if node != self._node and self._heard is not None:
            try:
                self._heard(notice)
            except Exception:
                log.exception("what another server said was not understood")


async def _driver(connection: AsyncConnection) -> asyncpg.Connection[Any]:
    driver: asyncpg.Connection[Any] | None = (await connection.get_raw_connection()).driver_connection
    if driver is None:
        raise ConnectionError("the connection is lost")
    return driver


async def _drop(connection: AsyncConnection) -> None:
    with suppress(Exception):  # it may be gone already
        (await _driver(connection)).terminate()
    with suppress(Exception):
        await connection.invalidate()
    with suppress(Exception):
        await connection.close()
