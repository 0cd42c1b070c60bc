"""Competitions through the service, their matches played at once by made-up results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.service.competitions import Competitions
from app.store import Store
from engine.bot import Heuristic
from engine.competition import commands as c
from engine.competition.overview import matches_due
from engine.competition.rounds import next_round
from tests.support.computers import only
from tests.support.organiser import MADE_AT, Results, by_strength

COMPUTER = only(Heuristic())


class Hand:
    """An organiser's hand: carries out what the API would, with a clock that a test moves."""

    def __init__(self, store: Store, service: Competitions | None = None) -> None:
        self.store = store
        self.now = MADE_AT
        self.service = service or Competitions(store, COMPUTER, lambda: self.now)
        self.id = ""
        self.boss = ""

    async def announce(self, entrants: int, **settings: Any) -> list[str]:
        """A competition with so many entrants; their accounts."""
        accounts = self.store.accounts
        self.boss = (await accounts.create_guest("Boss", self.now)).id
        made = await self.service.create(self.boss, title={"en": "A cup"}, settings=settings)
        self.id = made.id
        await self.do(lambda at: c.OpenEntry(self.boss, at))
        players = [(await accounts.create_guest(f"P{n}", self.now)).id for n in range(1, entrants + 1)]
        for player in players:
            await self.service.register(self.id, player, actor=self.boss)
        return players

    async def do(self, *wishes: Callable[[int], c.Command]) -> None:
        for wish in wishes:
            await self.service.act(self.id, wish, actor=self.boss)

    async def open_round(self) -> None:
        await self.do(c.DraftRound, c.PublishRound, c.StartRound)

    async def play_round(self, results: Results = by_strength) -> None:
        """A whole round; its matches are reported as the runner would."""
        await self.open_round()
        while True:
            competition, _ = await self.service.competition(self.id)
            due = matches_due(competition)
            if not due:
                break
            for order in due:
                result = results(competition, order)
                await self.service.act(self.id, lambda at, r=result: c.ReportResult(r, at), actor=None)  # type: ignore[misc]
        await self.do(c.CloseRound)

    async def play_to_the_end(self, results: Results = by_strength) -> None:
        await self.service.start(self.id, actor=self.boss)
        competition, _ = await self.service.competition(self.id)
        while next_round(competition, self.now):
            await self.play_round(results)
            competition, _ = await self.service.competition(self.id)
        await self.do(c.Finish)
