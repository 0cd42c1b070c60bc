"""A game that a match can be played in: a new one is one value here, and a module with its plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine import plays
from engine.dice import Roll
from engine.plays import Hop, Move, Play, StepGraph
from engine.position import BAR, OFF, Position, Side, side


@dataclass(frozen=True, slots=True)
class PlayRules:
    """How checkers move; the functions of `engine.plays`, or another game's of the same meaning."""

    legal_plays: Callable[[Position, Roll], tuple[Play, ...]]
    has_play: Callable[[Position, Roll], bool]
    step_graph: Callable[[Position, Roll], StepGraph]
    find_play: Callable[[Position, Roll, Sequence[Hop]], Play]
    after: Callable[[Position, Sequence[Move]], Position]
    results: Callable[[Position, Roll], tuple[Position, ...]]


@dataclass(frozen=True, slots=True)
class Variant:
    """One kind of nardy."""

    key: str
    start: Side  # both sides start alike, each in its own numbering
    has_koks: bool
    rules: PlayRules | None  # None: this server can score the game, but not play it

    def loss_class(self, loser: Side) -> str:
        """Class of a lost game: `oin`, something is off; `mars`, nothing; `koks` (§2.4), a checker far back too.

        Far back is on the bar or in the winner's home, which are the loser's own 19–24.
        """
        if loser[OFF]:
            return "oin"
        return "koks" if self.has_koks and any(loser[19 : BAR + 1]) else "mars"

    def opening(self) -> Position:
        """Where a game begins."""
        return Position(self.start, self.start)


SHORT = Variant(
    key="short",
    start=side({24: 2, 13: 5, 8: 3, 6: 5}),
    has_koks=True,
    rules=PlayRules(
        plays.legal_plays, plays.has_play, plays.step_graph, plays.find_play, plays.after, plays.results
    ),
)
LONG = Variant(key="long", start=side({24: 15}), has_koks=False, rules=None)

VARIANTS = {variant.key: variant for variant in (SHORT, LONG)}
