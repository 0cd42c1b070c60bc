"""The servers on this database: which of them live, when the last one did, and whom each is connected to.

On PostgreSQL a server lives while it holds the lock of its number: a dead one is known at once, and a slow one is not
thought dead. On SQLite there is one server, and all others are dead.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Collection

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    column,
    delete,
    exists,
    false,
    func,
    select,
    text,
    update,
)

from app.store.database import Database, insert_new
from app.store.tables import connections, idempotency, nodes
from engine.turn import Seat

Computer = tuple[str, str]  # name and version of a computer player

_WEEK_MS = 7 * 86_400_000
_AT_ONCE = 5_000  # rows in one statement: databases have a limit
_LOOK_AGAIN_S = 0.05
_PATIENCE_S = 30.0  # with a server that is taking up
_GRACE_S = 2.0  # in which the others come back, if all have lost the database together

_IDS: BindParameter[str] = bindparam("ids", expanding=True)
_CONNECTED = select(connections.c.match_id, connections.c.seat, connections.c.node).where(
    connections.c.match_id.in_(_IDS)
)

# Locks of two numbers: the first says whose they are. 0 is nobody's number: it lets one join after the other.
_LOCK = 20190601
_ONE_JOINS = text(f"SELECT pg_advisory_xact_lock({_LOCK}, 0)")
_HOLD = text(f"SELECT pg_advisory_lock_shared({_LOCK}, :number)")  # its own last connection may hold it still
_HELD = (
    text(
        f"""
        SELECT objid::bigint AS number FROM pg_locks
        WHERE locktype = 'advisory' AND classid = {_LOCK} AND objsubid = 2 AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
    )
    .columns(column("number", BigInteger))
    .subquery("held")
)


class Nodes:
    """The servers, among them this one. A server is called by a name that no other has or had."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._state = "joining"
        self._computers: str | None = None  # those of this server
        self._joined_at = 0
        self._here: set[tuple[str, Seat]] = set()  # the seats with a display at this server
        self._noting = asyncio.Lock()
        self._may_sweep_from = 0.0  # on the monotonic clock

    async def join(self, node: str, now: int, computers: Collection[Computer] = ()) -> int | None:
        """This server is alive from now on, and has these computer players. When the last one was alive (ms); None if
        one is now, or none ever was.

        Whoever is told a time gives it back (§8.5), and says by its first `sweep` that it has done so; others that
        join meanwhile wait for that.
        """
        self._computers = json.dumps(sorted(computers))
        await self._database.keep(
            lambda connection: self._hold(connection, node), lambda: self._restore(node)
        )
        until = time.monotonic() + _PATIENCE_S
        joined = await self._try_to_join(node, now, patient=True)
        while joined is None:
            await asyncio.sleep(_LOOK_AGAIN_S)
            joined = await self._try_to_join(node, now, patient=time.monotonic() < until)
        self._state, down_since = joined
        self._joined_at = now
        return down_since

    async def beat(self, node: str, now: int) -> None:
        """Notes that this server is alive; every second while matches run."""
        beaten = update(nodes).where(nodes.c.id == node).values(heartbeat=now)
        await self._database.write(lambda connection: connection.execute(beaten))

    async def computers(self, node: str) -> frozenset[Computer]:
        """The computer players that the other living servers have."""
        others = select(nodes.c.computers).where(nodes.c.computers.is_not(None))

        def work(connection: Connection) -> frozenset[Computer]:
            told = connection.execute(others.where(_is_alive(connection, node))).scalars()
            return frozenset((name, version) for text in told for name, version in json.loads(text))

        return await self._database.read(work)

    async def leave(self, node: str, now: int) -> None:
        """This server stops. Its displays are left to the others' next `sweep`, or to that of the next start."""
        left = update(nodes).where(nodes.c.id == node).values(heartbeat=now, state="left")
        await self._database.write(lambda connection: connection.execute(left))
        await self._database.let_go()
        self._state = "joining"  # should it join again, nobody must think that it serves already

    # ----------------------------------------------------------------------------------------- who is connected where

    async def seat_connected(self, match_id: str, seat: Seat, node: str) -> None:
        """Notes that this server has a display of that seat. Noted twice is noted once."""
        row = _row(match_id, seat, node)
        async with self._noting:
            self._here.add((match_id, seat))
            await self._database.write(lambda connection: insert_new(connection, connections, row))

    async def seat_disconnected(self, match_id: str, seat: Seat, node: str) -> bool:
        """Notes that this server has no display of that seat any longer. True if no other has one either.

        Of the servers that note this of the same seat, the last one is told so.
        """
        of_seat = and_(connections.c.match_id == match_id, connections.c.seat == seat.value)
        where = select(connections.c.node).where(of_seat).order_by(connections.c.node).with_for_update()

        def work(connection: Connection) -> bool:
            found = set(connection.execute(where).scalars())
            connection.execute(delete(connections).where(of_seat, connections.c.node == node))
            return found <= {node}

        async with self._noting:
            self._here.discard((match_id, seat))
            return await self._database.write(work)

    async def connected(self, match_ids: Collection[str]) -> dict[tuple[str, Seat], frozenset[str]]:
        """The servers at which the seats of these matches are noted as having displays."""
        wanted = list(match_ids)

        def work(connection: Connection) -> dict[tuple[str, Seat], frozenset[str]]:
            found: dict[tuple[str, Seat], frozenset[str]] = {}
            for i in range(0, len(wanted), _AT_ONCE):
                some = {"ids": wanted[i : i + _AT_ONCE]}
                for match_id, seat, node in connection.execute(_CONNECTED, some):
                    whose = (match_id, Seat(seat))
                    found[whose] = found.get(whose, frozenset()) | {node}
            return found

        return await self._database.read(work)

    async def sweep(self, node: str) -> tuple[tuple[str, Seat], ...]:
        """Forgets the displays of dead servers: the seats that have none left anywhere. Every second.

        Of several servers that sweep, one is told of such a seat.
        """
        if self._state == "taking-up":
            await self._serve(node)
        if time.monotonic() < self._may_sweep_from:
            return ()
        if not await self._database.read(lambda connection: _dead(connection, node)):
            return ()
        return await self._database.write(lambda connection: _swept(connection, node))

    # ------------------------------------------------------------------------------------------------------ within

    def _hold(self, connection: Connection, node: str) -> None:
        """Takes the lock that says that this server lives; on a new connection, anew."""
        if self._state != "joining":
            self._may_sweep_from = time.monotonic() + _GRACE_S
        insert_new(connection, nodes, {"id": node, "state": self._state, "computers": self._computers})
        row = select(nodes.c.number).where(nodes.c.id == node)
        if connection.dialect.name != "sqlite":
            connection.execute(_HOLD, {"number": connection.execute(row).scalar_one()})
        connection.execute(row.with_for_update(key_share=True))  # who is sweeping it up just now comes first

    async def _restore(self, node: str) -> None:
        """After a time without the lock, in which others may have thought this server dead."""
        async with self._noting:
            rows = [_row(match_id, seat, node) for match_id, seat in self._here]

            def work(connection: Connection) -> None:
                for i in range(0, len(rows), _AT_ONCE):
                    insert_new(connection, connections, *rows[i : i + _AT_ONCE])

            await self._database.write(work)

    async def _try_to_join(self, node: str, now: int, *, patient: bool) -> tuple[str, int | None] | None:
        return await self._database.write(lambda connection: _joined(connection, node, now, patient))

    async def _serve(self, node: str) -> None:
        serves = update(nodes).where(nodes.c.id == node).values(state="serving", heartbeat=self._joined_at)
        await self._database.write(lambda connection: connection.execute(serves))
        self._state = "serving"


