"""The xiangqi board: where the pieces are, what moves are legal, when a game is over.

A square is an index: 9 · rank + file, both from 0 at Red's left corner, so a1 is 0, i1 is 8, a10 is 81. Pieces are the
letters of FEN, K A B N R C P, upper case for Red and lower case for Black; an empty point is a dot. Perpetual check and
chase are matters of an arbiter and are not judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from engine.errors import RuleError

FILES, RANKS = 9, 10
EMPTY = "."
_RED, _BLACK = "ABNRCP", "abnrcp"  # what can be taken
START_FEN = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
_MOST = {"K": 1, "A": 2, "B": 2, "N": 2, "R": 2, "C": 2, "P": 5}  # pieces of a side


class BadFen(RuleError):
    """A text that is no position of xiangqi, or one that no game can show."""

    code = "bad-fen"


class Ending(Enum):
    """How the side to move has lost: it has no legal move, in check or not."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"


class Move(NamedTuple):
    """A piece goes from one square to another."""

    start: int
    end: int


# ---------------------------------------------------------------------------------------- where a piece can go at all


def _square(file: int, rank: int) -> int | None:
    return FILES * rank + file if 0 <= file < FILES and 0 <= rank < RANKS else None


def _steps(square: int, *ways: tuple[int, int]) -> tuple[int, ...]:
    """The squares one of these ways off, as far as they are on the board."""
    rank, file = divmod(square, FILES)
    found = (_square(file + across, rank + ahead) for across, ahead in ways)
    return tuple(end for end in found if end is not None)


def _ray(square: int, across: int, ahead: int) -> tuple[int, ...]:
    ray = []
    while after := _steps(square, (across, ahead)):
        square = after[0]
        ray.append(square)
    return tuple(ray)


_STRAIGHT = ((0, 1), (0, -1), (1, 0), (-1, 0))
_ASKEW = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_ALL = range(FILES * RANKS)


def _own_palace(red: bool) -> frozenset[int]:
    return frozenset(9 * rank + file for rank in (range(3) if red else range(7, 10)) for file in (3, 4, 5))


def _own_half(square: int, red: bool) -> bool:
    return (square < 45) is red


_PALACE = {red: _own_palace(red) for red in (True, False)}
_RAYS = tuple(tuple(_ray(square, *way) for way in _STRAIGHT) for square in _ALL)
_GENERAL = {
    red: tuple(tuple(s for s in _steps(square, *_STRAIGHT) if s in _PALACE[red]) for square in _ALL)
    for red in (True, False)
}
_ADVISER = {
    red: tuple(tuple(s for s in _steps(square, *_ASKEW) if s in _PALACE[red]) for square in _ALL)
    for red in (True, False)
}
# A pawn goes ahead, and sideways too when it is over the river.
_PAWN = {
    red: tuple(
        _steps(square, (0, 1 if red else -1), *(() if _own_half(square, red) else ((1, 0), (-1, 0))))
        for square in _ALL
    )
    for red in (True, False)
}


def _horse(square: int) -> Iterator[tuple[int, int]]:
    """Where it ends, and the point beside it that must be empty."""
    for across, ahead in _STRAIGHT:
        for leg in _steps(square, (across, ahead)):
            sides = ((2 * across, 1), (2 * across, -1)) if across else ((1, 2 * ahead), (-1, 2 * ahead))
            yield from ((end, leg) for end in _steps(square, *sides))


def _elephant(square: int, red: bool) -> Iterator[tuple[int, int]]:
    """Where it ends, and the point between that must be empty; it never crosses the river."""
    for across, ahead in _ASKEW:
        for end in _steps(square, (2 * across, 2 * ahead)):
            if _own_half(end, red):
                yield end, _steps(square, (across, ahead))[0]


