"""Both players of many matches, each at his own server, without sockets: as close to the same moment as can be."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.service.displays import Accepted, Display, Refused, ViewFrame
from app.service.matches import Matches
from app.store import Store
from engine.bot import Heuristic
from engine.match import Match, MatchEnded, PhaseOpened, PlayMade, replay
from engine.ruleset import DEFAULT
from engine.turn import FIRST_TURN, Seat, Turn
from engine.view import View
from tests.support.computers import only
from tests.support.stores import a_playing_match, two_players

UNTIMED = DEFAULT.changed(
    {
        "reveal_ms": 0,
        "auto_pass_ms": 0,
        "rated": False,
        "clock": {"type": "none", "bank_ms": 0, "delay_ms": 0},
        "time": {"mode": "off"},
    }
)
_AT_ONCE, _OF_ONE = 20, 30  # matches, and simultaneous plays in each
Way = tuple[tuple[int, int], ...]


def unix_ms() -> int:
    return time.time_ns() // 1_000_000


@contextlib.asynccontextmanager
async def serving(
    stores: Sequence[Store], now: Callable[[], int] = unix_ms
) -> AsyncIterator[tuple[Matches, ...]]:
    """The matches of several servers over one database, or of one alone."""
    nodes = tuple(
        Matches(store, only(Heuristic()), f"node-{i}", now, computer_pace_ms=0)
        for i, store in enumerate(stores)
    )
    for node in nodes:
        await node.start()
    yield nodes
    for node in nodes:
        await node.close()


@dataclass
class Hand:
    """One display of a player at one server."""

    node: Matches
    display: Display
    view: Any = None
    answers: list[Accepted | Refused] = field(default_factory=list)

    async def until(self, holds: Callable[[View], object], patience_s: float = 30.0) -> View:
        """The newest view, once it is so."""
        async with asyncio.timeout(patience_s):
            while self.view is None or not holds(self.view):
                await self._take(await self.display.next_frame())
        view: View = self.view
        return view

    async def answer(self, patience_s: float = 30.0) -> Accepted | Refused:
        """The next answer to something that was sent."""
        async with asyncio.timeout(patience_s):
            while not self.answers:
                await self._take(await self.display.next_frame())
        return self.answers.pop(0)

    async def _take(self, frame: object) -> None:
        if isinstance(frame, ViewFrame):
            self.view = frame.view
        elif isinstance(frame, Accepted | Refused):
            self.answers.append(frame)

    async def play(self, turn: str, way: Way, id_: str | None = None) -> bool:
        """Send a play; whether it was accepted, now for the first time."""
        of = Turn.parse(turn)
        assert of is not None
        return await self.node.play(self.display, id_ or f"p{turn}", of, way)


def way_of(view: View) -> Way | None:
    """The first way through the step graph of one who owes a play; None if there is nothing to play."""
    steps = view.mine.steps if view.mine is not None else None
    if not steps or not steps[0]:
        return None
    node, way = 0, []
    while steps[node]:
        start, end, _, _, node = steps[node][0]
        way.append((start, end))
    return tuple(way)


@dataclass
class Pair:
    """A match, and the displays of its two players: his own server's first."""

    match_id: str
    a: list[Hand]
    b: list[Hand]


async def a_pair(store: Store, nodes: Sequence[Matches], *, at_all: bool = False, **match: Any) -> Pair:
    """A match whose first roll is on the table, its players as far apart as there are servers.

    With `at_all` both have a display at every server.
    """
    players = await two_players(store)
    match.setdefault("ruleset", UNTIMED)
    match.setdefault(
        "created_at", unix_ms() - 20_000
    )  # nobody is waited for any longer: the dice are zeros' own
    stored = await a_playing_match(store, players, **match)

    async def hands(account: str, at: Sequence[Matches]) -> list[Hand]:
        return [Hand(node, await node.connect(stored.id, account)) for node in (at if at_all else at[:1])]

    return Pair(stored.id, await hands(players.A, nodes), await hands(players.B, nodes[::-1]))


