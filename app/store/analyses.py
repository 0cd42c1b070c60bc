"""The analyses of finished matches: those that wait, what is judged already, and what was found (§6.4).

Whoever works at one has a claim, a word of his own, until a time that he puts off while he works. Whatever he writes is
written only while the claim is his: of several servers one does the work, and one that has died loses it to another.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, and_, case, delete, func, insert, or_, select, update

from app.store.database import Database, StoreError, insert_new
from app.store.tables import analyses, judged_phases
from engine.analysis import FORMAT, Analysis, TurnJudged

TRIES = 3  # at one phase; then the match is given up
ASK_AGAIN_MS = (
    3_600_000  # after so long one that failed may be asked for again: the fault may have been elsewhere
)
LOST = "lost"  # the code of a failure: whoever worked at it has vanished, each time

_AT_ONCE = 1_000  # ids in one query: databases have a limit
_encode = msgspec.json.Encoder().encode


class ClaimLost(StoreError):
    """Somebody else has taken the analysis over, or will; nothing is written."""


@dataclass(frozen=True, slots=True)
class StoredAnalysis:
    """How far the analysis of a match is."""

    state: str  # waiting, running, done, failed
    claimed_until: int | None
    done: int  # phases judged
    phases: int  # of so many; 0: not begun yet
    failure: str | None
    level: str | None
    judges: str | None
    objective_for_A: float | None
    found: dict[str, Any] | None  # nardy-analysis/1, once it is done

    def is_worked_at(self, now: int) -> bool:
        """Whether somebody has a claim that counts."""
        return self.state == "running" and self.claimed_until is not None and self.claimed_until > now


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to analyse a match, and what is stored of it already."""

    match_id: str
    word: str
    phases: tuple[str, ...]  # JSON, in order

    def judged(self) -> list[TurnJudged]:
        """The phases that are judged already, in order."""
        return [TurnJudged.from_plain(msgspec.json.decode(phase)) for phase in self.phases]