def _joined(connection: Connection, node: str, now: int, patient: bool) -> tuple[str, int | None] | None:
    """The state in which a server joins, and since when there was none; None if it has to wait."""
    if connection.dialect.name != "sqlite":
        connection.execute(_ONE_JOINS)
    _forget(connection, node, now - _WEEK_MS)
    others = set(connection.execute(select(nodes.c.state).where(_is_alive(connection, node))).scalars())
    if "taking-up" in others and patient:
        return None
    last = connection.execute(select(func.max(nodes.c.heartbeat))).scalar()
    down = last is not None and not others & {"serving", "taking-up"}
    # Its own heartbeat comes later, so that if it dies over the taking up, the next one is told the same time.
    joined = {"state": "taking-up"} if down else {"state": "serving", "heartbeat": now}
    connection.execute(update(nodes).where(nodes.c.id == node).values(joined))
    return ("taking-up", last) if down else ("serving", None)


def _forget(connection: Connection, node: str, old: int) -> None:
    """Forgets what is old: servers, and the keys of calls."""
    unseen = func.coalesce(nodes.c.heartbeat, 0) < old
    gone = and_(nodes.c.id != node, unseen, ~_is_connected(), ~_is_alive(connection, node))
    connection.execute(delete(nodes).where(gone))
    connection.execute(delete(idempotency).where(idempotency.c.at < old))


def _is_alive(connection: Connection, node: str) -> ColumnElement[bool]:
    """Whether a row is of a server that lives, other than this one."""
    if connection.dialect.name == "sqlite":
        return false()
    return and_(nodes.c.id != node, nodes.c.number.in_(select(_HELD.c.number)))


def _is_connected() -> ColumnElement[bool]:
    """Whether a row is of a server that is noted as having displays."""
    return exists().where(connections.c.node == nodes.c.id)


def _dead(connection: Connection, node: str) -> list[str]:
    """Dead servers that are still noted as having displays; none while this one has lost its own lock."""
    dead = and_(nodes.c.id != node, _is_connected(), ~_is_alive(connection, node))
    if connection.dialect.name != "sqlite":
        own = nodes.alias("own")
        dead = and_(dead, exists().where(own.c.id == node, own.c.number.in_(select(_HELD.c.number))))
    return list(connection.execute(select(nodes.c.id).where(dead).order_by(nodes.c.id)).scalars())


def _swept(connection: Connection, node: str) -> tuple[tuple[str, Seat], ...]:
    """Deletes the displays of dead servers: the seats that have none left."""
    suspects = _dead(connection, node)
    # Others that sweep wait here, and a server that comes back: what was done meanwhile counts.
    these = select(nodes.c.id).where(nodes.c.id.in_(suspects)).order_by(nodes.c.id)
    connection.execute(these.with_for_update(key_share=True))
    dead = set(suspects).intersection(_dead(connection, node))

    row, theirs = connections.c, connections.alias("theirs")
    shared = exists().where(
        theirs.c.match_id == row.match_id, theirs.c.seat == row.seat, theirs.c.node.in_(dead)
    )
    found = select(row.match_id, row.seat, row.node).where(shared)
    found = found.order_by(row.match_id, row.seat, row.node).with_for_update(of=connections)
    servers: dict[tuple[str, Seat], set[str]] = {}
    for match_id, seat, where in connection.execute(found):
        servers.setdefault((match_id, Seat(seat)), set()).add(where)
    connection.execute(delete(connections).where(row.node.in_(dead)))
    return tuple(seat for seat, at in servers.items() if at <= dead)


def _row(match_id: str, seat: Seat, node: str) -> dict[str, str]:
    return {"match_id": match_id, "seat": seat.value, "node": node}
