"""A computer player: something that chooses a play from what a player may see (§12.1), and the plain built-in one.

A computer is a pure function of its view: no chance, no memory, no clock. So equal boards and rolls get equal plays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from engine.plays import Hop, after
from engine.position import BAR, CHECKERS, OFF, Position, Side
from engine.turn import Color, Game
from engine.view import View


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


class Heuristic:
    """The built-in player: of all positions that it could leave, the one that looks best at a glance."""

    name = "Nardy heuristic"
    version = "1"

    def choose(self, view: View) -> tuple[Hop, ...]:
        """The play whose end scores best; of equals, always the same one."""
        before = _mine_to_play(view)
        return max(
            ((_score(position), position.mine, hops) for position, hops in _ends(view, before)),
        )[2]


def _mine_to_play(view: View) -> Position:
    assert view.mine is not None, "nothing is owed"
    board = view.boards[Game(view.mine.game)]
    position = Position(tuple(board["white"]), tuple(board["black"]))
    return position if Color(view.mine.color) is Color.WHITE else position.turned()


def _ends(view: View, before: Position) -> Iterable[tuple[Position, tuple[Hop, ...]]]:
    """Every finished node of the step graph, once, with one way there."""
    assert view.mine is not None
    assert view.mine.steps is not None, "it has been played"
    ways: dict[int, tuple[Hop, ...]] = {0: ()}
    for node, edges in enumerate(view.mine.steps):  # a move leads to a later node
        for start, end, _, _, following in edges:
            if following not in ways:
                ways[following] = (*ways[node], Hop(start, end))
        if not edges:
            yield after(before, ways[node]), ways[node]


# ------------------------------------------------------------------------------------------- what a position is worth


def features(position: Position) -> Mapping[str, float]:
    """What the player looks at after his play, the opponent being about to roll."""
    return race(position) if is_race(position) else contact(position)


def is_race(position: Position) -> bool:
    """The sides have passed each other: nothing can be hit any more."""
    return _rearmost(position.mine) + _rearmost(position.theirs) < BAR


def _rearmost(side: Side) -> int:
    return next((point for point in range(BAR, 0, -1) if side[point]), 0)


def race(position: Position) -> dict[str, float]:
    """Pips, and what will be wasted of the dice: checkers deep in the home, empty points, checkers left over."""
    mine = position.mine
    seen: dict[str, float] = {
        "pips": position.pips(),
        "left": CHECKERS - mine[OFF],
        "outside": sum(mine[7:]),
        "far": sum(max(0, point - 6) * mine[point] for point in range(7, BAR + 1)),
        "ones": max(0, mine[1] - 1),
        "gaps": sum(not mine[point] for point in (4, 5, 6)),
    }
    for point in range(1, 7):
        seen[f"on {point}"] = mine[point]
        seen[f"stack {point}"] = max(0, mine[point] - 2)
    return seen


def contact(position: Position) -> dict[str, float]:
    """Shots, points, blocks, anchors and the race, while the sides can still hit each other."""
    mine, theirs = position.mine, position.theirs
    strong = sum(theirs[point] >= 2 for point in range(1, 7))  # points that a checker of mine would have to enter by
    danger = _shots(position)
    back = _rearmost(theirs)
    ahead = range(max(1, BAR - back + 1), min(24, BAR - back + 6) + 1)  # the six points before their last checker
    blocked = sum(mine[point] >= 2 for point in ahead)
    my_back = _rearmost(mine)
    my_ahead = range(max(1, BAR - my_back + 1), min(24, BAR - my_back + 6) + 1)
    hemmed = sum(theirs[point] >= 2 for point in my_ahead)
    closed = sum(mine[point] >= 2 for point in range(1, 7))
    bar = theirs[BAR]
    lead = position.turned().pips() - position.pips()
    seen: dict[str, float] = {
        "lead": lead / 10,
        "lead squared": min(lead, 60) * abs(min(lead, 60)) / 1000,
        "shots": danger.chance,
        "shots far": danger.pips / 10,
        "shots strong": danger.chance * strong,
        "shots strong far": danger.pips * strong / 10,
        "blocked": blocked,
        "blocked squared": blocked * blocked,
        "prime": _longest(mine, 2, 12) ** 2,
        "hemmed": hemmed,
        "hemmed squared": hemmed * hemmed,
        "bar": bar,
        "bar closed": bar * closed,
        "bar closed squared": bar * closed * closed,
        "second bar": max(0, bar - 1),
        "closed": closed,
        "closed squared": closed * closed,
        "off": mine[OFF],
        "back": sum(mine[19:]),
        "last back": sum(mine[19:]) == 1,
        "none back": not sum(mine[19:]),
        "their blots": sum(theirs[point] == 1 for point in range(1, BAR)),
        "their home blots": sum(theirs[point] == 1 for point in range(1, 7)),
        "deep": max(0, mine[1] - 2) + max(0, mine[2] - 2),
        "stacks": sum(max(0, mine[point] - 3) for point in range(3, 25)),
        "stacks high": sum(max(0, mine[point] - 4) for point in range(3, 25)),
        "builders": sum(mine[point] == 1 or mine[point] == 3 for point in range(7, 13)),
        "spares": sum(max(0, mine[point] - 2) > 0 for point in range(4, 13)),
    }
    for point in range(1, 25):
        seen[f"point {point}"] = mine[point] >= 2
        seen[f"blot {point}"] = mine[point] == 1
    return seen


def _longest(side: Side, low: int, high: int) -> int:
    """The most made points in a row between these two."""
    longest = row = 0
    for point in range(low, high + 1):
        row = row + 1 if side[point] >= 2 else 0
        longest = max(longest, row)
    return longest


class Danger(NamedTuple):
    """What the opponent's next roll may do: the chance of a hit, and the pips that the dearest hit is expected to cost."""

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
