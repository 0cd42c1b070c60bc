"""Positions as short texts that other programs read: XGID, and the position and match ids of GNU Backgammon.

Only the short game has them. An Exchange is what such a text says: a position seen by the side on roll, its roll if it
has one, and the cube and score of a backgammon match, which our own matches have not.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from engine.dice import Roll
from engine.errors import BadPosition, RuleError
from engine.position import BAR, Position, Side, side

MINE, THEIRS = "mine", "theirs"


class BadId(RuleError):
    """A text that is no id of a position; `because` says of which part."""

    code = "bad-position-id"

    def __init__(self, because: str, detail: str) -> None:
        super().__init__(detail, because=because)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A position of backgammon as programs exchange it.

    `mine` is the side on roll, who has thrown `roll` (written the higher die first) or is still to throw. `cube` is its
    value, `owner` who may double (`mine`, `theirs`, None: both). `length` 0 is a match without a length. The defaults
    are those of our games.
    """

    position: Position
    roll: Roll | None = None
    cube: int = 1
    owner: str | None = None
    score: tuple[int, int] = (0, 0)  # mine, theirs
    length: int = 0
    is_crawford: bool = False
    uses_jacoby: bool = False


# ------------------------------------------------------------------------------------------------------------ GNU


def position_id(position: Position) -> str:
    """GNU Backgammon's id of a position: 14 letters. The same as seen by the side that is *not* on roll is another.

    A string of bits: for each point from the ace point to the bar as many ones as checkers, then a zero; first for the
    side that is not on roll, then for the one that is.
    """
    bits = "".join("1" * number + "0" for counts in (position.theirs, position.mine) for number in counts[1:])
    return _to_text(bits, 10)[:14]


def read_position_id(text: str) -> Position:
    """The position of such an id, seen by the side on roll. Raises BadId."""
    bits = _bits(text, 14, 10)
    runs = bits.split("0")[:50]
    if len(runs) < 50 or "1" in bits[sum(map(len, runs)) + 50 :]:
        raise BadId("position-id", f"{text} is no position: it has not fifty places.")
    counts = [len(run) for run in runs]
    theirs, mine = (dict(enumerate(half, 1)) for half in (counts[:25], counts[25:]))
    return _position(mine, theirs, text)


def match_id(exchange: Exchange) -> str:
    """GNU Backgammon's id of all but the position: 12 letters; the side on roll is its player 1."""
    owner = {None: 3, THEIRS: 0, MINE: 1}[exchange.owner]
    roll = exchange.roll
    first, second = (0, 0) if roll is None else (roll.high, roll.low)
    mine, theirs = exchange.score
    fields = [
        (exchange.cube.bit_length() - 1, 4),
        (owner, 2),
        (1, 1),  # player 1 is on roll
        (exchange.is_crawford, 1),
        (1, 3),  # a game is being played
        (1, 1),  # and it is player 1 who decides
        (0, 1),  # nobody has doubled
        (0, 2),  # or resigned
        (first, 3),
        (second, 3),
        (exchange.length, 15),
        (theirs, 15),
        (mine, 15),
        (not exchange.uses_jacoby, 1),
    ]
    return _to_text("".join(format(int(value), f"0{width}b")[::-1] for value, width in fields), 9)


def read_gnu_id(text: str) -> Exchange:
    """What `position:match` says, or a position id alone; turned so that `mine` is on roll. Raises BadId."""
    position_part, _, match_part = text.strip().partition(":")
    position = read_position_id(position_part)
    if not match_part:
        return Exchange(position)
    bits = _bits(match_part, 12, 9)
    values, at = [], 0
    for width in (4, 2, 1, 1, 3, 1, 1, 2, 3, 3, 15, 15, 15, 1):
        values.append(int(bits[at : at + width][::-1], 2))
        at += width
    cube, owner, on_roll, crawford, _, turn, _, _, first, second, length, score_0, score_1, no_jacoby = values
    if owner == 2 or not (first == second == 0 or (1 <= first <= 6 and 1 <= second <= 6)):
        raise BadId("match-id", f"{match_part} is no match: its cube or dice cannot be.")
    # The position is that of the player on roll, whichever number he has.
    mine, theirs = (score_1, score_0) if on_roll else (score_0, score_1)
    del turn
    return Exchange(
        position,
        _roll(first, second) if first else None,
        1 << cube,
        None if owner == 3 else MINE if owner == on_roll else THEIRS,
        (mine, theirs),
        length,
        bool(crawford),
        length == 0 and not no_jacoby,
    )


def gnu_id(exchange: Exchange) -> str:
    """`position:match`, as GNU Backgammon takes it."""
    return f"{position_id(exchange.position)}:{match_id(exchange)}"


