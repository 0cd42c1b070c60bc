"""The strong players: bgsage's networks, raw or with look-ahead, choosing among our own legal plays.

What they know of the rules is ours (§2.2): bgsage is asked only what a position is worth. Its own list of plays is
never used, for it allows one die where both must be played, gives the unchanged board for no play at all, and takes
impossible boards and dice without a word.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from app.engines import network
from engine.bot import Task, ends, task_of
from engine.plays import Hop
from engine.position import Position
from engine.view import View

_KEPT, _WITHIN = 5, 0.08  # of the plays, by the raw network, those that are looked at further
_METHOD = 1  # grows when anything here changes what is played


@dataclass(frozen=True, slots=True)
class Scale:
    """What a won or lost game counts, by its class: ойн, марс, кокс."""

    name: str
    single: float
    gammon: float
    backgammon: float

    def score(self, chances: Sequence[float]) -> float:
        """The expected worth, from chances that contain each other: win, at least gammon, backgammon; the same lost."""
        win, gammon, backgammon, lost_gammon, lost_backgammon = chances
        second, third = self.gammon - self.single, self.backgammon - self.gammon
        return (
            self.single * (2 * win - 1)
            + second * (gammon - lost_gammon)
            + third * (backgammon - lost_backgammon)
        )


EQUITY = Scale("equity", 1, 2, 3)
POINTS = Scale(
    "points", 1, 56 / 14.5, 88 / 14.5
)  # as the match counts (§6.1): typical losers, in units of an ойн
_SCALE = EQUITY  # what all levels maximise; compared by bench/computer.py


class Sage:
    """A computer that is a pure function of the task, whatever was asked before and wherever it runs."""

    def __init__(self, name: str, plies: int, *, scale: Scale = _SCALE) -> None:
        """`plies`: 1 is the network alone, every further one a look-ahead. Loads the weights."""
        self.name = name
        self.version = version_of(plies, network.installed() or "", scale)
        self._scale = scale
        self._raw = network.raw()
        self._deep: Any = None
        self._alone: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
        if plies > 1:
            self._deep, self._alone = _ahead(plies)

    def choose(self, view: View) -> tuple[Hop, ...]:
        """The play whose end scores best."""
        return self.best(task_of(view))

    def best(self, task: Task) -> tuple[Hop, ...]:
        """The play whose end scores best; of equals, always the same one. Raises BadPosition."""
        network.checked(task.position)
        plays = dict(ends(task))
        if len(plays) == 1:
            return next(iter(plays.values()))
        with self._alone:
            scored = self._scored(task.position, list(plays))
        return plays[max(scored, key=lambda end: (scored[end], end.mine, end.theirs))]

    def _scored(self, before: Position, after: Sequence[Position]) -> dict[Position, float]:
        """What each of these ends is worth; the best two are known by look-ahead, if there is any."""
        board = before.signed()

        def ask(engine: Any, end: Position) -> float:
            return self._scale.score(engine.evaluate_board(end.signed(), board)["probs"])

        def order(end: Position) -> tuple[float, object, object]:
            return scored[end], end.mine, end.theirs

        scored = {end: ask(self._raw, end) for end in after}
        if self._deep is None:
            return scored
        self._deep.clear_cache()
        best = sorted(after, key=order, reverse=True)
        seen = {end for end in best[:_KEPT] if scored[best[0]] - scored[end] < _WITHIN}
        for end in best[:_KEPT]:
            if end in seen:
                scored[end] = ask(self._deep, end)
        # A number of the raw network is no match for one that looked further: none may stand on top.
        while unseen := [end for end in sorted(after, key=order, reverse=True)[:2] if end not in seen]:
            scored[unseen[0]] = ask(self._deep, unseen[0])
            seen.add(unseen[0])
        return scored


def version_of(plies: int, engine: str, scale: Scale = _SCALE) -> str:
    """All that decides what is played."""
    return f"bgsage {engine}, {plies}ply, cubeless {scale.name}, {_METHOD}"


@cache
def _ahead(plies: int) -> tuple[Any, threading.Lock]:
    """Its memory is that of one choice, by the lock, and no longer."""
    return network.ahead(plies), threading.Lock()
