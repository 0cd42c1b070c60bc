"""A computer player: something that chooses a play from what a player may see (§12.1), and the plain built-in one.

A computer is a pure function of its view: no chance, no memory, no clock. So equal boards and rolls get equal plays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from engine.dice import Roll
from engine.plays import Edge, Hop, after, step_graph
from engine.position import BAR, Position, Side
from engine.turn import Color, Game
from engine.view import View


class Task(NamedTuple):
    """What a computer is asked: where the checkers are, and every way of playing the roll; nothing else of a match."""

    position: Position
    steps: tuple[tuple[Edge, ...], ...]  # StepGraph.nodes


def task_of(view: View) -> Task:
    """What the player of this view owes."""
    assert view.mine is not None, "nothing is owed"
    assert view.mine.steps is not None, "it has been played"
    board = view.boards[Game(view.mine.game)]
    position = Position(tuple(board["white"]), tuple(board["black"]))
    mine = position if Color(view.mine.color) is Color.WHITE else position.turned()
    return Task(mine, view.mine.steps)


def task_for(position: Position, roll: Roll) -> Task:
    """A roll of short nardy to be played, outside a match."""
    return Task(position, step_graph(position, roll).nodes)


def ends(task: Task) -> Iterable[tuple[Position, tuple[Hop, ...]]]:
    """The position after each legal play, once, with one way there."""
    ways: dict[int, tuple[Hop, ...]] = {0: ()}
    for node, edges in enumerate(task.steps):  # a move leads to a later node
        for start, end, _, _, following in edges:
            if following not in ways:
                ways[following] = (*ways[node], Hop(start, end))
        if not edges:
            yield after(task.position, ways[node]), ways[node]


class Computer(Protocol):
    """A player that is a program. Name and version say which: another version may play otherwise."""

    @property
    def name(self) -> str:
        """What the players read."""

    @property
    def version(self) -> str:
        """Changes whenever any play could."""

    def choose(self, view: View) -> tuple[Hop, ...]:
        """A legal play for the player whose view this is, who owes one; empty where nothing can be played."""


class Solver(Computer, Protocol):
    """A computer that can be asked without the match around it, and so in another process."""

    def best(self, task: Task) -> tuple[Hop, ...]:
        """What `choose` gives for a view with this task."""


class Heuristic:
    """The built-in player: of all positions that it could leave, the one that looks best at a glance."""

    name = "Nardy heuristic"
    version = "1"

    def choose(self, view: View) -> tuple[Hop, ...]:
        """The play whose end scores best."""
        return self.best(task_of(view))

    def best(self, task: Task) -> tuple[Hop, ...]:
        """The play whose end scores best; of equals, always the same one."""
        return max((worth(end), end.mine, end.theirs, hops) for end, hops in ends(task))[3]


# ------------------------------------------------------------------------------------- what a position is worth


# Worth in thousandths of a game, fitted to the judgement of a strong program on positions from play.
_RACE = {
    "pips": -2,
    "outside": 4,
}
_HOME = (0, -14, -8, -1, 5, 10, 13)
_SPARE = (0, -2, -4, -5, -5, -3, -2)
_CONTACT = {
    "lead": 85,
    "large lead": -60,
    "shot": 36,
    "shot, pips": -82,
    "shot, entering": -18,
    "shot, pips, entering": -31,
    "blocked": 4,
    "hemmed": -16,
    "prime": 2,
    "closed": -8,
    "bar": 3,
    "bar, closed": 32,
    "second on bar": 77,
    "back": -80,
    "their blots": -3,
    "their blots at home": 35,
    "deep": -31,
    "stacked": -9,
    "spares": 26,
}
_POINT = (
    0,  # by point: two checkers or more there
    *(50, 83, 119, 151, 175, 163),  # home
    *(69, 67, 67, 64, 52, 35),  # its outfield
    *(47, 19, 20, 4, 0, 9),  # the far outfield
    *(127, 173, 151, 115, 49, 16),  # the opponent's home
)
_BLOT = (
    0,  # one checker there
    *(-23, -5, 18, 34, 43, 24),  # home
    *(31, 25, 26, 21, 18, 9),  # its outfield
    *(6, -7, -11, -17, -19, -37),  # the far outfield
    *(67, 55, 46, 40, 17, 5),  # the opponent's home
)


def worth(position: Position) -> float:
    """How a position looks to the side that has just played: the more, the better."""
    mine = position.mine
    if is_race(position):
        home = sum(_HOME[p] * mine[p] + _SPARE[p] * max(0, mine[p] - 2) for p in range(1, 7))
        return home + _weighed(_RACE, race(position))
    points = sum((_POINT if mine[p] > 1 else _BLOT)[p] for p in range(1, BAR) if mine[p])
    return points + _weighed(_CONTACT, contact(position))


def _weighed(weights: Mapping[str, int], seen: Mapping[str, float]) -> float:
    return sum(weights[name] * number for name, number in seen.items())


def is_race(position: Position) -> bool:
    """The sides have passed each other: nothing can be hit any more."""
    return _rearmost(position.mine) + _rearmost(position.theirs) < BAR


def _rearmost(side: Side) -> int:
    return next((point for point in range(BAR, 0, -1) if side[point]), 0)


def race(position: Position) -> dict[str, float]:
    """Pips, and what will be wasted of the dice: checkers left over, deep in the home or stacked there."""
    mine = position.mine
    return {"pips": position.pips(), "outside": sum(mine[7:])}


def contact(position: Position) -> dict[str, float]:
    """The race, shots, blocks, points and anchors, while the sides can still hit each other."""
    mine, theirs = position.mine, position.theirs
    lead = position.turned().pips() - position.pips()
    danger, strong = _shots(position), _made(theirs, range(1, 7))
    closed = _made(mine, range(1, 7))
    blocked = _made(mine, _six_before(_rearmost(theirs)))
    hemmed = _made(theirs, _six_before(_rearmost(mine)))
    return {
        "lead": lead / 10,
        "large lead": lead * abs(lead) / 1000,
        "shot": danger.chance,
        "shot, pips": danger.pips / 10,
        "shot, entering": danger.chance * strong,
        "shot, pips, entering": danger.pips * strong / 10,
        "blocked": blocked * blocked,
        "hemmed": hemmed,
        "prime": _longest(mine, 2, 12) ** 2,
        "closed": closed * closed,
        "bar": theirs[BAR],
        "bar, closed": theirs[BAR] * closed,
        "second on bar": theirs[BAR] > 1,
        "back": sum(mine[19:]),
        "their blots": sum(theirs[point] == 1 for point in range(1, BAR)),
        "their blots at home": sum(theirs[point] == 1 for point in range(1, 7)),
        "deep": max(0, mine[1] - 2) + max(0, mine[2] - 2),
        "stacked": sum(max(0, mine[point] - 4) for point in range(3, BAR)),
        "spares": sum(mine[point] > 2 for point in range(4, 13)),
    }


def _made(side: Side, points: Iterable[int]) -> int:
    return sum(side[point] >= 2 for point in points)


def _six_before(rearmost: int) -> range:
    """The six points that a checker has just before it, in the other side's numbering."""
    return range(BAR - rearmost + 1, min(24, BAR - rearmost + 6) + 1)


