"""The database: SQLite in memory. It outlives the servers; what it says to them may come late, or never."""

from __future__ import annotations

import asyncio
import contextvars
import sqlite3
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, StaticPool, and_

from app.store.database import Append, CommandSeen, NoAnswer, StoreClosed, VersionTaken, Work
from app.store.schema import upgrade_schema
from app.store.sqlite import _INSERT, _MOVE, _SEEN, _engine, _moving
from app.store.tables import nodes
from tests.support.simulation.loop import Chance, VirtualLoop

T = TypeVar("T")

_COMPILED: dict[Any, Any] = {}  # statements are the same in every run
_EMPTY = contextvars.Context()  # what is under way belongs to no server

# The journal is append-only, whoever forgets it.
_APPEND_ONLY = """
CREATE TRIGGER never_changed BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER never_deleted BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
"""


class Unreachable(ConnectionError):
    """The database could not be asked; nothing has happened. Injected."""


class Crashed(Exception):
    """The server that asks is dead."""


@cache
def _empty_database() -> bytes:
    raw = sqlite3.connect(":memory:", isolation_level=None)
    with _engine(lambda: raw, "BEGIN", poolclass=StaticPool).begin() as connection:
        upgrade_schema(connection)
    raw.executescript(_APPEND_ONLY)
    return raw.serialize()