async def play_at_once(pair: Pair, times: int) -> int:
    """Both play every phase in the same moment, each at all of his displays, until they have so many times.

    How many times both had something to play. Of several messages of one play, one is news, and all are accepted.
    """
    done, a, b = 0, pair.a[0], pair.b[0]
    everyone = (*pair.a, *pair.b)
    for hand in everyone:
        await hand.until(lambda view: view.turn is not None)
    while done < times:
        while _place(a.view) != _place(b.view):  # a phase in which nobody could play is over in a moment
            behind = min((a, b), key=lambda hand: _place(hand.view))
            seen = _place(behind.view)
            await behind.until(lambda view, seen=seen: _place(view) > seen)
        if a.view.stage == "over":
            break
        turn, place, ways = a.view.turn, _place(a.view), [way_of(hand.view) for hand in (a, b)]
        news = await asyncio.gather(
            *(
                hand.play(turn, way)
                for hands, way in zip((pair.a, pair.b), ways, strict=True)
                for hand in hands
                if way is not None
            )
        )
        assert sum(news) == sum(way is not None for way in ways), f"{turn}: {news}"
        done += None not in ways
        for hand in everyone:
            await hand.until(lambda view, place=place: _place(view) > place)
            assert all(isinstance(answer, Accepted) for answer in hand.answers), hand.answers
            hand.answers.clear()
    return done


def _place(view: View) -> tuple[bool, int, str]:
    """How far a display has come."""
    turn = view.turn or "0W"
    return view.stage == "over", int(turn[:-1]), {"W": "a", "K": "b"}[turn[-1]]


async def history_of(store: Store, match_id: str) -> Match:
    """The match as its journal tells it.

    One history: versions without a gap, each command once, each turn opened once and in order, each play once, both
    plays before the next roll, and at most one end, which is the last that happened.
    """
    stored = await store.matches.load(match_id)
    assert stored is not None
    rows = await store.matches.events(match_id)
    assert [row.version for row in rows] == list(range(1, len(rows) + 1))
    commands = [row.command_id for row in rows if row.command_id]
    assert len(commands) == len(set(commands))
    events = [event for row in rows for event in row.events]
    turn, played = FIRST_TURN, list[Seat]()
    for event in events:
        match event:
            case PhaseOpened(turn=opened):
                assert opened == turn
                assert not played or sorted(played) == [Seat.A, Seat.B], (
                    f"{turn} was opened before both had played"
                )
                turn, played = turn.next(), []
            case PlayMade(seat=seat, turn=of):
                assert of.next() == turn
                assert seat not in played, f"{seat} played {of} twice"
                played.append(seat)
            case _:
                pass
    ends = [event for event in events if isinstance(event, MatchEnded)]
    assert ends == events[-1:] if ends else True
    found = replay(stored.start(), events)
    assert (stored.state == "over") == (found.score is not None)
    return found


async def race(stores: Sequence[Store], times: int, *, at_all: bool = False) -> tuple[int, int]:
    """So many simultaneous plays at least, in many matches at once; how many there were, and in how many matches.

    With `at_all` every play is sent to every server, or twice to the only one. Afterwards every server has the match
    that the journal tells.
    """
    done = matches = 0
    async with serving(stores) as servers:
        nodes = servers * 2 if at_all and len(servers) == 1 else servers
        while done < times:
            pairs = [await a_pair(stores[0], nodes, at_all=at_all) for _ in range(_AT_ONCE)]
            share = -(-min(times - done, _AT_ONCE * _OF_ONE) // _AT_ONCE)
            done += sum(await asyncio.gather(*(play_at_once(pair, share) for pair in pairs)))
            matches += len(pairs)
            for pair in pairs:
                found = await history_of(stores[0], pair.match_id)
                for hand in (*pair.a, *pair.b):
                    await hand.until(lambda view, turn=found.turn: view.turn == str(turn))
                    await hand.node.disconnect(hand.display)
    return done, matches