def _longest(side: Side, low: int, high: int) -> int:
    """The most made points in a row between these two."""
    longest = row = 0
    for point in range(low, high + 1):
        row = row + 1 if side[point] >= 2 else 0
        longest = max(longest, row)
    return longest


class Danger(NamedTuple):
    """What the opponent's next roll may do: the chance of a hit, and the pips expected to be lost by the dearest."""

    chance: float
    pips: float


_ROLLS = tuple((a, b) for a in range(1, 7) for b in range(1, a + 1))
_CHANCES = tuple((1 if a == b else 2) / 36 for a, b in _ROLLS)


def _carrying(distance: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The rolls that carry a checker so far, as places in _ROLLS, each with where it touches down on the way."""
    ways: list[tuple[int, tuple[int, ...]]] = []
    for place, (a, b) in enumerate(_ROLLS):
        if distance in (a, b):
            ways.append((place, ()))
        elif a == b and distance % a == 0 and distance <= 4 * a:
            ways.append((place, tuple(range(a, distance, a))))
        elif a + b == distance:
            ways += [(place, (a,)), (place, (b,))]
    return tuple(ways)


_CARRYING = tuple(_carrying(distance) for distance in range(BAR))


def _shots(position: Position) -> Danger:
    """How the opponent may hit a single checker of mine, directly or over open points (§2.1).

    While he is on the bar, only what enters is counted.
    """
    mine, theirs = position.mine, position.theirs
    cost = [0] * len(_ROLLS)
    hitters = [BAR] if theirs[BAR] else [point for point in range(24, 0, -1) if theirs[point]]
    for blot in range(1, BAR):
        if mine[blot] != 1:
            continue
        target, lost = BAR - blot, BAR - blot
        for start in hitters:
            if start <= target:
                break
            for place, stops in _CARRYING[start - target]:
                if cost[place] < lost and all(mine[BAR - start + stop] < 2 for stop in stops):
                    cost[place] = lost
    return Danger(
        sum(chance for chance, lost in zip(_CHANCES, cost, strict=True) if lost),
        sum(chance * lost for chance, lost in zip(_CHANCES, cost, strict=True)),
    )
