"""Rooms: what a server keeps of a match in memory, and when it looks at the clock. No sockets, and a clock to set."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from app.service.matches import Matches
from app.store import Store
from app.store.matches import StoredMatch
from engine.bot import Heuristic
from engine.match import PlayMade
from engine.ruleset import DEFAULT
from tests.support.stores import NOON, a_playing_match

QUICK = DEFAULT.changed({"reveal_ms": 0, "auto_pass_ms": 0})


@dataclass
class Clock:
    """The time (ms); it stands until it is set."""

    at: int = NOON

    def __call__(self) -> int:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture
async def matches(store: Store, clock: Clock) -> AsyncIterator[Matches]:
    """A server's matches."""
    served = Matches(store, Heuristic(), "one", clock, computer_pace_ms=0)
    await served.start()
    yield served
    await served.close()


async def _an_open_match(store: Store, clock: Clock) -> StoredMatch:
    """A match whose first roll is on the table: nobody has said a seed."""
    match = await a_playing_match(store, ruleset=QUICK)
    clock.at += 20_000
    return match


async def test_a_room_that_is_read_knows_what_is_due(matches: Matches, store: Store, clock: Clock) -> None:
    """Else a computer or a flag would wait until something else happens."""
    match = await _an_open_match(store, clock)
    await matches.view(match.id, None)
    await asyncio.sleep(0.3)
    view = await matches.view(match.id, None)
    assert view is not None
    assert view.turn == "1W"
