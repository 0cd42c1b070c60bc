"""Computer players: which levels this server has, and who thinks for the one that sits at a match."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.engines.levels import Level
from app.service.errors import NoSuchComputer
from app.service.info import PlayerInfo
from app.store.matches import StoredMatch
from engine.plays import Hop
from engine.view import View

log = logging.getLogger(__name__)

BEGINNER = "beginner"
_ADVICE_KEPT = 200


@dataclass(frozen=True, slots=True)
class ComputerInfo:
    """A computer player that can be played against here; `level` is what `POST /api/matches` takes."""

    level: str
    name: str
    version: str


class Thinking(Protocol):
    """Where computers think, off the event loop."""

    async def choose(self, match_id: str, level: str, view: View) -> tuple[Hop, ...]:
        """What this level plays for the player of this view, in its turn among all matches."""

    async def close(self) -> None:
        """At once."""


class Computers:
    """The computer players of this server."""

    def __init__(self, levels: Sequence[Level], thinking: Thinking) -> None:
        """`levels` from the weakest, at least one."""
        self._levels = {level.key: level for level in levels}
        self._thinking = thinking
        self._advice: dict[tuple[str, str | None, str | None], asyncio.Future[tuple[Hop, ...]]] = {}
        self._missed: set[tuple[str, str | None]] = set()
        self.elsewhere: frozenset[tuple[str, str]] = (
            frozenset()
        )  # (name, version), those of the other servers

    def offered(self) -> list[ComputerInfo]:
        """From the weakest to the strongest."""
        return [ComputerInfo(level.key, level.name, level.version) for level in self._levels.values()]

    @property
    def here(self) -> frozenset[tuple[str, str]]:
        """Name and version of each."""
        return frozenset((level.name, level.version) for level in self._levels.values())

    def level(self, key: str) -> Level:
        """The player of this level. Raises NoSuchComputer."""
        if key not in self._levels:
            raise NoSuchComputer(key)
        return self._levels[key]

    def strongest(self) -> Level:
        """The best adviser there is here."""
        return list(self._levels.values())[-1]

    def has(self, name: str, version: str | None) -> bool:
        """Whether the computer with this account plays here: only itself may play for it (§12.1)."""
        return self._key(name, version) is not None

    def plays(self, player: PlayerInfo | None) -> bool:
        """The same of the computer that sits in a seat. One that this server lacks is logged once."""
        if player is None or self.has(player.name, player.version):
            return player is not None
        if (player.name, player.version) not in self._missed:
            self._missed.add((player.name, player.version))
            log.warning(
                "this server has no %s (%s): its matches are left to other servers",
                *(player.name, player.version),
            )
        return False

    def is_missing(self, player: PlayerInfo | None) -> bool:
        """Whether no server has the computer that sits in a seat, as far as is known."""
        if player is None or self.has(player.name, player.version):
            return False
        return (player.name, player.version) not in self.elsewhere

    def is_missing_at(self, match: StoredMatch, players: Mapping[str, PlayerInfo]) -> bool:
        """Whether a match that is being played lacks its computer."""
        return match.state == "playing" and any(
            self.is_missing(players.get(match.players[seat] or "")) for seat in match.computers
        )

    def _key(self, name: str, version: str | None) -> str | None:
        return next(
            (key for key, level in self._levels.items() if (level.name, level.version) == (name, version)),
            None,
        )

    async def choose(self, match_id: str, player: PlayerInfo, view: View) -> tuple[Hop, ...]:
        """What the computer in a seat plays. Raises NoSuchComputer."""
        key = self._key(player.name, player.version)
        if key is None:
            raise NoSuchComputer(player.name, player.version)
        return await self._thinking.choose(match_id, key, view)

    async def advise(self, view: View) -> tuple[Hop, ...]:
        """What the strongest level here would play for the player of this view; thought about once, however often
        it is asked for.
        """
        owed = view.match, view.seat, view.turn
        thought = self._advice.pop(owed, None)
        if thought is None or (thought.done() and (thought.cancelled() or thought.exception())):
            thought = asyncio.ensure_future(
                self._thinking.choose(view.match, self.strongest().key, view),
            )
            thought.add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )  # whoever asked has gone
        self._advice[owed] = thought
        while len(self._advice) > _ADVICE_KEPT:
            del self._advice[next(iter(self._advice))]
        return await asyncio.shield(thought)

    async def close(self) -> None:
        """Nobody thinks any more."""
        await self._thinking.close()
