"""PostgreSQL: one writer on a connection of its own for plays, a pool for everything else.

What waits is one statement and one commit, and afterwards one more for what other nodes are to hear of it. A row that
is refused harms no other, and after a lost connection what is stored is looked up before anything is tried again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import asyncpg
from sqlalchemy import Connection, NullPool
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from app.store.database import (
    Append,
    CommandSeen,
    NoAnswer,
    StoreClosed,
    StoreError,
    VersionTaken,
    Work,
    use_the_time,
)
from app.store.line import CHANNEL, Line

T = TypeVar("T")

_POOL = 8
_LARGEST_BATCH = 512
_PATIENCE_S = 10.0  # for one answer of the database
_LONGEST_S = 60.0  # the same where nothing else is said: nobody waits for ever
_AFTER_YOU = 3  # turns of the loop for displays here to be shown what is stored, before other nodes are told
_PAUSE_S = 0.02  # before a lost connection is made anew
_TRIES = 3  # of a transaction that the database gave up for the sake of another
_GIVEN_UP = ("40001", "40P01")  # serialization failure, deadlock
_LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.exceptions.OperatorInterventionError,  # the server is going down, or coming up
    OSError,
    TimeoutError,
)

_APPEND = """
WITH wanted AS (
    SELECT * FROM unnest(
        $1::text[], $2::int[], $3::text[], $4::bigint[], $5::int[], $6::text[], $7::bigint[], $8::bigint[]
    ) AS wanted (match_id, after, command_id, at, format, events, deadline, computer_since)
), moved AS (
    UPDATE matches
    SET version = wanted.after + 1, deadline = wanted.deadline, computer_since = wanted.computer_since
    FROM wanted
    WHERE matches.id = wanted.match_id AND matches.version = wanted.after AND matches.state = 'playing'
        AND NOT EXISTS (
            SELECT FROM journal
            WHERE journal.match_id = wanted.match_id AND journal.command_id = wanted.command_id
        )
    RETURNING matches.id
)
INSERT INTO journal (match_id, version, command_id, at, format, events)
SELECT match_id, after + 1, command_id, at, format, events
FROM wanted JOIN moved ON moved.id = wanted.match_id
RETURNING match_id
"""
# The same for one row, which is most of them: without a set to be joined it takes a fifth less.
_APPEND_ONE = """
WITH moved AS (
    UPDATE matches
    SET version = $2::int + 1, deadline = $7, computer_since = $8
    WHERE id = $1 AND version = $2::int AND state = 'playing'
        AND NOT EXISTS (SELECT FROM journal WHERE match_id = $1 AND command_id = $3)
    RETURNING id
)
INSERT INTO journal (match_id, version, command_id, at, format, events)
SELECT id, $2::int + 1, $3, $4, $5, $6
FROM moved
RETURNING match_id
"""
_NOTIFY = "SELECT pg_notify($1, notice) FROM unnest($2::text[]) AS notice"
_SEEN = "SELECT version FROM journal WHERE match_id = $1 AND command_id = $2"
_ROW = "SELECT command_id, at, events FROM journal WHERE match_id = $1 AND version = $2"
_MIGRATING = "SELECT pg_advisory_xact_lock(20190601)"
_CLOCK = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """A row to write, and who waits for it."""

    wanted: Append
    answer: asyncio.Future[None]
    meanwhile: Callable[[], None] | None


class PostgresDatabase:
    """A server, shared with other nodes."""

    def __init__(self, url: str) -> None:
        """Connects when first asked for something. Call it in a running event loop."""
        self._url = "postgresql://" + url.partition("://")[2]
        self._engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self._connect,
            pool_size=_POOL,
            max_overflow=0,
            hide_parameters=True,
            pool_pre_ping=True,  # the server may have been restarted
        )
        self._reader = self._engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        self._loop = asyncio.get_running_loop()
        self._line = Line(
            create_async_engine(
                "postgresql+asyncpg://",
                async_creator=self._connect,
                poolclass=NullPool,
                hide_parameters=True,
            )
        )
        self._node = ""  # what other nodes call this one, once it listens to them
        self._waiting: deque[_Job] = deque()
        self._notices: list[str] = []
        self._wake = asyncio.Event()
        self._connection: asyncpg.Connection[Any] | None = None
        self._under_way: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._writer = asyncio.create_task(self._run(), name="store-writer")

    async def read(self, work: Work[T]) -> T:
        if self._closed:
            raise StoreClosed
        async with self._reader.connect() as connection:
            return await connection.run_sync(work)

    async def write(self, work: Work[T], *, notice: str | None = None) -> T:
        if self._closed:
            raise StoreClosed
        task = asyncio.create_task(self._write(work, notice))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)  # goes on if whoever waits for it gives up

    async def migrate(self, work: Work[T]) -> T:
        def alone(connection: Connection) -> T:
            connection.exec_driver_sql(_MIGRATING)  # of several nodes that start at once, one
            return work(connection)

        engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=lambda: self._connect(longest_s=None),  # a big table takes as long as it takes
            poolclass=NullPool,
            hide_parameters=True,
        )
        try:
            async with engine.begin() as connection:
                return await connection.run_sync(alone)
        finally:
            await engine.dispose()

    async def append(self, wanted: Append, meanwhile: Callable[[], None] | None = None) -> None:
        if self._closed:
            raise StoreClosed
        job = _Job(wanted, self._loop.create_future(), meanwhile)
        self._waiting.append(job)
        self._wake.set()
        await job.answer

    async def clock_ms(self) -> int | None:
        return await self.read(lambda connection: connection.exec_driver_sql(_CLOCK).scalar_one())

    async def keep(self, work: Work[T], again: Callable[[], Awaitable[None]]) -> T:
        return await self._line.keep(work, again)

    async def let_go(self) -> None:
        await self._line.let_go()

    def notify(self, notice: str) -> None:
        self._notices.append(f"{self._node}:{notice}")
        self._wake.set()

    async def listen(self, node: str, heard: Callable[[str], None], missed: Callable[[], None]) -> None:
        self._node = node
        await self._line.listen(node, heard, missed)

    async def stop_listening(self) -> None:
        await self._line.stop_listening()

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await self._line.close()
        if self._under_way:
            await asyncio.wait(self._under_way)
        self._wake.set()
        await self._writer
        if self._connection is not None:
            await self._connection.close()
        await self._engine.dispose()

    async def _connect(self, longest_s: float | None = _LONGEST_S) -> asyncpg.Connection[Any]:
        return await asyncpg.connect(self._url, timeout=_PATIENCE_S, command_timeout=longest_s)

    async def _write(self, work: Work[T], notice: str | None) -> T:
        for last in (False,) * (_TRIES - 1) + (True,):
            try:
                async with self._engine.begin() as connection:
                    answer = await connection.run_sync(work)
            except DBAPIError as wrong:
                if last or getattr(wrong.orig, "sqlstate", None) not in _GIVEN_UP:
                    raise
            else:
                if notice is not None:
                    self.notify(notice)
                return answer
        raise AssertionError  # the last try returns or raises

    # -------------------------------------------------------------------------------------------------- the writer

    async def _run(self) -> None:
        while self._waiting or self._notices or not self._closed:
            if self._waiting:
                await self._append_all(self._batch())
            elif not self._notices:
                self._wake.clear()
                await self._wake.wait()
            if self._notices:
                for _ in range(_AFTER_YOU):
                    if not self._waiting:
                        await asyncio.sleep(0)
                await self._tell_the_others()

    def _batch(self) -> list[_Job]:
        """What waits, one row of each match.

        Should two nodes wait for each other over it, the one that the database gives up tries its rows one by one.
        """
        chosen: dict[str, _Job] = {}
        later: deque[_Job] = deque()
        while self._waiting and len(chosen) < _LARGEST_BATCH:
            job = self._waiting.popleft()
            if job.wanted.match_id in chosen:
                later.append(job)
            else:
                chosen[job.wanted.match_id] = job
        self._waiting.extendleft(reversed(later))
        return [chosen[match_id] for match_id in sorted(chosen)]

    async def _append_all(self, jobs: list[_Job]) -> None:
        """All in one commit; if that fails, one by one."""
        lost: Exception | None = None
        if len(jobs) > 1:
            try:
                refused = await self._committed(jobs)
            except Exception as wrong:
                lost = self._if_lost(wrong)
            else:
                for job, why in zip(jobs, refused, strict=True):
                    self._answer(job, why)
                return
        until = self._loop.time() + _PATIENCE_S
        for job in jobs:
            try:
                self._answer(job, await self._append_one(job, lost, until))
            except NoAnswer as wrong:
                lost = wrong
                self._answer(job, wrong)
            except Exception as wrong:
                self._answer(job, wrong)

    async def _append_one(self, job: _Job, lost: Exception | None, until: float) -> StoreError | None:
        """Why a row was not written; None if it is stored.

        `lost` is how the connection was lost over it before: then the row may be stored already. Connections are
        made anew until that time of the loop's clock. Raises NoAnswer if it passes.
        """
        while True:
            if lost is not None and self._loop.time() >= until:
                raise NoAnswer from lost
            try:
                if lost is not None and await self._is_stored(job.wanted):
                    return None
                refused = (await self._committed([job]))[0]
                if refused is not None and lost is not None and await self._is_stored(job.wanted):
                    return None  # the one before was late, not lost
                return refused
            except Exception as wrong:
                lost = self._if_lost(wrong)
                if lost is None:
                    raise
                await asyncio.sleep(_PAUSE_S)

    async def _committed(self, jobs: list[_Job]) -> list[StoreError | None]:
        """Writes these rows in one statement; for each, why it was not written, or None."""
        connection, appends = await self._connected(), [job.wanted for job in jobs]
        rows = [
            (w.match_id, w.after, w.command_id, w.at, w.format, w.events, w.deadline, w.computer_since)
            for w in appends
        ]
        statement, values = (
            (_APPEND_ONE, rows[0]) if len(rows) == 1 else (_APPEND, map(list, zip(*rows, strict=True)))
        )
        # In the next turn of the loop, when the statement is on its way.
        self._loop.call_soon(use_the_time, [job.meanwhile for job in jobs])
        written = {row[0] for row in await connection.fetch(statement, *values, timeout=_PATIENCE_S)}
        return [None if w.match_id in written else await self._refusal(connection, w) for w in appends]

    async def _refusal(self, connection: asyncpg.Connection[Any], wanted: Append) -> StoreError:
        if wanted.command_id is not None:
            seen = await connection.fetchval(_SEEN, wanted.match_id, wanted.command_id, timeout=_PATIENCE_S)
            if seen is not None:
                return CommandSeen(wanted.match_id, wanted.command_id, seen)
        return VersionTaken(wanted.match_id, wanted.after)

    async def _is_stored(self, wanted: Append) -> bool:
        """Whether exactly this row is in the journal."""
        connection = await self._connected()
        row = await connection.fetchrow(_ROW, wanted.match_id, wanted.after + 1, timeout=_PATIENCE_S)
        return row is not None and tuple(row) == (wanted.command_id, wanted.at, wanted.events)

    def _answer(self, job: _Job, wrong: Exception | None) -> None:
        if wrong is None:
            self._notices.append(f"{self._node}:{job.wanted.notice}")
        if job.answer.done():  # given up by who waited; it is stored all the same
            return
        if wrong is None:
            job.answer.set_result(None)
        else:
            job.answer.set_exception(wrong)

    async def _tell_the_others(self) -> None:
        """Hints only: if they cannot be sent, a node still finds out by comparing versions."""
        notices, self._notices = self._notices, []
        for last in (False, True):
            try:
                connection = await self._connected()
                await connection.execute(_NOTIFY, CHANNEL, notices, timeout=_PATIENCE_S)
            except Exception as wrong:
                self._if_lost(wrong)
                if last:
                    log.warning("%s notices to other servers are lost: %r", len(notices), wrong)
            else:
                return

    async def _connected(self) -> asyncpg.Connection[Any]:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        return self._connection

    def _if_lost(self, wrong: Exception) -> Exception | None:
        """This exception, if with it the connection is lost; then away with it."""
        connection = self._connection
        if connection is not None and not connection.is_closed():
            if not isinstance(wrong, _LOST):
                return None
            connection.terminate()
        self._connection = None
        return wrong
