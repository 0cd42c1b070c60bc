"""The judge of a match: bgsage as the Evaluator of engine.analysis, at a level with an honest name (§6.4).

What is known of it, and kept away from it here: it takes impossible boards without a word; where nothing can be played
it calls the unchanged board a play; it ends a turn on one die where both must be played (§2.2). So it is never asked
for plays, only what positions are worth that our own rules have reached, and each is checked first. Games that are
over never come to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from app.engines import network
from engine.analysis import Chances, Judge
from engine.errors import BadPosition
from engine.position import CHECKERS, OFF, Position

# How far each level looks ahead for the rolls (luck, unfinished games) and for the plays: 1 is the network alone.
LEVELS = {"club": (1, 1), "expert": (1, 2), "master": (1, 3)}


class NoJudge(Exception):
    """bgsage is not installed here, so nobody can judge."""

    def __init__(self) -> None:
        super().__init__("bgsage is not installed here, and nothing else can judge a match: make engines")


class SageEvaluator:
    """bgsage without a cube, by its network alone (`plies` 1) or looking so far ahead. Raises NoJudge.

    Exact for bearing off, by its database. Deterministic: the answer depends on the position alone. Takes some 10 µs
    a position, with one look-ahead 1.5 ms, on one thread; not to be called by two threads at once.
    """

    name = "bgsage"

    def __init__(self, plies: int = 1) -> None:
        engine = network.installed()
        if engine is None:
            raise NoJudge
        self.version = _version(engine, plies)
        self._strategy = _strategy(plies)

    def chances(self, positions: Sequence[Position]) -> list[Chances]:
        """See `engine.analysis.Evaluator`. Raises BadPosition for what no short game could show, or that is over."""
        import bgbot_cpp

        centred = bgbot_cpp.CubeOwner.CENTERED
        boards = [(_checked(position), centred) for position in positions]
        # Without Jacoby's rule mars and koks count from the start, as they do here.
        answers = bgbot_cpp.batch_evaluate_post_move(boards, self._strategy, 1, jacoby=False)
        return [Chances(*answer["probs"]) for answer in answers]


def judge_of(level: str) -> Judge:
    """The judge of this level, a key of LEVELS. Raises NoJudge."""
    rolls, plays = LEVELS[level]
    return Judge(SageEvaluator(rolls), SageEvaluator(plays) if plays != rolls else None)


def judges_of(level: str) -> tuple[str, ...]:
    """Name and version of each judge of this level, as `judge_of` has them; loads nothing. Raises NoJudge."""
    engine = network.installed()
    if engine is None:
        raise NoJudge
    return tuple(f"{SageEvaluator.name} {_version(engine, plies)}" for plies in dict.fromkeys(LEVELS[level]))


def _version(engine: str, plies: int) -> str:
    return f"{engine}-{plies}ply"


@cache
def _strategy(plies: int) -> Any:
    return network.raw() if plies == 1 else network.ahead(plies)


def _checked(position: Position) -> list[int]:
    if CHECKERS in (position.mine[OFF], position.theirs[OFF]):
        raise BadPosition("This game is over.")
    return network.checked(position)
