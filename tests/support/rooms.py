"""A match in a server's memory, and a clock to set: for tests without sockets."""

from __future__ import annotations

from dataclasses import dataclass

from app.store import Store
from app.store.matches import StoredMatch
from engine.ruleset import DEFAULT
from tests.support.stores import NOON, a_playing_match

QUICK_RULES = DEFAULT.changed({"reveal_ms": 0, "auto_pass_ms": 0})


@dataclass
class Clock:
    """The time (ms); it stands until it is set."""

    at: int = NOON

    def __call__(self) -> int:
        return self.at


async def an_open_match(store: Store, clock: Clock) -> StoredMatch:
    """A match whose first roll is on the table: nobody has said a seed."""
    match = await a_playing_match(store, ruleset=QUICK_RULES)
    clock.at += 20_000
    return match
