"""Finished matches that were really played, put into a store; and judges that are not asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cache

from sqlalchemy import update

from app.engines.judge import judge_of
from app.store import Store
from app.store.codec import ruleset_text
from app.store.matches import StoredMatch
from app.store.results import Finish
from app.store.tables import matches
from engine.analysis import Played, TurnJudged, played, work
from engine.match import MatchEnded, Resign, apply, resign_price
from engine.scoring import Outcome
from engine.turn import Seat
from tests.builders import MADE_AT, SERVER_SEED, Table, a_match
from tests.support.stores import NOON, a_playing_match

LEVEL = "club"  # the quickest


@cache
def a_whole_match(*, swapped: bool = False) -> Table:
    """Played to its end, A always the first legal play and B the last; `swapped`: B the first."""
    table = a_match()
    while table.match.score is None:
        turn = table.turn
        for seat, first in ((Seat.A, not swapped), (Seat.B, swapped)):
            if table.match.turn == turn and table.match.owes(seat) and table.match.can_move(seat):
                table.play(seat, str(table.plays_of(seat)[0 if first else -1]))
        if table.match.score is None and table.match.turn == turn:
            table.wait(table.match.ruleset.auto_pass_ms)
    return table


@cache
def a_match_given_up() -> Table:
    """A gives up in the third round, with one phase of it played."""
    table = a_match().play_until("3K")
    price = resign_price(table.match, Seat.A)
    assert price is not None
    table.do(Resign(Seat.A, table.turn, price.points, table.at(3000)))
    return table


async def store_match(store: Store, table: Table, **changes: object) -> StoredMatch:
    """The match of this table, between two new players, as if it had been played here; its end is the last commit."""
    match = await a_playing_match(store, server_seed=SERVER_SEED, created_at=MADE_AT, **changes)
    score = table.match.score
    assert score is not None
    events, last = tuple(table.events[:-1]), tuple(table.events[-1:])
    await store.journal.append(
        match.id, after=0, command_id=None, at=MADE_AT, events=events, deadline=MADE_AT + 5
    )
    await store.journal.append(
        match.id,
        after=1,
        command_id=None,
        at=MADE_AT + 1,
        events=last,
        deadline=None,
        finish=Finish(score, match.players),
    )
    stored = await store.matches.load(match.id)
    assert stored is not None
    return stored


async def ended(store: Store, outcome: Outcome) -> StoredMatch:
    """A match that an arbiter has ended before its first roll."""
    match = await a_playing_match(store)
    end = MatchEnded(outcome, None, NOON, None, "arbiter", "for a test")
    score = apply(match.start(), end).score
    assert score is not None
    await store.journal.append(
        match.id,
        after=0,
        command_id=None,
        at=NOON,
        events=(end,),
        deadline=None,
        finish=Finish(score, match.players),
    )
    return match


async def of_long_nardy(store: Store, match: StoredMatch) -> None:
    """Makes a match one of long nardy, as far as what is stored says."""
    text = ruleset_text(match.ruleset.changed({"variant": "long"}))
    of = update(matches).where(matches.c.id == match.id).values(ruleset=text)
    await store._database.write(lambda connection: connection.execute(of))


@cache
def judged(table: Callable[[], Table] = a_whole_match, level: str = LEVEL) -> tuple[TurnJudged, ...]:
    """Its phases, judged here and now."""
    return tuple(work(played(table().match), judge_of(level)))


class Prepared:
    """Says what was judged before of one match; counts what it is asked, and stops where it is told to."""

    def __init__(self, turns: Iterable[TurnJudged]) -> None:
        self.turns = tuple(turns)
        self.asked: list[int] = []
        self.rested = 0
        self.stops_at: int | None = None
        self.stopped = asyncio.Event()
        self.may_go_on = asyncio.Event()

    async def judged(self, level: str, match: Played, index: int) -> TurnJudged:
        self.asked.append(index)
        if index == self.stops_at:
            self.stopped.set()
            await self.may_go_on.wait()
        await asyncio.sleep(0)
        return self.turns[index]

    async def rest(self) -> None:
        self.rested += 1
