"""Where the checkers are, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import mul

from engine.errors import BadPosition

OFF, BAR, CHECKERS = 0, 25, 15

Side = tuple[int, ...]  # counts on [off, own 1-point … own 24-point, bar]


def side(points: Mapping[int, int], *, bar: int = 0) -> Side:
    """A side from its points; checkers that are missing to fifteen have been borne off.

    Raises BadPosition for a point outside 1–24, a negative count, or more than fifteen checkers.
    """
    counts = [0] * 26
    for point, number in points.items():
        if not 1 <= point <= 24 or number < 0:
            raise BadPosition(f"{number} checkers cannot stand on point {point}.", point=point)
        counts[point] = number
    counts[BAR] = bar
    counts[OFF] = CHECKERS - sum(counts)
    if counts[OFF] < 0 or bar < 0:
        raise BadPosition("A side has fifteen checkers.")
    return tuple(counts)


def pip_count(counts: Side) -> int:
    """Sum of the point numbers of a side's checkers, the bar counting 25 (§1)."""
    return sum(map(mul, counts, range(26)))


@dataclass(frozen=True, slots=True)
class Position:
    """Where the checkers are, seen by the side about to play. No dice, no clock, no score."""

    mine: Side  # checkers on [off, my 1-point … my 24-point, bar]
    theirs: Side  # the same, counted from their side

    def pips(self) -> int:
        """My pip count (§1)."""
        return pip_count(self.mine)

    def turned(self) -> Position:
        """The same position, seen by the other side."""
        return Position(self.theirs, self.mine)

    def signed(self) -> list[int]:
        """26 ints in the short game's common encoding.

        Indices 1–24 are my points, mine positive, theirs negative; 25 is my bar and 0 theirs, neither negative.
        """
        board = [mine - their for mine, their in zip(self.mine, reversed(self.theirs), strict=True)]
        board[0], board[BAR] = self.theirs[BAR], self.mine[BAR]
        return board

    @classmethod
    def from_signed(cls, board: Iterable[int]) -> Position:
        """The position of a signed board. Raises BadPosition if no short game could show it."""
        counts = list(board)
        if len(counts) != 26 or not all(type(n) is int for n in counts):
            raise BadPosition("A board is 26 whole numbers.")
        if counts[0] < 0 or counts[BAR] < 0:
            raise BadPosition("The two bars, indices 0 and 25, are never negative.")
        mine = side({p: n for p, n in enumerate(counts[1:25], 1) if n > 0}, bar=counts[BAR])
        theirs = side({25 - p: -n for p, n in enumerate(counts[1:25], 1) if n < 0}, bar=counts[0])
        if mine[BAR] and theirs[BAR] and min(*mine[1:7], *theirs[1:7]) >= 2:
            raise BadPosition("Both sides cannot be on the bar before six closed points.")
        return cls(mine, theirs)

    @classmethod
    def parse(cls, text: str) -> Position:
        """A position written each side in its own numbering: `bar:1 6:2 | 24:2`. Raises BadPosition."""
        halves = text.split("|")
        if len(halves) != 2:
            raise BadPosition("A position is written 'mine | theirs'.")
        return cls(*(_parse_side(half) for half in halves))

    def __str__(self) -> str:
        return f"{_side_text(self.mine)} | {_side_text(self.theirs)}".strip()


def _parse_side(text: str) -> Side:
    points: dict[int, int] = {}
    for item in text.split():
        if not re.fullmatch(r"(bar|[0-9]{1,2}):[0-9]{1,2}", item):
            raise BadPosition(f"'{item}' is not 'point:number'.")
        place, _, number = item.partition(":")
        point = BAR if place == "bar" else int(place)
        if point in points or (point == BAR and place != "bar"):
            raise BadPosition(f"'{place}' is no point, or is there twice.")
        points[point] = int(number)
    return side({point: n for point, n in points.items() if point != BAR}, bar=points.get(BAR, 0))


def _side_text(counts: Side) -> str:
    items = [f"bar:{counts[BAR]}"] if counts[BAR] else []
    items += [f"{point}:{counts[point]}" for point in range(24, 0, -1) if counts[point]]
    return " ".join(items)
