"""Matches on the same dice, kept in step (§12.1): a phase opens in all of them when all have played the one before.

The server that has the claim of the competition keeps the matches of the board in memory and hears of every change in
them at once. What it does is found in the matches themselves and done by commands that change nothing a second time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field
from typing import Any

from app.service.matches import Matches, Progress
from app.store import Store
from engine.competition.qualifying import shared_seed
from engine.dice import NO_SEED
from engine.errors import RuleError
from engine.match import CloseHashes, CombineSeeds, Command, OpenPhase
from engine.turn import FIRST_TURN, Turn

log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Board:
    """The matches of one board, and how far each is."""

    dice_id: str
    competition: str
    matches: dict[str, Progress] = field(default_factory=dict)
    complete: bool = False  # all its matches are here: before that nobody knows whether all have played
    paused: bool = False
    busy: bool = False  # somebody is moving it on
    again: bool = False  # and has to look once more


class Boards:
    """The boards that this server keeps in step."""

    def __init__(
        self,
        store: Store,
        matches: Matches,
        now: Callable[[], int],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        wake: Callable[[str], None],
    ) -> None:
        self._store = store
        self._matches = matches
        self._now = now
        self._spawn = spawn
        self._wake = wake
        self._boards: dict[str, _Board] = {}

    async def keep(
        self, competition_id: str, dice_id: str, match_ids: Collection[str], *, paused: bool
    ) -> None:
        """These matches of the board are kept in step from now on; of those that are over nothing is told yet."""
        board = self._boards.get(dice_id)
        if board is None:
            board = self._boards[dice_id] = _Board(dice_id, competition_id)
        for match_id in match_ids:
            if match_id not in board.matches:
                board.complete = False
                board.matches[match_id] = await self._matches.hold(match_id)
        board.complete, board.paused = True, paused
        self._consider(board)

    def let_go(self, dice_id: str) -> None:
        """There is nothing more to keep in step."""
        board = self._boards.pop(dice_id, None)
        if board is not None:
            for match_id in board.matches:
                self._matches.release(match_id)

    def keep_only(self, competition_ids: Collection[str]) -> None:
        """The others are another server's by now."""
        for board in list(self._boards.values()):
            if board.competition not in competition_ids:
                self.let_go(board.dice_id)

    def progressed(self, progress: Progress) -> None:
        """A match has moved on."""
        board = self._boards.get(progress.dice_id)
        if board is not None and progress.id in board.matches:
            board.matches[progress.id] = progress
            self._consider(board)

    def _consider(self, board: _Board) -> None:
        """Moves the board on if it can be."""
        if board.busy:
            board.again = True
        elif self._to_be_told(board) or self._step(board) is not None:
            board.busy = True
            self._spawn(self._move(board))

    @staticmethod
    def _to_be_told(board: _Board) -> list[str]:
        """The matches to be told that all have committed. None while somebody has not: with the others' seeds known,
        the last one could choose the dice together with the server.
        """
        alive = [match for match in board.matches.values() if match.score is None]
        if not board.complete or board.paused or not all(match.is_hashed for match in alive):
            return []
        return [match.id for match in alive if match.waits_for_hashes]

    @staticmethod
    def _step(board: _Board) -> Turn | None:
        """The turn that is to open now: all that still play have played the one before, or are in it already."""
        alive = [match for match in board.matches.values() if match.score is None]
        if not board.complete or board.paused or not alive or any(match.seed is None for match in alive):
            return None
        if not all(match.is_combined for match in alive):
            return FIRST_TURN
        waiting = [match.waits_for for match in alive if match.waits_for is not None]
        if not waiting:
            return None
        next_ = min(waiting)
        in_step = all(
            match.waits_for == next_ or (match.turn is not None and match.turn >= next_) for match in alive
        )
        return next_ if in_step else None

    async def _move(self, board: _Board) -> None:
        try:
            while True:
                board.again = False
                if told := self._to_be_told(board):
                    await self._all(told, CloseHashes)
                elif (turn := self._step(board)) is not None:
                    await self._open(board, turn)
                if not board.again:
                    return
        finally:
            board.busy = False

    async def _open(self, board: _Board, turn: Turn) -> None:
        alive = [match for match in board.matches.values() if match.score is None]
        uncombined = [match.id for match in alive if not match.is_combined]
        if uncombined:
            seeds = {match.id: match.seed or NO_SEED for match in board.matches.values()}
            stored = await self._store.competitions.combine(board.dice_id, seeds, shared_seed(seeds.values()))
            seed = stored.shared_seed
            assert seed is not None
            await self._all(uncombined, lambda at: CombineSeeds(seed, at))
        waiting = [
            match.id for match in board.matches.values() if match.score is None and match.waits_for == turn
        ]
        await self._all(waiting, lambda at: OpenPhase(turn, at))

    async def _all(self, match_ids: Collection[str], wish: Callable[[int], Command]) -> None:
        await asyncio.gather(*(self._one(match_id, wish) for match_id in match_ids))

    async def _one(self, match_id: str, wish: Callable[[int], Command]) -> None:
        try:
            await self._matches.order(match_id, wish)
        except RuleError:  # over, or another server was faster
            await self._matches.progress(match_id)
