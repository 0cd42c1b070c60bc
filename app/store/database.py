"""The one interface of the two databases: a transaction that reads, one that writes, and the append of a play.

A transaction is a function of a SQLAlchemy connection, so each is written once. It waits for nothing but the database.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, Insert, Table
from sqlalchemy.dialects import postgresql, sqlite

log = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[[Connection], T]


class StoreError(Exception):
    """Why the store did not do as it was asked; nothing is stored then."""


class VersionTaken(StoreError):
    """Somebody else has written the next version of this match: load it and decide again."""

    def __init__(self, match_id: str, after: int) -> None:
        super().__init__(f"match {match_id} is no longer at version {after}")
        self.match_id = match_id
        self.after = after


class CommandSeen(StoreError):
    """This command is stored already, with the events that `version` has: answer as the first time."""

    def __init__(self, match_id: str, command_id: str, version: int) -> None:
        super().__init__(f"match {match_id} has command {command_id} already, as version {version}")
        self.match_id = match_id
        self.command_id = command_id
        self.version = version


class StoreClosed(StoreError):
    """The store has been closed; this came too late and was not stored."""

    def __init__(self) -> None:
        super().__init__("the store is closed")


class NoAnswer(Exception):
    """The database was lost before it answered: whether this is stored must be looked up."""

    def __init__(self) -> None:
        super().__init__("the database does not answer")


@dataclass(frozen=True, slots=True)
class Append:
    """One journal row that waits to be written: the events of a command, to follow version `after`."""

    match_id: str
    after: int
    command_id: str | None
    at: int
    format: int
    events: str
    deadline: int | None
    computer_since: int | None = None

    @property
    def notice(self) -> str:
        """What other nodes hear once it is written."""
        return f"{self.match_id}:{self.after + 1}"


class Database(Protocol):
    """SQLite or PostgreSQL."""

    async def read(self, work: Work[T]) -> T:
        """The result of a transaction that only reads and sees one state of the database."""
        ...

    async def write(self, work: Work[T], *, notice: str | None = None) -> T:
        """The result of a transaction, once it is on disk. If `work` raises, nothing has happened.

        `notice` is what other nodes hear of it afterwards.
        """
        ...

    async def migrate(self, work: Work[T]) -> T:
        """Like `write`, for work that changes tables: alone, and with references checked only at its end."""
        ...

    async def append(self, wanted: Append, meanwhile: Callable[[], None] | None = None) -> None:
        """Writes a journal row and moves its match on; returns once it is on disk.

        `meanwhile` is called before that, when the disk has begun to work; perhaps more than once, perhaps not at all.

        What waits is committed together, by one writer, and other nodes hear of it: `match:version`. Raises
        VersionTaken, CommandSeen, and NoAnswer if the outcome is not known.
        """
        ...

    async def keep(self, work: Work[T], again: Callable[[], Awaitable[None]]) -> T:
        """Like `write`, on a connection that is kept, and with it what `work` locks for the session.

        When that connection is lost, another is made, `work` done on it, and then `again` awaited.
        """
        ...

    async def let_go(self) -> None:
        """Nothing of that is kept any longer."""
        ...

    def notify(self, notice: str) -> None:
        """Tells the other nodes; soon, in order, and after everything that is committed now. It may be lost."""
        ...

    async def listen(self, node: str, heard: Callable[[str], None], missed: Callable[[], None]) -> None:
        """Hands what other nodes say to `heard`, until `stop_listening`; `node` is what this one is called.

        After a time in which nothing could be heard, `missed` is called.
        """
        ...

    async def stop_listening(self) -> None:
        """Nothing is heard any longer."""
        ...

    async def clock_ms(self) -> int | None:
        """What the database's clock says; None where it is this machine's own."""
        ...

    async def close(self) -> None:
        """Writes what still waits, and lets go of the database."""
        ...


def use_the_time(meanwhile: Iterable[Callable[[], None] | None]) -> None:
    """Does what can be done while the database works. A fault of it harms no writing."""
    for work in meanwhile:
        if work is not None:
            try:
                work()
            except Exception:
                log.exception("what was to be done meanwhile failed")


def insert_new(connection: Connection, table: Table, *rows: Mapping[str, Any]) -> int:
    """Inserts rows, but for those whose key is there already, made by whomever; how many it inserted."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement: Insert = dialect.insert(table).on_conflict_do_nothing()
    return sum(connection.execute(statement, row).rowcount for row in rows)
