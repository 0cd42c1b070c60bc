"""Who plays where, and what comes next (§4.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Seat(StrEnum):
    """A player's place in a match: A is White in game X, B is White in game Y (§1)."""

    A = "A"
    B = "B"

    @property
    def other(self) -> Seat:
        return Seat.B if self is Seat.A else Seat.A


# Every play goes through the seats often, and the enumeration takes ten times as long as they do.
SEATS = (Seat.A, Seat.B)
_A = Seat.A


class Color(StrEnum):
    """White moves first in a game; Black has the right of the last move (§4.2)."""

    WHITE = "white"
    BLACK = "black"

    @property
    def other(self) -> Color:
        return Color.BLACK if self is Color.WHITE else Color.WHITE


class Game(StrEnum):
    """The two games of a match, each on its own board (§1)."""

    X = "X"
    Y = "Y"

    @property
    def other(self) -> Game:
        return Game.Y if self is Game.X else Game.X


class Phase(StrEnum):
    """W: both play White; K: both play Black (§4.1)."""

    W = "W"
    K = "K"

    @property
    def color(self) -> Color:
        return Color.WHITE if self is Phase.W else Color.BLACK


_WRITTEN = re.compile(r"([1-9][0-9]{0,5})([WK])").fullmatch


@dataclass(frozen=True, slots=True, order=True)
class Turn:
    """The place a play belongs to: a round, and its phase. Written `3W`."""

    round: int
    black: bool = False

    @property
    def phase(self) -> Phase:
        return Phase.K if self.black else Phase.W

    def next(self) -> Turn:
        """Phase K follows phase W; a new round follows phase K (§4.1)."""
        return Turn(self.round + 1) if self.black else Turn(self.round, black=True)

    def __str__(self) -> str:
        return f"{self.round}{self.phase.value}"

    @classmethod
    def parse(cls, text: str) -> Turn | None:
        """The turn written `3W`, or None if the text names no turn."""
        match = _WRITTEN(text)
        return match and cls(int(match[1]), match[2] == "K")


FIRST_TURN = Turn(1)


@dataclass(frozen=True, slots=True)
class Seats(Generic[T]):
    """One value for each seat."""

    A: T
    B: T

    def __getitem__(self, seat: Seat) -> T:
        return self.A if seat is _A else self.B

    def with_(self, seat: Seat, value: T) -> Seats[T]:
        return Seats(value, self.B) if seat is _A else Seats(self.A, value)


@dataclass(frozen=True, slots=True)
class Games(Generic[T]):
    """One value for each of the two games."""

    X: T
    Y: T

    def __getitem__(self, game: Game) -> T:
        return self.X if game is Game.X else self.Y

    def with_(self, game: Game, value: T) -> Games[T]:
        return Games(value, self.Y) if game is Game.X else Games(self.X, value)


def game_of(seat: Seat, phase: Phase) -> Game:
    """The board a seat plays on: in phase W each its White game, in phase K the other (§4.1)."""
    return Game.X if (seat is Seat.A) is (phase is Phase.W) else Game.Y


def color_of(seat: Seat, game: Game) -> Color:
    """A is White in X and Black in Y; B the other way round (§1)."""
    return Color.WHITE if (seat is Seat.A) is (game is Game.X) else Color.BLACK


def player_of(game: Game, color: Color) -> Seat:
    """The seat that has this color in this game (§1)."""
    return Seat.A if (game is Game.X) is (color is Color.WHITE) else Seat.B
