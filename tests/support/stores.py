"""Stores on databases for tests, and what is put into them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from app.settings import Settings
from app.store import Store
from app.store.database import Work
from app.store.ids import new_id
from app.store.matches import NewMatch, StoredMatch
from app.store.results import Finish
from engine.match import Left, MatchEnded, apply
from engine.ruleset import DEFAULT, Ruleset
from engine.scoring import Outcome
from engine.turn import Seat, Seats

T = TypeVar("T")

SECRET = "a key for tests only"
SERVER_SEED = bytes(range(100, 132))
NOON = 1_735_732_800_000  # 2025-01-01 12:00 UTC
LEFT = (Left(Seat.A, NOON),)  # events that change nothing that matters


def settings_of(url: str, folder: Path) -> Settings:
    """Settings with this database, and this folder for the rest."""
    return Settings(database_url=url, data_dir=folder, secret_key=SECRET, analysis_level="off")


def elsewhere(wait: Callable[[], Awaitable[T]]) -> T:
    """The outcome of something asynchronous, run in another thread: this one may have a loop of its own."""

    async def run() -> T:
        return await wait()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, run()).result()


async def look(store: Store, work: Work[T]) -> T:
    """What a reading transaction finds, behind the store's back."""
    return await store._database.read(work)


def a_new_match(maker: str, **changes: Any) -> NewMatch:
    """A public match that waits for somebody in seat B."""
    match_id = new_id()
    values: dict[str, Any] = {
        "id": match_id,
        "preset": "objective",
        "ruleset": DEFAULT,
        "public": True,
        "code": f"code-{match_id}",
        "maker": maker,
        "players": Seats(maker, None),
        "created_at": NOON,
        "server_seed": SERVER_SEED,
    }
    return NewMatch(**{**values, **changes})


async def two_players(store: Store) -> Seats[str]:
    """Two new accounts."""
    return Seats(
        (await store.accounts.create_guest("Anna", NOON)).id,
        (await store.accounts.create_guest("Boris", NOON)).id,
    )


async def a_playing_match(
    store: Store, players: Seats[str] | None = None, ruleset: Ruleset = DEFAULT, **changes: Any
) -> StoredMatch:
    """A match that has begun; without `players`, between two new accounts."""
    players = players or await two_players(store)
    new = a_new_match(players.A, players=Seats(players.A, players.B), ruleset=ruleset, **changes)
    return await store.matches.create(new)


async def append(store: Store, match: StoredMatch, after: int, command_id: str | None = None) -> None:
    """A command that changes nothing that matters."""
    await store.journal.append(
        match.id, after=after, command_id=command_id, at=NOON, events=LEFT, deadline=NOON + 5
    )


async def finish(
    store: Store, match: StoredMatch, net_for_A: int, at: int = NOON, after: int = 0
) -> StoredMatch:
    """Ends a match with this result."""
    ended = MatchEnded(Outcome.ADJUDICATED, None, at, net_for_A, "arbiter", "for a test")
    score = apply(match.start(), ended).score
    assert score is not None
    await store.journal.append(
        match.id,
        after=after,
        command_id=None,
        at=at,
        events=(ended,),
        deadline=None,
        finish=Finish(score, match.players),
    )
    stored = await store.matches.load(match.id)
    assert stored is not None
    return stored
