"""Judges of different strength for `bench.objectivity`, and the independent one that the tests ask.

gnubg's networks come from gnubg-nn, which is GPL: a judge here and in tests, never a part of the server.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import metadata

import gnubg_nn

from app.engines.judge import SageEvaluator
from engine.analysis import Chances, Evaluator
from engine.bot import worth
from engine.position import Position


class Gnubg:
    """GNU Backgammon's networks, without a cube: 0 plies are the network alone, each further one a look-ahead.

    Where both sides bear off its tables are exact. It is asked about the side that is to roll, so everything is turned.
    """

    name = "gnubg"

    def __init__(self, plies: int = 0) -> None:
        self.version = f"{metadata.version('gnubg-nn')}-{plies}ply"
        self._plies = plies

    def chances(self, positions: Sequence[Position]) -> list[Chances]:
        """See `engine.analysis.Evaluator`."""
        return [self._of(position, self._plies) for position in positions]

    def _of(self, position: Position, plies: int) -> Chances:
        just_played, to_roll = position.mine[1:], position.theirs[1:]  # 1-point … 24-point, bar
        win, mars, koks, lost_mars, lost_koks = gnubg_nn.probabilities((just_played, to_roll), plies)
        return Chances(1 - win, lost_mars, lost_koks, mars, koks)


class SmallGnubg(Gnubg):
    """The small network with which gnubg picks the plays that it looks at further: a weak judge."""

    def __init__(self) -> None:
        super().__init__()
        self.version += ", small"

    def _of(self, position: Position, plies: int) -> Chances:
        board = [list(position.mine[1:]), list(position.theirs[1:])]
        # The small network knows nothing of bearing off: there its numbers are none.
        small = gnubg_nn.classify(board) > gnubg_nn.c_bearoff
        return super()._of(position, gnubg_nn.p_prune if small else 0)


class Glance:
    """The built-in player's worth of a position as a chance to win: the weakest judge, and nobody's relative."""

    name, version = "heuristic", "1"

    def chances(self, positions: Sequence[Position]) -> list[Chances]:
        """See `engine.analysis.Evaluator`."""
        return [Chances(0.5 + 0.5 * math.tanh(worth(position) / 1000), 0, 0, 0, 0) for position in positions]


@lru_cache
def sage(plies: int) -> SageEvaluator:
    """bgsage, 1 ply being the network alone."""
    return SageEvaluator(plies)


JUDGES: dict[str, Callable[[], Evaluator]] = {
    "gnubg": Gnubg,
    "network": lambda: sage(1),
    "small": SmallGnubg,
    "heuristic": Glance,
}