_HORSE = tuple(tuple(_horse(square)) for square in _ALL)
_ELEPHANT = {red: tuple(tuple(_elephant(square, red)) for square in _ALL) for red in (True, False)}
# The same, looked at from the general: a horse on `start` with its leg free gives check to `square`.
_HORSE_CHECKS = tuple(
    tuple((start, leg) for start in _ALL for end, leg in _HORSE[start] if end == square) for square in _ALL
)
_PAWN_CHECKS = {  # by the general's colour: where an enemy pawn attacks it from
    red: tuple(tuple(start for start in _ALL if square in _PAWN[not red][start]) for square in _ALL)
    for red in (True, False)
}
# Unless a general is in check, a move that neither leaves nor enters these squares cannot expose it.
_NEAR = tuple(
    frozenset(
        (square, *(s for ray in _RAYS[square] for s in ray), *(leg for _, leg in _HORSE_CHECKS[square]))
    )
    for square in _ALL
)


def reach(cells: str, square: int) -> list[int]:
    """Where the piece on `square` can go by its own way of moving, its general's safety left aside.

    Never onto the other general: a game is over before one is taken.
    """
    piece = cells[square]
    red = piece.isupper()
    kind = piece.upper()
    others = _BLACK if red else _RED
    if kind in "RC":
        return _lines(cells, square, others, jumps=kind == "C")
    if kind == "N":
        ends: Iterator[int] | tuple[int, ...] = (end for end, leg in _HORSE[square] if cells[leg] == EMPTY)
    elif kind == "B":
        ends = (end for end, eye in _ELEPHANT[red][square] if cells[eye] == EMPTY)
    else:
        ends = {"P": _PAWN, "A": _ADVISER, "K": _GENERAL}[kind][red][square]
    return [end for end in ends if cells[end] == EMPTY or cells[end] in others]


def _lines(cells: str, square: int, others: str, *, jumps: bool) -> list[int]:
    """A chariot's ends, or a cannon's, which takes what is behind one piece."""
    found = []
    for ray in _RAYS[square]:
        screen = not jumps
        for end in ray:
            there = cells[end]
            if there == EMPTY:
                if screen is not jumps:
                    found.append(end)
            elif screen:
                if there in others:
                    found.append(end)
                break
            else:
                screen = True
    return found


def _attacked(cells: str, general: int, red: bool) -> bool:
    """Is this side's general attacked, or does it face the other one?"""
    king, chariot, horse, cannon, pawn = "krncp" if red else "KRNCP"
    for ray in _RAYS[general]:
        screen = False
        for square in ray:
            there = cells[square]
            if there == EMPTY:
                continue
            if screen:
                if there == cannon:
                    return True
                break
            if there in (chariot, king):
                return True
            screen = True
    for square, leg in _HORSE_CHECKS[general]:
        if cells[square] == horse and cells[leg] == EMPTY:
            return True
    return any(cells[square] == pawn for square in _PAWN_CHECKS[red][general])


def _moved(cells: str, move: Move) -> str:
    start, end = move
    piece = cells[start]
    if start < end:
        return f"{cells[:start]}{EMPTY}{cells[start + 1 : end]}{piece}{cells[end + 1 :]}"
    return f"{cells[:end]}{piece}{cells[end + 1 : start]}{EMPTY}{cells[start + 1 :]}"


# --------------------------------------------------------------------------------------------------------- a position