def _to_text(bits: str, size: int) -> str:
    """Bits as base 64, the first bit the lowest of the first byte."""
    number = int(bits[::-1], 2)
    return base64.b64encode(number.to_bytes(size, "little")).decode().rstrip("=")


def _bits(text: str, letters: int, size: int) -> str:
    if len(text) != letters:
        raise BadId("length", f"{text} has {len(text)} letters, not {letters}.")
    try:
        data = base64.b64decode(text + "=" * (-letters % 4), validate=True)
    except (binascii.Error, ValueError):
        raise BadId("letters", f"{text} is not written in the letters of such an id.") from None
    return format(int.from_bytes(data, "little"), f"0{8 * size}b")[::-1]


# ----------------------------------------------------------------------------------------------------------- XGID

_XGID = re.compile(
    r"(?:XGID=)?(?P<board>[-A-Oa-o]{26}):(?P<cube>\d{1,2}):(?P<owner>-1|0|1):(?P<turn>-1|1):(?P<dice>\w\w)"
    r":(?P<mine>\d{1,5}):(?P<theirs>\d{1,5}):(?P<rules>\d):(?P<length>\d{1,5}):(?P<most>\d{1,2})"
)
_CALLS = {"00", "DD", "BB", "RR"}  # still to throw, or a double is being answered


def xgid(exchange: Exchange) -> str:
    """The position as eXtreme Gammon writes it, the side on roll below and to move."""
    letters = ["-"] * 26
    for point in range(1, 25):
        if exchange.position.mine[point]:
            letters[point] = chr(ord("A") - 1 + exchange.position.mine[point])
        elif exchange.position.theirs[BAR - point]:
            letters[point] = chr(ord("a") - 1 + exchange.position.theirs[BAR - point])
    if exchange.position.mine[BAR]:
        letters[BAR] = chr(ord("A") - 1 + exchange.position.mine[BAR])
    if exchange.position.theirs[BAR]:
        letters[0] = chr(ord("a") - 1 + exchange.position.theirs[BAR])
    owner = {None: 0, MINE: 1, THEIRS: -1}[exchange.owner]
    dice = "00" if exchange.roll is None else f"{exchange.roll.high}{exchange.roll.low}"
    rules = int(exchange.is_crawford) if exchange.length else int(exchange.uses_jacoby)
    mine, theirs = exchange.score
    cube = exchange.cube.bit_length() - 1
    return f"XGID={''.join(letters)}:{cube}:{owner}:1:{dice}:{mine}:{theirs}:{rules}:{exchange.length}:10"


def read_xgid(text: str) -> Exchange:
    """What an XGID says, turned so that `mine` is on roll. Raises BadId."""
    found = _XGID.fullmatch(text.strip())
    if found is None:
        raise BadId("xgid", "This is not written as an XGID: 26 letters and nine numbers, parted by colons.")
    dice = found["dice"]
    if dice not in _CALLS and not re.fullmatch(r"[1-6]{2}", dice):
        raise BadId("dice", f"{dice} is no roll of two dice.")
    below: dict[int, int] = {}
    above: dict[int, int] = {}
    for point, letter in enumerate(found["board"]):
        if letter.isupper() and point:
            below[point] = ord(letter) - ord("A") + 1
        elif letter.islower() and point < BAR:
            above[BAR - point] = ord(letter) - ord("a") + 1
        elif letter != "-":
            raise BadId("board", "The bars are the first letter, small, and the last, large.")
    position = _position(below, above, text)
    turn, owner = int(found["turn"]), int(found["owner"])
    score = int(found["mine"]), int(found["theirs"])
    length, rules = int(found["length"]), int(found["rules"])
    return Exchange(
        position if turn == 1 else position.turned(),
        None if dice in _CALLS else _roll(int(dice[0]), int(dice[1])),
        1 << int(found["cube"]),
        None if not owner else MINE if owner == turn else THEIRS,
        score if turn == 1 else score[::-1],
        length,
        bool(length) and rules == 1,
        not length and bool(rules & 1),
    )


# ------------------------------------------------------------------------------------------------------------------


def _roll(first: int, second: int) -> Roll:
    """An unordered pair, the higher die first."""
    return Roll(max(first, second), min(first, second))


def _position(mine: dict[int, int], theirs: dict[int, int], text: str) -> Position:
    try:
        position = Position(_side(mine), _side(theirs))
        if (
            Position.from_signed(position.signed()) != position
        ):  # two sides on one point show only one of them
            raise BadPosition("Two sides cannot stand on one point.")
    except BadPosition as wrong:
        raise BadId("position", f"{text} is no position: {wrong.detail}") from None
    return position


def _side(points: dict[int, int]) -> Side:
    return side(
        {point: number for point, number in points.items() if 0 < point < BAR}, bar=points.get(BAR, 0)
    )
