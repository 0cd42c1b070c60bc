"""Players who come back: after a lost connection they send again what has no answer, with its id, as the pages do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import httpx2
from websockets.exceptions import WebSocketException

from app.store import Store
from engine.match import PhaseOpened
from tests.support.server import QUICK, Display, LiveServer, Person, first_way, owes, person

T = TypeVar("T")
_LOST = (TimeoutError, OSError, WebSocketException, httpx2.HTTPError)


@dataclass
class Stubborn:
    """One player of one match."""

    match_id: str
    seat: str
    who: Person
    waiting: dict[str, list[list[int]]] = field(default_factory=dict)  # by turn: plays without an answer
    acknowledged: set[str] = field(default_factory=set)  # command ids, as the journal has them
    goodbyes: list[tuple[object, object]] = field(default_factory=list)  # the last frame, the close code
    lost: int = 0  # connections
    is_connected: bool = False
    is_over: bool = False
    has_had_enough: bool = False  # gives up instead of playing
    _turn: tuple[int, int] = (0, 0)

    @property
    def unanswered(self) -> set[str]:
        return {self._command(turn) for turn in self.waiting}

    def _command(self, turn: str) -> str:
        return f"{self.seat}:p{turn}"

    async def play_on(self) -> None:
        """To the end of the match, over as many connections as it takes."""
        while not self.is_over:
            with contextlib.suppress(*_LOST):
                async with self.who.display(self.match_id) as display:
                    try:
                        await self._play(display)
                    finally:
                        self.is_connected = False
                        last = display.frames[-1] if display.frames else None
                        self.goodbyes.append((last, display.connection.close_code))
            if not self.is_over:
                self.lost += 1
                await asyncio.sleep(0.02)

    async def _play(self, display: Display) -> None:
        closed = asyncio.create_task(display.ended.wait())
        try:
            await self._until(closed, display.until(lambda: display.view, 30))
            self._look(display)
            self.is_connected = True
            for turn, way in list(self.waiting.items()):
                await self._send(display, closed, turn, way)
            while True:
                wanted = display.until_view(lambda v: v["stage"] == "over" or owes(v), 60)
                view = await self._until(closed, wanted)
                if view["stage"] == "over":
                    self.is_over = True
                    return
                turn = view["turn"]
                if self.has_had_enough:
                    points = view["mine"]["resign"]["points"]
                    await self._until(closed, display.ask(type="resign", turn=turn, points=points))
                    continue
                await self._send(display, closed, turn, first_way(view["mine"]["steps"]))
                await self._until(
                    closed, display.until_view(lambda v, turn=turn: v["turn"] != turn or not owes(v), 30)
                )
        finally:
            closed.cancel()

    async def _send(
        self, display: Display, closed: asyncio.Task[Literal[True]], turn: str, way: list[list[int]]
    ) -> None:
        self.waiting[turn] = way
        answer = await self._until(closed, display.play(way, turn, id=f"p{turn}"))
        del self.waiting[turn]
        if self.has_had_enough and answer["type"] == "problem":
            # The opponent may have been the first to give up.
            assert answer["problem"]["code"] == "match-over", answer
            return
        assert answer["type"] == "accepted", answer
        self.acknowledged.add(self._command(turn))
        self._turn = max(self._turn, _order(turn))

    def _look(self, display: Display) -> None:
        """What was acknowledged before the connection was lost is on the board."""
        view = display.view
        if self.acknowledged and view["stage"] == "playing":
            assert _order(view["turn"]) >= self._turn
            if _order(view["turn"]) == self._turn:
                assert not owes(view), "an acknowledged play is gone"

    @staticmethod
    async def _until(closed: asyncio.Task[Literal[True]], waited: Coroutine[Any, Any, T]) -> T:
        """The outcome, or OSError as soon as the connection has gone."""
        task = asyncio.ensure_future(waited)
        try:
            await asyncio.wait({closed, task}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if not task.done():  # it is still to hear of what came last
                await asyncio.wait({task}, timeout=0.05)
            if task.done():
                return task.result()
            raise ConnectionError
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def message_of(command_id: str | None) -> str:
    """The seat and the id of the message that a row of the journal came from: `A:id`."""
    return ":".join((command_id or "").split(":")[:2])


def _order(turn: str) -> tuple[int, int]:
    return int(turn[:-1]), "WK".index(turn[-1])


@contextlib.asynccontextmanager
async def pairs(server: LiveServer, number: int) -> AsyncIterator[list[Stubborn]]:
    """So many matches whose first roll is on the table, each with its two players, who have not connected yet."""
    async with contextlib.AsyncExitStack() as stack:
        players: list[Stubborn] = []
        for i in range(number):
            anna = await stack.enter_async_context(person(server, f"Anna {i}"))
            boris = await stack.enter_async_context(person(server, f"Boris {i}"))
            made = await anna.post("/api/matches", {"ruleset": QUICK})
            await boris.post(f"/api/invites/{made['code']}/join")
            async with anna.display(made["id"]) as a, boris.display(made["id"]) as b:
                await asyncio.gather(a.until(lambda: a.view), b.until(lambda: b.view))
                await asyncio.gather(a.commit_seed(), b.commit_seed())
                await asyncio.gather(a.reveal_seed(), b.reveal_seed())
                await a.until_view(lambda v: v["stage"] == "playing")
            players += [Stubborn(made["id"], "A", anna), Stubborn(made["id"], "B", boris)]
        yield players


async def check_history(store: Store, players: Iterable[Stubborn]) -> int:
    """One history without gaps, one roll a phase, and in it every play that was acknowledged; how many plays."""
    plays = 0
    for player in players:
        rows = await store.matches.events(player.match_id, 0)
        assert [row.version for row in rows] == list(range(1, len(rows) + 1))
        commands = [message_of(row.command_id) for row in rows if row.command_id]
        assert len(commands) == len(set(commands))
        opened = [event.turn for row in rows for event in row.events if isinstance(event, PhaseOpened)]
        assert opened == sorted(set(opened))
        assert player.acknowledged <= set(commands), "an acknowledged play is not stored"
        plays += len(player.acknowledged)
    return plays
