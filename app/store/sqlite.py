"""SQLite: one thread writes, a few read.

Write-ahead log, every commit synced to disk. Appends that wait together are committed together.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine, QueuePool, StaticPool, create_engine, event

from app.store.database import (
    Append,
    CommandSeen,
    StoreClosed,
    StoreError,
    VersionTaken,
    Work,
    use_the_time,
)

T = TypeVar("T")

_READERS = 4
_LARGEST_BATCH = 512
_PATIENCE_S = 10.0  # for another process that writes to the same file

_MOVE = """
UPDATE matches SET version = ?1 + 1, deadline = ?2, computer_since = ?5
WHERE id = ?3 AND version = ?1 AND state = 'playing'
  AND NOT EXISTS (SELECT 1 FROM journal WHERE match_id = ?3 AND command_id = ?4)
"""
_INSERT = "INSERT INTO journal (match_id, version, command_id, at, format, events) VALUES (?, ?, ?, ?, ?, ?)"
_SEEN = "SELECT version FROM journal WHERE match_id = ? AND command_id = ?"


@dataclass(frozen=True, slots=True)
class _Migration(Generic[T]):
    """Work that changes tables."""

    work: Work[T]


@dataclass(frozen=True, slots=True, eq=False)
class _Job(Generic[T]):
    """Something to write, and who waits for it."""

    work: Append | _Migration[T] | Work[T]
    answer: asyncio.Future[Any]
    meanwhile: Callable[[], None] | None = None


_Done = tuple["asyncio.Future[Any]", Any, BaseException | None]  # who waits, for what, or why not


class SqliteDatabase:
    """One file. Opened by one process as a rule; others may read it, and write it now and then."""

    def __init__(self, file: Path) -> None:
        """Opens the file, or makes it. Call it in a running event loop; blocks for a moment."""
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._loop = asyncio.get_running_loop()
        self._raw = _connect(file)
        self._raw.execute("PRAGMA journal_mode = WAL")
        self._writer = _engine(lambda: self._raw, "BEGIN IMMEDIATE", poolclass=StaticPool)
        self._reader = _engine(
            lambda: _connect(file, read_only=True),
            "BEGIN",
            poolclass=QueuePool,
            pool_size=_READERS,
            max_overflow=0,
        )
        self._readers = ThreadPoolExecutor(_READERS, "store-reader")
        self._jobs: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._closed = False
        self._thread = Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    async def read(self, work: Work[T]) -> T:
        if self._closed:
            raise StoreClosed
        return await self._loop.run_in_executor(self._readers, self._in_transaction, self._reader, work)

    async def write(self, work: Work[T], *, notice: str | None = None) -> T:
        answer: T = await self._submit(work)
        return answer

    async def migrate(self, work: Work[T]) -> T:
        answer: T = await self._submit(_Migration(work))
        return answer

    async def append(self, wanted: Append, meanwhile: Callable[[], None] | None = None) -> None:
        await self._submit(wanted, meanwhile)

    async def clock_ms(self) -> int | None:
        return None

    # There is one node: nothing to lock others out of, and nobody to talk to.

    async def keep(self, work: Work[T], again: Callable[[], Awaitable[None]]) -> T:
        return await self.write(work)

    async def let_go(self) -> None:
        pass

    def notify(self, notice: str) -> None:
        pass

    async def listen(self, node: str, heard: Callable[[str], None], missed: Callable[[], None]) -> None:
        pass

    async def stop_listening(self) -> None:
        pass

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self._readers.shutdown)
        self._reader.dispose()
        self._writer.dispose()

    def _submit(
        self, work: Append | _Migration[Any] | Work[Any], meanwhile: Callable[[], None] | None = None
    ) -> asyncio.Future[Any]:
        if self._closed:
            raise StoreClosed
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._jobs.put(_Job(work, answer, meanwhile))
        return answer

    # ------------------------------------------------------------------------------------------ the writer's thread

    def _run(self) -> None:
        open_ = True
        while open_:
            waiting = self._gather()
            if waiting[-1] is None:
                open_ = False
                waiting.pop()
            jobs = [job for job in waiting if job is not None]
            for are_appends, group in groupby(jobs, lambda job: isinstance(job.work, Append)):
                if are_appends:
                    self._tell(self._append_all(list(group)))
                else:
                    for job in group:
                        self._tell([self._attempt(job, self._do)])

    def _gather(self) -> list[_Job[Any] | None]:
        """Everything that waits, in order; waits for the first."""
        waiting = [self._jobs.get()]
        try:
            while waiting[-1] is not None and len(waiting) < _LARGEST_BATCH:
                waiting.append(self._jobs.get_nowait())
        except Empty:
            pass
        return waiting

    def _tell(self, done: Iterable[_Done]) -> None:
        self._in_loop(_answer, list(done))

    def _in_loop(self, work: Callable[[Any], None], with_: Any) -> None:
        with suppress(RuntimeError):  # the loop may be gone, and with it everyone who waited
            self._loop.call_soon_threadsafe(work, with_)

    def _attempt(self, job: _Job[Any], do: Callable[[Any], Any]) -> _Done:
        try:
            return job.answer, do(job.work), None
        except BaseException as wrong:  # whatever it is, it belongs to the one who asked
            return job.answer, None, wrong

    def _do(self, work: _Migration[T] | Work[T]) -> T:
        if not isinstance(work, _Migration):
            return self._in_transaction(self._writer, work)
        # A table is changed by making it anew, and what refers to it must not mind meanwhile.
        self._raw.execute("PRAGMA foreign_keys = OFF")
        try:
            return self._in_transaction(self._writer, lambda connection: _checked(connection, work.work))
        finally:
            self._raw.execute("PRAGMA foreign_keys = ON")

    @staticmethod
    def _in_transaction(engine: Engine, work: Work[T]) -> T:
        with engine.begin() as connection:
            return work(connection)

    def _append_all(self, jobs: list[_Job[Any]]) -> list[_Done]:
        """All in one commit; if one of them raises, one by one, so that it harms no other."""
        if len(jobs) > 1:
            try:
                refused = self._committed(jobs)
            except (
                sqlite3.OperationalError
            ) as wrong:  # the file is locked, or the disk full: nobody's own fault
                return [(job.answer, None, wrong) for job in jobs]
            except Exception:
                pass
            else:
                return [(job.answer, None, why) for job, why in zip(jobs, refused, strict=True)]
        return [self._attempt(job, lambda _, job=job: self._append_one(job)) for job in jobs]  # type: ignore[misc]

    def _append_one(self, job: _Job[Any]) -> None:
        for refused in self._committed([job]):
            if refused is not None:
                raise refused

    def _committed(self, jobs: list[_Job[Any]]) -> list[StoreError | None]:
        """Writes these rows in one transaction; for each, why it was not written, or None."""
        self._raw.execute("BEGIN IMMEDIATE")
        try:
            refused = [self._written(job.work) for job in jobs]
            self._in_loop(use_the_time, [job.meanwhile for job in jobs])
            self._raw.execute("COMMIT")
        except BaseException:
            if self._raw.in_transaction:
                self._raw.execute("ROLLBACK")
            raise
        return refused

    def _written(self, wanted: Any) -> StoreError | None:
        match_id, command_id = wanted.match_id, wanted.command_id
        moved = self._raw.execute(_MOVE, _moving(wanted))
        if not moved.rowcount:
            seen = self._raw.execute(_SEEN, (match_id, command_id)).fetchone() if command_id else None
            if seen and command_id:
                return CommandSeen(match_id, command_id, seen[0])
            return VersionTaken(match_id, wanted.after)
        row = (match_id, wanted.after + 1, command_id, wanted.at, wanted.format, wanted.events)
        self._raw.execute(_INSERT, row)
        return None


def _moving(wanted: Append) -> tuple[object, ...]:
    """The parameters of `_MOVE`."""
    return wanted.after, wanted.deadline, wanted.match_id, wanted.command_id, wanted.computer_since


def _checked(connection: Connection, work: Work[T]) -> T:
    result = work(connection)
    dangling = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    if dangling:
        raise StoreError(
            f"{len(dangling)} rows refer to rows that do not exist, the first in {dangling[0][0]}"
        )
    return result


def _answer(done: list[_Done]) -> None:
    for future, result, wrong in done:
        if future.done():  # given up by who waited; it is stored all the same
            continue
        if wrong is None:
            future.set_result(result)
        else:
            future.set_exception(wrong)


def _connect(file: Path, *, read_only: bool = False) -> sqlite3.Connection:
    # Without an isolation level the driver begins nothing by itself: we say BEGIN, and which one.
    connection = sqlite3.connect(file, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA query_only = {int(read_only)}")
    return connection


def _engine(connect: Callable[[], sqlite3.Connection], begin: str, **pool: Any) -> Engine:
    engine = create_engine("sqlite://", creator=connect, hide_parameters=True, **pool)

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
