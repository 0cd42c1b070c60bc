"""Scripted entrants who all play one computer on the same dice at the same time, as in a qualifying round (§12.1)."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.engines.levels import LEVELS, Level, computer_of
from app.engines.pool import Pool
from app.service.computers import Computers
from app.service.displays import Refused, ViewFrame
from app.service.matches import Matches
from app.settings import Settings
from app.store import Store, open_store
from app.store.ids import new_id
from app.store.matches import NewMatch
from engine.bot import Computer, task_of
from engine.match import PlayMade, replay
from engine.plays import Hop
from engine.ruleset import DEFAULT
from engine.turn import Seat, Seats, Turn
from engine.view import View

RULES = DEFAULT.changed({"reveal_ms": 0, "auto_pass_ms": 0})
SERVER_SEED = hashlib.sha256(b"one qualifying board").digest()
CLIENT_SEED = "a1" * 16  # what the event makes of all entrants' seeds; the computer's is zeros
DICE_ID = "event-Q1"


class Thoughtless:
    """Always plays the first, or the last, way through the step graph."""

    version = "1"

    def __init__(self, name: str) -> None:
        self.name = name
        self._edge = {"first": 0, "last": -1}[name]

    def choose(self, view: View) -> tuple[Hop, ...]:
        steps, node, hops = task_of(view).steps, 0, list[Hop]()
        while steps[node]:
            start, end, _, _, node = steps[node][self._edge]
            hops.append(Hop(start, end))
        return tuple(hops)


def script(kind: str) -> Computer:
    """A deterministic player: `first`, `last`, or a level of the computer."""
    return computer_of(kind) if kind in LEVELS else Thoughtless(kind)


@dataclass
class Entrant:
    """One of them, at his match."""

    kind: str
    account: str
    match_id: str
    view: View | None = None  # the last one


@dataclass
class Round:
    """A qualifying round that is over."""

    entrants: list[Entrant]
    answers: dict[tuple[object, object], set[str]] = field(
        default_factory=dict
    )  # the computer's, by position and roll

    def by_kind(self) -> Mapping[str, list[View]]:
        """The last views of each kind of entrant."""
        found: dict[str, list[View]] = {}
        for entrant in self.entrants:
            assert entrant.view is not None
            found.setdefault(entrant.kind, []).append(entrant.view)
        return found


@contextlib.asynccontextmanager
async def servers(
    settings: Settings, levels: Sequence[Level], number: int, *, workers: int = 1
) -> AsyncIterator[list[tuple[Store, Matches]]]:
    """So many servers on one database; without sockets, for what is asked of them is asked directly."""
    async with contextlib.AsyncExitStack() as stack:
        opened = []
        for i in range(number):
            store = await open_store(settings)
            stack.push_async_callback(store.close)
            computers = Computers(levels, Pool(workers))
            stack.push_async_callback(computers.close)
            matches = Matches(store, computers, f"node-{i}", _now, computer_pace_ms=0)
            await matches.start()
            stack.push_async_callback(matches.close)
            opened.append((store, matches))
        yield opened


def _now() -> int:
    return time.time_ns() // 1_000_000


async def play_round(
    at: Sequence[tuple[Store, Matches]], kinds: Sequence[str], computer: Level, order: int = 0
) -> Round:
    """One match for each of these kinds, all at once and in an order of this number, spread over these servers."""
    store = at[0][0]
    rival = await store.accounts.ensure_computer(computer.name, computer.version)
    scripts = {kind: (script(kind), asyncio.Lock()) for kind in set(kinds)}
    entrants = []
    for number, kind in enumerate(kinds):
        account = (await store.accounts.create_guest(f"{kind} {number}", 0)).id
        new = NewMatch(
            id=new_id(),
            preset="own",
            ruleset=RULES,
            public=False,
            code=None,
            maker=account,
            players=Seats(account, rival.id),
            computers=frozenset({Seat.B}),
            created_at=_now(),
            server_seed=SERVER_SEED,
            dice_id=DICE_ID,
        )
        entrants.append(Entrant(kind, account, (await store.matches.create(new)).id))
    started = list(enumerate(entrants))
    random.Random(order).shuffle(started)
    async with asyncio.TaskGroup() as group:
        for number, entrant in started:
            group.create_task(_play(at[number % len(at)][1], entrant, *scripts[entrant.kind]))
    played = Round(entrants)
    for entrant in entrants:
        await _note_answers(store, entrant, played)
    return played


async def _play(matches: Matches, entrant: Entrant, player: Computer, thinking: asyncio.Lock) -> None:
    display = await matches.connect(entrant.match_id, entrant.account)
    done: set[str] = set()
    try:
        while True:
            frame = await display.next_frame()
            assert not isinstance(frame, Refused), frame
            view = frame.view if isinstance(frame, ViewFrame) else None
            if view is None:
                continue
            entrant.view = view
            if view.stage == "over":
                return
            if view.stage == "seeding" and "seed" not in done:
                done.add("seed")
                digest = hashlib.sha256(bytes.fromhex(CLIENT_SEED)).hexdigest()
                await matches.commit_seed(display, "commit", digest)
                await matches.reveal_seed(display, "reveal", CLIENT_SEED)
            elif view.turn and view.turn not in done and view.mine and view.mine.steps and view.mine.steps[0]:
                done.add(view.turn)
                async with thinking:
                    hops = await asyncio.to_thread(player.choose, view)
                turn = Turn.parse(view.turn)
                assert turn is not None
                await matches.play(display, f"p{turn}", turn, tuple((hop.start, hop.end) for hop in hops))
    finally:
        await matches.disconnect(display)


async def _note_answers(store: Store, entrant: Entrant, played: Round) -> None:
    """What the computer was asked in this match, and what it answered."""
    stored = await store.matches.load(entrant.match_id)
    assert stored is not None
    match = stored.start()
    for row in await store.matches.events(entrant.match_id):
        for event in row.events:
            if isinstance(event, PlayMade) and event.seat is Seat.B and event.kind == "play":
                assert match.roll is not None
                asked = match.position_for(Seat.B), tuple(sorted((match.roll.first, match.roll.second)))
                played.answers.setdefault(asked, set()).add(str(event.moves))
            match = replay(match, (event,))