class Analyses:
    """The analyses of the database. Times are Unix ms."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -------------------------------------------------------------------------------------------------- looked up

    async def load(self, match_id: str) -> StoredAnalysis | None:
        """How far it is; None if nobody has asked for it."""
        row, phase = analyses.c, judged_phases.c
        done = select(func.count()).select_from(judged_phases).where(phase.match_id == match_id)
        wanted = select(analyses, done.scalar_subquery().label("done")).where(row.match_id == match_id)
        found = await self._database.read(lambda connection: connection.execute(wanted).one_or_none())
        if found is None:
            return None
        return StoredAnalysis(
            found.state,
            found.claimed_until,
            found.phases if found.state == "done" else found.done,
            found.phases or 0,
            found.failure,
            found.level,
            found.judges,
            found.objective_for_a,
            None if found.found is None else msgspec.json.decode(found.found),
        )

    async def objective(self, match_ids: Collection[str]) -> dict[str, float | None]:
        """The objective result of each of these matches, for A (points); None: it is not known yet."""
        wanted, row = list(match_ids), analyses.c

        def work(connection: Connection) -> dict[str, float | None]:
            found: dict[str, float | None] = dict.fromkeys(wanted)
            for i in range(0, len(wanted), _AT_ONCE):
                some = select(row.match_id, row.objective_for_a).where(
                    row.match_id.in_(wanted[i : i + _AT_ONCE])
                )
                found.update((match_id, objective) for match_id, objective in connection.execute(some))
            return found

        return await self._database.read(work)

    # ------------------------------------------------------------------------------------------------------ asked for

    async def ask(self, match_id: str, at: int) -> bool:
        """Has a finished match analysed, before those that wait since longer. True if there is now more to do.

        One that is done or being worked at stays as it is; one that failed a minute ago or more is tried again.
        """
        row = analyses.c
        this = row.match_id == match_id
        failed_long_ago = and_(row.state == "failed", row.ended_at <= at - ASK_AGAIN_MS)

        def work(connection: Connection) -> bool:
            if insert_new(connection, analyses, {"match_id": match_id, **_waiting(at)}):
                return True
            again = update(analyses).where(this, failed_long_ago).values(_waiting(at))
            if connection.execute(again).rowcount:
                return True
            connection.execute(update(analyses).where(this, row.state == "waiting").values(wanted_at=at))
            return False

        return await self._database.write(work)

    # ------------------------------------------------------------------------------------------------------- the work

    async def claim(self, word: str, level: str, judges: str, now: int, until: int) -> Claim | None:
        """The next match to be analysed, which is this caller's until then; None if there is none.

        One whose work was broken off comes first, then the newest. What other judges found of it is forgotten.
        """

        def work(connection: Connection) -> Claim | None:
            while (next_ := _next(connection, now)) is not None:
                match_id, tries, before = next_
                this = analyses.c.match_id == match_id
                if tries >= TRIES:
                    failed = {**_NO_CLAIM, "state": "failed", "failure": LOST, "ended_at": now}
                    connection.execute(update(analyses).where(this).values(failed))
                    continue
                if before != (level, judges):
                    connection.execute(delete(judged_phases).where(judged_phases.c.match_id == match_id))
                mine = {"state": "running", "claim": word, "claimed_until": until, "tries": tries + 1}
                connection.execute(
                    update(analyses).where(this).values(mine | {"level": level, "judges": judges})
                )
                return Claim(match_id, word, _judged(connection, match_id))
            return None

        if not await self._database.read(lambda connection: _is_any(connection, now)):
            return None  # most of the time, and then nothing is written
        return await self._database.write(work)

    async def renew(self, claim: Claim, until: int) -> None:
        """The work takes longer. Raises ClaimLost."""
        await self._database.write(lambda connection: _change(connection, claim, {"claimed_until": until}))

    async def keep(self, claim: Claim, first: int, turns: Sequence[TurnJudged], of: int, until: int) -> None:
        """Stores phases that follow the first so many, of so many in all. Raises ClaimLost.

        Stored twice is stored once: who was interrupted over it does not know whether it was.
        """
        rows = [
            {"match_id": claim.match_id, "number": number, "judged": _encode(turn.to_plain()).decode()}
            for number, turn in enumerate(turns, first)
        ]

        def work(connection: Connection) -> None:
            _change(connection, claim, {"claimed_until": until, "phases": of, "tries": 1})
            insert_new(connection, judged_phases, *rows)

        await self._database.write(work)

    async def finish(self, claim: Claim, found: Analysis, at: int) -> None:
        """Stores the whole, and its phases no longer by themselves. Raises ClaimLost."""
        done = {
            **_NO_CLAIM,
            **_NO_FAULT,
            "state": "done",
            "ended_at": at,
            "phases": len(found.turns),
            "objective_for_a": found.objective_for_A,
            "found": _encode({"format": FORMAT, **found.to_plain()}).decode(),
        }

        def work(connection: Connection) -> None:
            _change(connection, claim, done)
            connection.execute(delete(judged_phases).where(judged_phases.c.match_id == claim.match_id))

        await self._database.write(work)

    async def let_go(self, claim: Claim, failure: str | None, at: int) -> bool:
        """Breaks the work off; what is judged is kept. True if it is given up, for good.

        `failure` is the code of what went wrong: after so many in a row the match has failed. None: nothing did, and
        the claim counts for none.
        """
        row = analyses.c
        values: dict[str, Any] = {"state": "waiting", **_NO_FAULT}
        if failure is not None:
            last = row.tries >= TRIES
            values = {
                "state": case((last, "failed"), else_="waiting"),
                "ended_at": case((last, at), else_=None),
                "failure": failure,
            }

        def work(connection: Connection) -> bool:
            _change(connection, claim, _NO_CLAIM | values)
            state = connection.execute(select(row.state).where(row.match_id == claim.match_id)).scalar_one()
            return bool(state == "failed")

        return await self._database.write(work)


def queue(connection: Connection, match_id: str, at: int) -> None:
    """A match that has just ended is to be analysed; in the transaction that stores its end."""
    connection.execute(insert(analyses).values(match_id=match_id, **_waiting(at)))


_NO_CLAIM: dict[str, Any] = {"claim": None, "claimed_until": None}
_NO_FAULT: dict[str, Any] = {"tries": 0, "failure": None, "ended_at": None}


def _waiting(at: int) -> dict[str, Any]:
    return {"state": "waiting", "wanted_at": at, **_NO_FAULT}


def _to_do(now: int) -> Any:
    row = analyses.c
    return or_(row.state == "waiting", and_(row.state == "running", row.claimed_until <= now))


def _is_any(connection: Connection, now: int) -> bool:
    return connection.execute(select(analyses.c.match_id).where(_to_do(now)).limit(1)).first() is not None


def _next(connection: Connection, now: int) -> tuple[str, int, tuple[str | None, str | None]] | None:
    """The next match to be worked at, locked: its id, the tries so far, level and judges of the last one."""
    row = analyses.c
    columns = select(row.match_id, row.tries, row.level, row.judges).limit(1)
    lapsed = columns.where(row.state == "running", row.claimed_until <= now)
    newest = columns.where(row.state == "waiting").order_by(row.wanted_at.desc())
    for which in (lapsed, newest):  # each by the index, however many are done or wait
        found = connection.execute(which.with_for_update(skip_locked=True)).first()
        if found is not None:
            return found.match_id, found.tries, (found.level, found.judges)
    return None


def _judged(connection: Connection, match_id: str) -> tuple[str, ...]:
    row = judged_phases.c
    in_order = select(row.judged).where(row.match_id == match_id).order_by(row.number)
    return tuple(connection.execute(in_order).scalars())


def _change(connection: Connection, claim: Claim, values: dict[str, Any]) -> None:
    """Writes to an analysis as the one who works at it. Raises ClaimLost."""
    this = and_(analyses.c.match_id == claim.match_id, analyses.c.claim == claim.word)
    if not connection.execute(update(analyses).where(this).values(values)).rowcount:
        raise ClaimLost(f"the analysis of match {claim.match_id} is somebody else's by now")