@dataclass(frozen=True, slots=True)
class Position:
    """Where the pieces are and who is to move; how long nothing was taken, and the number of the move."""

    cells: str  # 90 letters, by square
    red: bool  # Red is to move
    quiet: int = 0  # plies since the last capture
    number: int = 1  # of the move, counted up after Black's

    @classmethod
    def from_fen(cls, fen: str) -> Position:
        """The position of a FEN; its counters may be left out, H and E are read for N and B.

        Raises BadFen, also for too many pieces and for a general out of its palace. What no game brings about but
        books show may stand: other pieces anywhere, the side that has just moved in check.
        """
        fields = fen.split()
        if not 1 <= len(fields) <= 6:
            raise BadFen("A FEN is a board, the side to move, two hyphens and two counters.")
        side = fields[1] if len(fields) > 1 else "w"
        if side not in ("w", "b", "r"):
            raise BadFen(f"The side to move is w or b, not {side[:20]}.")
        counters = [text for text in fields[4:] if re.fullmatch(r"[0-9]{1,6}", text)]
        if len(counters) != len(fields[4:]) or any(text != "-" for text in fields[2:4]):
            raise BadFen("After the side to move come two hyphens and two counters.")
        quiet, number = (int(counters[0]) if counters else 0), (int(counters[1]) if len(counters) > 1 else 1)
        position = cls(_cells(fields[0]), side != "b", quiet, max(number, 1))
        _check(position)
        return position

    @property
    def fen(self) -> str:
        """The position as FEN: Black's back rank first."""
        rows = (self.cells[start : start + FILES] for start in range(81, -1, -FILES))
        board = "/".join(re.sub(r"\.+", lambda empty: str(len(empty[0])), row) for row in rows)
        return f"{board} {'w' if self.red else 'b'} - - {self.quiet} {self.number}"

    def legal_moves(self) -> list[Move]:
        """Every move that leaves the own general safe, by start and end."""
        cells, red = self.cells, self.red
        general = cells.index("K" if red else "k")
        near = _NEAR[general]
        checked = _attacked(cells, general, red)
        found = []
        for start, piece in enumerate(cells):
            if piece == EMPTY or piece.isupper() is not red:
                continue
            for end in sorted(reach(cells, start)):
                move = Move(start, end)
                if not (checked or start in near or end in near) or self._safe(move):
                    found.append(move)
        return found

    def is_legal(self, move: Move) -> bool:
        """Can the side to move make this move?"""
        piece = self.cells[move.start]
        if piece == EMPTY or piece.isupper() is not self.red:
            return False
        return move.end in reach(self.cells, move.start) and self._safe(move)

    def _safe(self, move: Move) -> bool:
        after = _moved(self.cells, move)
        return not _attacked(after, after.index("K" if self.red else "k"), self.red)

    def after(self, move: Move) -> Position:
        """The position after a legal move."""
        quiet = self.quiet + 1 if self.cells[move.end] == EMPTY else 0
        return Position(_moved(self.cells, move), not self.red, quiet, self.number + (not self.red))

    def in_check(self) -> bool:
        """Is the general of the side to move attacked?"""
        return _attacked(self.cells, self.cells.index("K" if self.red else "k"), self.red)

    def ending(self) -> Ending | None:
        """How the side to move has lost, if it has: a stalemate is a loss as well."""
        if any(self._has_move(square) for square, piece in enumerate(self.cells) if piece != EMPTY):
            return None
        return Ending.CHECKMATE if self.in_check() else Ending.STALEMATE

    def _has_move(self, square: int) -> bool:
        if self.cells[square].isupper() is not self.red:
            return False
        return any(self._safe(Move(square, end)) for end in reach(self.cells, square))


def _cells(board: str) -> str:
    """The ninety letters of a FEN's board. Raises BadFen."""
    rows = board.split("/")
    if len(rows) != RANKS:
        raise BadFen(f"A board has ten ranks, not {len(rows)}.")
    filled = []
    for number, row in zip(range(RANKS, 0, -1), rows, strict=True):
        if not re.fullmatch(r"[1-9KABNRCPHEkabnrcphe]{1,9}", row):
            raise BadFen(
                f"Rank {number} is made of K A B N R C P, k a b n r c p and the numbers of empty points."
            )
        letters = row.translate(str.maketrans("HEhe", "NBnb"))
        letters = re.sub("[1-9]", lambda empty: EMPTY * int(empty[0]), letters)
        if len(letters) != FILES:
            raise BadFen(f"Rank {number} has nine points, not {len(letters)}.")
        filled.append(letters)
    return "".join(reversed(filled))


def _check(position: Position) -> None:
    cells = position.cells
    for kind, most in _MOST.items():
        for letter, whose in ((kind, "Red"), (kind.lower(), "Black")):
            if cells.count(letter) > most:
                raise BadFen(f"{whose} has at most {most} of {letter}.")
    for letter, whose in (("K", "Red"), ("k", "Black")):
        if cells.find(letter) not in _PALACE[letter == "K"]:
            raise BadFen(f"{whose}'s general is in its palace.")


# ------------------------------------------------------------------------------------------------------- coordinates


def name(square: int) -> str:
    """A square as files a–i from Red's left and ranks 1–10 from Red's side."""
    rank, file = divmod(square, FILES)
    return f"{'abcdefghi'[file]}{rank + 1}"


START = Position.from_fen(START_FEN)