class Disk:
    """What is stored, the locks by which servers live, and when each journal row was written."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop = loop
        self.raw = sqlite3.connect(":memory:", isolation_level=None)
        self.raw.deserialize(_empty_database())
        self.raw.execute("PRAGMA foreign_keys = ON")
        self._engine = _engine(lambda: self.raw, "BEGIN IMMEDIATE", poolclass=StaticPool)
        self._engine = self._engine.execution_options(compiled_cache=_COMPILED)
        self.alive: set[str] = set()  # who holds the lock of its number, as on PostgreSQL
        self.written: dict[str, list[float]] = {}  # when each version of a match was
        self.trouble: list[float] = []  # when something was injected

    def transaction(self, work: Work[T]) -> T:
        """All or nothing."""
        with self._engine.begin() as connection:
            return work(connection)

    def note_rows(self) -> None:
        """Notes when rows came to be there."""
        for match_id, version in self.raw.execute("SELECT id, version FROM matches ORDER BY id").fetchall():
            written = self.written.setdefault(match_id, [])
            written += [self.loop.time()] * (version - len(written))

    def append(self, wanted: Append) -> None:
        """One row, as SqliteDatabase writes it."""
        self.raw.execute("BEGIN IMMEDIATE")
        moved = self.raw.execute(_MOVE, _moving(wanted))
        if moved.rowcount:
            row = (
                wanted.match_id,
                wanted.after + 1,
                wanted.command_id,
                wanted.at,
                wanted.format,
                wanted.events,
            )
            self.raw.execute(_INSERT, row)
        self.raw.execute("COMMIT")
        if not moved.rowcount:
            seen = self.raw.execute(_SEEN, (wanted.match_id, wanted.command_id)).fetchone()
            if seen and wanted.command_id:
                raise CommandSeen(wanted.match_id, wanted.command_id, seen[0])
            raise VersionTaken(wanted.match_id, wanted.after)

    def is_alive(self, connection: Connection, node: str) -> ColumnElement[bool]:
        """Stands in for `app.store.nodes._is_alive`, which on SQLite knows of one server only."""
        return and_(nodes.c.id != node, nodes.c.id.in_(sorted(self.alive)))


class Owner(Protocol):
    """The server that asks."""

    name: str
    dead: bool

    def crash(self) -> None: ...


class Faults:
    """How bad the way to the database is."""

    def __init__(self, chance: Chance, wild: float) -> None:
        self.chance = chance
        self.wild = wild  # 0: no trouble at all
        self.slow_until = 0.0

    def delay(self, now: float) -> float:
        """Seconds that one way takes."""
        usual = self.chance.expovariate(1 / 0.002)
        return usual + (self.chance.random() * 1.5 if now < self.slow_until else 0.0)

    def draw(self, is_write: bool) -> str:
        """What happens to this request."""
        lot = self.chance.random()
        for fault in (
            ("unreachable", "no answer", "crash before", "crash after") if is_write else ("unreachable",)
        ):
            lot -= 0.002 * self.wild
            if lot < 0:
                return fault
        return "nothing"


class SimulatedDatabase:
    """One server's way to the disk: the `Database` of app/store/database.py."""

    def __init__(self, disk: Disk, owner: Owner, faults: Faults, tell: Callable[[str], None]) -> None:
        self._disk = disk
        self._owner = owner
        self._faults = faults
        self._tell = tell
        self._appended_at = 0.0  # one writer: appends arrive in order
        self._closed = False
        self.kept: tuple[Work[Any], Callable[[], Awaitable[None]]] | None = None
        self.heard: Callable[[str], None] | None = None
        self.missed: Callable[[], None] | None = None
        self.context = contextvars.copy_context()

    async def read(self, work: Work[T]) -> T:
        return await self._ask(lambda: self._disk.transaction(work), is_write=False)

    async def write(self, work: Work[T], *, notice: str | None = None) -> T:
        return await self._ask(lambda: self._disk.transaction(work), notice=notice)

    async def migrate(self, work: Work[T]) -> T:
        return await self.write(work)

    async def append(self, wanted: Append, meanwhile: Callable[[], None] | None = None) -> None:
        if meanwhile is not None:
            meanwhile()
        await self._ask(lambda: self._disk.append(wanted), notice=wanted.notice, in_order=True)

    async def keep(self, work: Work[T], again: Callable[[], Awaitable[None]]) -> T:
        result = await self._ask(lambda: self._hold(work))
        self.kept = work, again
        return result

    def _hold(self, work: Work[T]) -> T:
        if not self._owner.dead:  # a lock goes with the process that asked for it
            self._disk.alive.add(self._owner.name)
        return self._disk.transaction(work)

    async def let_go(self) -> None:
        self.kept = None
        self._disk.alive.discard(self._owner.name)

    def notify(self, notice: str) -> None:
        if not self._owner.dead:
            self._tell(notice)

    async def listen(self, node: str, heard: Callable[[str], None], missed: Callable[[], None]) -> None:
        self.heard, self.missed = heard, missed
        self.context = contextvars.copy_context()

    async def stop_listening(self) -> None:
        self.heard = self.missed = None

    async def clock_ms(self) -> int | None:
        return None

    async def close(self) -> None:
        self._closed = True

    def _ask(
        self,
        act: Callable[[], T],
        *,
        is_write: bool = True,
        notice: str | None = None,
        in_order: bool = False,
    ) -> asyncio.Future[T]:
        """The answer to a request that goes there, is carried out whoever waits for it, and comes back."""
        if self._closed:
            raise StoreClosed
        if self._owner.dead:
            raise Crashed
        loop, now = self._disk.loop, self._disk.loop.time()
        answer: asyncio.Future[T] = loop.create_future()
        fault, back = self._faults.draw(is_write), self._faults.delay(now)
        arrives = now + self._faults.delay(now)
        survives = self._faults.chance.once_in(2)
        if in_order:
            arrives = self._appended_at = max(arrives, self._appended_at)

        def arrive() -> None:
            if self._owner.dead and not survives:
                return
            result, wrong = None, None
            if fault in ("unreachable", "crash before"):
                wrong = Unreachable("injected")
            else:
                try:
                    result = act()
                except BaseException as refused:
                    wrong = refused
                else:
                    if is_write:
                        self._disk.note_rows()
                    if notice is not None:
                        self._tell(notice)
                    if fault == "no answer":
                        wrong = NoAnswer()
            if fault != "nothing":
                self._disk.trouble.append(loop.time())
            if fault.startswith("crash"):
                self._owner.crash()
            else:
                loop.call_later(back, reply, result, wrong, context=_EMPTY)

        def reply(result: Any, wrong: BaseException | None) -> None:
            if answer.done() or self._owner.dead:
                return
            if wrong is None:
                answer.set_result(result)
            else:
                answer.set_exception(wrong)

        loop.call_at(arrives, arrive, context=_EMPTY)
        return answer
