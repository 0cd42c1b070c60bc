"""Accepted commands with their events: append-only, each row once, each match in order.

Plays go the short way, through the writer that commits together what waits together. The command that ends a match
takes the result and the ratings into its own transaction.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, bindparam, exists, insert, select, update

from app.store.codec import FORMAT, events_text
from app.store.database import Append, CommandSeen, Database, VersionTaken
from app.store.results import Finish, write_finish
from app.store.tables import journal, matches
from engine.match import Event


class Journal:
    """Where accepted commands are written."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(
        self,
        match_id: str,
        *,
        after: int,
        command_id: str | None,
        at: int,
        events: tuple[Event, ...],
        deadline: int | None,
        computer_since: int | None = None,
        finish: Finish | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Stores what a command caused, as version `after` + 1; on return it is on disk.

        `deadline` is when time will next have something to do, `computer_since` since when a computer has. `finish`
        goes with the events that end the match.
        `meanwhile` is called while the disk is waited for, perhaps more than once, perhaps not at all.
        Raises VersionTaken if the match is not at `after` (or not being played), and CommandSeen if this command
        is stored already; then nothing has changed. Any other exception: look up what is stored before trying again.
        Goes on if whoever waits for it gives up.
        """
        wanted = Append(
            match_id, after, command_id, at, FORMAT, events_text(events), deadline, computer_since
        )
        if finish is None:
            await self._database.append(wanted, meanwhile)
        else:
            await self._database.write(
                lambda connection: _append_last(connection, wanted, finish), notice=wanted.notice
            )


_SAME = (journal.c.match_id == bindparam("match"), journal.c.command_id == bindparam("command"))
_SEEN = select(journal.c.version).where(*_SAME)
_MOVE = (
    update(matches)
    .where(
        matches.c.id == bindparam("match"),
        matches.c.version == bindparam("after"),
        matches.c.state == "playing",
        ~exists().where(*_SAME),
    )
    .values(version=matches.c.version + 1)
)


def _append_last(connection: Connection, wanted: Append, finish: Finish) -> None:
    moved = connection.execute(
        _MOVE, {"match": wanted.match_id, "after": wanted.after, "command": wanted.command_id}
    )
    if not moved.rowcount:
        seen = connection.execute(_SEEN, {"match": wanted.match_id, "command": wanted.command_id}).scalar()
        if seen is not None and wanted.command_id is not None:
            raise CommandSeen(wanted.match_id, wanted.command_id, seen)
        raise VersionTaken(wanted.match_id, wanted.after)
    row = {
        "match_id": wanted.match_id,
        "version": wanted.after + 1,
        "command_id": wanted.command_id,
        "at": wanted.at,
        "format": wanted.format,
        "events": wanted.events,
    }
    connection.execute(insert(journal), row)
    write_finish(connection, wanted.match_id, wanted.at, finish)
