"""Competitions through the service, their matches played at once by made-up results."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.engines.analyst import Analyst
from app.engines.levels import Level
from app.engines.pool import Pool
from app.service.arbiter import Arbiter
from app.service.competitions import Competitions
from app.service.computers import Computers
from app.service.displays import Bye, Refused, ViewFrame
from app.service.lobby import Lobby
from app.service.matches import Matches
from app.service.runner import Runner
from app.settings import Settings
from app.store import Store, open_store
from engine.bot import Heuristic, task_of
from engine.competition import commands as c
from engine.competition.overview import matches_due
from engine.competition.rounds import next_round
from engine.plays import Hop
from engine.turn import Seat, Turn
from engine.view import View
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


# ------------------------------------------------------------------------------------------------ with real matches

QUICK = {
    "ruleset": {"reveal_ms": 0, "auto_pass_ms": 0},
    "tie_breaks": ["match_points", "point_difference", "less_time", "lot"],  # nothing waits for analyses
}


def first_way(view: View) -> tuple[Hop, ...]:
    """Always the first way through the step graph."""
    steps, node, hops = task_of(view).steps, 0, list[Hop]()
    while steps[node]:
        start, end, _, _, node = steps[node][0]
        hops.append(Hop(start, end))
    return tuple(hops)


@dataclass
class Server:
    """One server, without sockets: what is asked of it is asked directly."""

    store: Store
    matches: Matches
    competitions: Competitions
    arbiter: Arbiter
    lobby: Lobby
    runner: Runner


@contextlib.asynccontextmanager
async def a_server(
    settings: Settings, node: str, now: Callable[[], int], *, levels: Sequence[Level] | None = None
) -> AsyncIterator[Server]:
    """A server on a database, until the block ends. Leave it by an exception of a test, and it dies unheard."""
    async with contextlib.AsyncExitStack() as stack:
        store = await open_store(settings)
        stack.push_async_callback(store.close)
        computers = COMPUTER
        if levels is not None:
            computers = Computers(levels, Pool(1))
            stack.push_async_callback(computers.close)
        matches = Matches(store, computers, node, now, computer_pace_ms=0)
        competitions = Competitions(store, computers, now)
        runner = Runner(store, competitions, matches, computers, node, now)
        await matches.start()
        stack.push_async_callback(matches.close)
        runner.start()
        stack.push_async_callback(runner.close)
        yield Server(
            store,
            matches,
            competitions,
            Arbiter(store, competitions, matches, Analyst(), "club"),
            Lobby(store, matches, b"key", now),
            runner,
        )


def wall_clock() -> int:
    """Unix time (ms)."""
    return time.time_ns() // 1_000_000


@dataclass(eq=False)
class Player:
    """An entrant's browser: goes to whatever match is next, and plays it."""

    account: str
    name: str
    choose: Callable[[View], tuple[Hop, ...]] = Heuristic().choose
    views: dict[str, list[View]] = field(default_factory=dict)  # by match, all that he was shown
    refused: list[Refused] = field(default_factory=list)
    seed: str = ""

    def __post_init__(self) -> None:
        self.seed = self.seed or hashlib.sha256(self.name.encode()).hexdigest()[:32]

    def note(self, view: View) -> None:
        """He is shown this."""

    async def ready(self) -> None:
        """Waits until he wants to play."""

    async def take_part(self, server: Server, competition_id: str) -> None:
        """Until the competition is over for him."""
        mark = ""
        while True:
            mark = await server.competitions.wait(competition_id, mark, 0.2)
            mine = await server.competitions.mine(competition_id, self.account)
            if mine.next.kind in ("over", "cancelled", "banned", "withdrawn"):
                return
            if mine.next.kind == "play" and mine.next.is_made:
                assert mine.next.match is not None
                await self.play(server, mine.next.match)
                mark = ""
                await asyncio.sleep(0.02)

    async def play(self, server: Server, match_id: str) -> None:
        """One match, to its end."""
        display = await server.matches.connect(match_id, self.account)
        seen = self.views.setdefault(match_id, [])
        done: set[str] = set()
        try:
            while True:
                frame = await display.next_frame()
                if isinstance(frame, Bye):
                    return
                if isinstance(frame, Refused):
                    self.refused.append(frame)
                    continue
                view = frame.view if isinstance(frame, ViewFrame) else None
                if view is None:
                    continue
                seen.append(view)
                self.note(view)
                if view.stage == "over":
                    return
                if view.stage == "seeding" and view.dice.hashes[Seat(view.seat or "A")] is None:
                    digest = hashlib.sha256(bytes.fromhex(self.seed)).hexdigest()
                    await server.matches.commit_seed(display, "commit", digest)
                if view.stage == "seeding" and "seed" not in done and _may_reveal(view):
                    done.add("seed")
                    await server.matches.reveal_seed(display, "reveal", self.seed)
                if (
                    view.turn
                    and view.turn not in done
                    and view.mine
                    and view.mine.steps
                    and view.mine.steps[0]
                ):
                    done.add(view.turn)
                    turn = Turn.parse(view.turn)
                    assert turn is not None
                    await self.ready()
                    hops = self.choose(view)
                    await server.matches.play(
                        display, f"p{turn}", turn, tuple((hop.start, hop.end) for hop in hops)
                    )
        finally:
            await server.matches.disconnect(display)


def _may_reveal(view: View) -> bool:
    mine = Seat(view.seat or "A")
    other = view.dice.hashes[mine.other]
    return view.dice.hashes[mine] is not None and (
        other is not None or mine.other.value in view.dice.defaulted
    )


async def announce(
    server: Server, entrants: int, now: int, *, start: bool = True, **settings: Any
) -> tuple[str, list[Player]]:
    """A competition that runs by itself, with so many entrants; started, or waiting for it."""
    boss = (await server.store.accounts.create_guest("Boss", now)).id
    chosen = {"pace": {"mode": "auto", "break_ms": 0}, **QUICK, **settings}
    made = await server.competitions.create(boss, title={"en": "A cup"}, settings=chosen)
    await server.competitions.act(made.id, lambda at: c.OpenEntry(boss, at), actor=boss)
    players = []
    for number in range(1, entrants + 1):
        account = await server.store.accounts.create_guest(f"P{number}", now)
        await server.competitions.register(made.id, account.id, actor=boss)
        choose = Heuristic().choose if number % 2 else first_way
        players.append(Player(account.id, account.name, choose))
    if start:
        await server.competitions.start(made.id, actor=boss)
    return made.id, players


async def until_state(server: Server, competition_id: str, state: str, patience_s: float = 60.0) -> None:
    """Waits until a competition is in a state."""
    async with asyncio.timeout(patience_s):
        mark = ""
        while True:
            mark = await server.competitions.wait(competition_id, mark, 0.2)
            if (await server.competitions.view(competition_id)).state == state:
                return
