"""Answers of the `nardy` command that every program of these rules must agree on: plays, points, ratings."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from engine.dice import Roll
from engine.errors import RuleError
from engine.match import ends_after
from engine.plays import results
from engine.position import OFF, Position, Side, side
from engine.rating import Strength, points_after, strength_after
from engine.ruleset import DEFAULT, Ruleset
from engine.scoring import concession, settle
from engine.turn import Games, Seat, Seats, Turn


class Refused(Exception):
    """A question that has no answer. The code is for programs.

    bad-json · bad-line · bad-position · bad-roll · bad-case · bad-ruleset
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}


# ------------------------------------------------------------------------------------------------------ the questions


class _Form(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Line(msgspec.Struct):  # a line may say more: what was expected, how it is tagged
    board: Any
    roll: Any


class _Case(msgspec.Struct, tag_field="kind", kw_only=True):
    id: str
    title: str = ""
    note: str = ""
    expected: Any = None  # for readers, not for the answer
    tolerance: Any = None
    ruleset: dict[str, Any] = {}


_Count = Annotated[int, msgspec.Meta(ge=0, le=15)]
_Ms = Annotated[int, msgspec.Meta(ge=0)]
_Rating = Annotated[float, msgspec.Meta(ge=-100_000, le=100_000)]
_Deviation = Annotated[float, msgspec.Meta(gt=0, le=10_000)]


class _Side(_Form):
    p: dict[int, _Count]
    bar: _Count
    off: _Count


class _Board(_Form):
    white: _Side
    black: _Side


class _Boards(_Form):
    X: _Board
    Y: _Board


class _Times(_Form):
    A: _Ms
    B: _Ms


class _MatchCase(_Case, tag="match", kw_only=True):
    boards: _Boards
    time_ms: _Times
    rating_before: tuple[int, int] | None = None
    before_last_move: Any = None


class _ConcessionCase(_Case, tag="concession", kw_only=True):
    round_end: _Boards
    phase_end: _Boards
    loser: Seat


class _RatingCase(_Case, tag="rating", kw_only=True):
    system: Literal["glicko2", "seed"]
    input: Any


class _Glicko(_Form):
    r: _Rating
    rd: _Deviation
    vol: Annotated[float, msgspec.Meta(gt=0, le=10)]
    tau: Annotated[float, msgspec.Meta(ge=0.05, le=5)]
    opponents: list[tuple[_Rating, _Deviation, Annotated[float, msgspec.Meta(ge=0, le=1)]]]


class _Qualified(_Form):
    base: int
    points: list[int]
    total_ms: list[_Ms]


_AnyCase = _MatchCase | _ConcessionCase | _RatingCase


# -------------------------------------------------------------------------------------------------------- the answers


def legal_results(line: bytes) -> list[list[int]]:
    """The boards after each legal play of `{"board": …, "roll": …}`, sorted; none where nothing can be played (§2).

    Boards are 26 signed counts as in `Position.signed`. Raises Refused.
    """
    with _refusals("bad-line"):
        asked = msgspec.convert(msgspec.json.decode(line), _Line)
        if not isinstance(asked.board, list):
            raise Refused("bad-position", "A board is 26 whole numbers.")
        before = Position.from_signed(asked.board)
        dice = asked.roll
        if not isinstance(dice, list) or len(dice) != 2 or not all(type(die) is int for die in dice):
            raise Refused("bad-roll", "A roll is two dice.")
        return sorted(after.signed() for after in results(before, Roll(*dice)) if after != before)


def read_cases(text: bytes) -> list[Any]:
    """The cases in a file: a list, or an object that holds one as `cases`. Raises Refused."""
    with _refusals("bad-case"):
        found = msgspec.json.decode(text)
    cases = found.get("cases") if isinstance(found, dict) else found
    if not isinstance(cases, list):
        raise Refused("bad-case", "The file has no list of cases.")
    return cases


def score(case: object) -> dict[str, Any]:
    """What a case of the kind match, concession or rating comes to (§6–8, §10). Raises Refused."""
    with _refusals("bad-case"):
        asked: _AnyCase = msgspec.convert(case, _AnyCase, str_keys=True)
        match asked:
            case _MatchCase():
                return _match_score(asked)
            case _ConcessionCase():
                return _price(asked)
            case _RatingCase(system="glicko2"):
                return _strength(msgspec.convert(asked.input, _Glicko))
            case _RatingCase():
                return _start_ratings(msgspec.convert(asked.input, _Qualified))


def _match_score(asked: _MatchCase) -> dict[str, Any]:
    """The points of a match from its two final positions and its thinking times (§6, §7.3, §10.1)."""
    ruleset = DEFAULT.changed(asked.ruleset)
    games = _games(asked.boards, ruleset)
    if not ends_after(Turn(1, black=True), games):
        return {"status": "in_progress"}
    settled = settle(ruleset, games, Seats(asked.time_ms.A, asked.time_ms.B))
    x, y, points = settled.games.X, settled.games.Y, settled.points
    answer: dict[str, Any] = {
        "status": settled.outcome.value,
        "outcome_X": x.outcome,
        "outcome_Y": y.outcome,
        "class_X": x.loss_class,
        "class_Y": y.loss_class,
        "points_X_for_A": x.points_for_A,
        "points_Y_for_A": y.points_for_A,
        "credit_for_A": settled.credit_for_A,
        "net_for_A": settled.net_for_A,
        "winner": settled.winner,
        "time_adjustment": settled.time_adjustment,
        "points_A": points.A,
        "points_B": points.B,
    }
    if asked.rating_before is not None:
        a, b = asked.rating_before
        answer["rating_after"] = [points_after(a, points.A, ruleset), points_after(b, points.B, ruleset)]
    return answer


def _price(asked: _ConcessionCase) -> dict[str, Any]:
    """The price of giving up (§8.1)."""
    ruleset = DEFAULT.changed(asked.ruleset)
    price = concession(
        ruleset, _games(asked.round_end, ruleset), _games(asked.phase_end, ruleset), asked.loser
    )
    return {"game": price.game.value, "points": price.points}


def _strength(asked: _Glicko) -> dict[str, Any]:
    """Glicko-2 after one period (§10.2)."""
    games = [(Strength(r, rd), result) for r, rd, result in asked.opponents]
    try:
        after = strength_after(Strength(asked.r, asked.rd, asked.vol), games, asked.tau)
    except ArithmeticError:
        raise Refused("bad-case", "No rating can be computed from these numbers.") from None
    return {"r": after.r, "rd": after.rd, "vol": after.vol}


def _start_ratings(asked: _Qualified) -> dict[str, Any]:
    """Start ratings after a qualifying and its order: rating, then less time, then lot, here the place (§12.1)."""
    if len(asked.points) != len(asked.total_ms):
        raise Refused("bad-case", "Each entrant has points and a time.")
    start = [asked.base + points for points in asked.points]
    order = sorted(range(len(start)), key=lambda i: (-start[i], asked.total_ms[i], i))
    return {"start": start, "order": order}


def _games(boards: _Boards, ruleset: Ruleset) -> Games[Position]:
    return Games(_position(boards.X, ruleset), _position(boards.Y, ruleset))


def _position(board: _Board, ruleset: Ruleset) -> Position:
    """A board as White sees it. Black's 24 is White's 1; in long nardy, where both run one way, White's 12 (§3.1)."""
    position = Position(_counts(board.white), _counts(board.black))
    for point in range(1, 25):
        facing = 25 - point if ruleset.variant == "short" else (point + 11) % 24 + 1
        if position.mine[facing] and position.theirs[point]:
            raise Refused("bad-position", f"Both sides stand on White's point {facing}.")
    return position


def _counts(asked: _Side) -> Side:
    counts = side(asked.p, bar=asked.bar)
    if counts[OFF] != asked.off:
        raise Refused("bad-position", "A side has fifteen checkers.")
    return counts


@contextlib.contextmanager
def _refusals(code: str) -> Iterator[None]:
    """What the form or the rules refuse is the answer's refusal; `code` is for a wrong form."""
    try:
        yield
    except RuleError as error:
        raise Refused(error.code, error.detail) from None
    except msgspec.ValidationError as error:
        raise Refused(code, f"{error}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused("bad-json", f"{error}.") from None
