"""Two entrants meet in a round: the matches they play, and what the meeting is worth to each (§12.3–12.6).

A meeting is one or several matches (a series, replays of a drawn knock-out, a match anew after a void one). Entrants
are known by their numbers in the competition, from 1; the computer is 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, NamedTuple

from engine.competition.settings import Series
from engine.scoring import Outcome, Score
from engine.turn import Seat, Seats

COMPUTER = 0
WIN, DRAW, LOSS = 2, 1, 0  # match points (§12.2)


class Ref(NamedTuple):
    """Where a meeting belongs: stage, round in the stage, table in the round, each from 1."""

    stage: int
    round: int
    table: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Who meets whom: `b` is None for a bye and COMPUTER in a qualifying.

    In an elimination `a` is the better seed and `slot` the place in the bracket. `zero`: a bye that is worth nothing.
    """

    a: int
    b: int | None
    group: int | None = None
    slot: str | None = None
    zero: bool = False

    @property
    def entrants(self) -> tuple[int, ...]:
        """The people of it."""
        return (self.a, self.b) if self.b else (self.a,)

    def other(self, entrant: int) -> int | None:
        """Whom this entrant meets."""
        return self.b if entrant == self.a else self.a


class Ending(StrEnum):
    """How a match of a competition ended. VOID counts for nothing, and another is played for it."""

    PLAYED = "played"
    NO_SHOW = "no-show"
    BOTH_ABSENT = "both-absent"
    VOID = "void"


class ServerEnds(StrEnum):
    """Why the server itself ends a match; it stands in the match's log where an arbiter's reason does."""

    NOT_WANTED = "not-wanted"  # decided otherwise, or its round or the competition is no more
    NO_SHOW = "no-show"
    ROUND_OVER = "round-over"


How = Literal["open", "played", "bye", "zero-bye", "forfeit", "both-absent", "ruled"]
ToldApart = Literal["less_time", "better_seed"]


@dataclass(frozen=True, slots=True)
class MatchResult:
    """What a match came to: settled points (§6–7), the net for A before time was assessed, charged ms, lost classes.

    `by` conceded, or never came. `objective_for_A` is None until the match is analysed (§6.4).
    """

    match: str
    ending: Ending
    points: Seats[int] = Seats(0, 0)
    net_for_A: int = 0
    time_ms: Seats[int] = Seats(0, 0)
    by: Seat | None = None
    classes: tuple[str | None, str | None] = (None, None)  # of the lost games X and Y
    rated: bool = False
    objective_for_A: float | None = None

    @classmethod
    def of(cls, match: str, score: Score) -> MatchResult:
        """The result of a match that has this score; who left before a first phase was played never came (§8.4)."""
        ending = Ending.PLAYED
        if score.outcome is Outcome.VOID:
            ending = Ending.VOID
        elif score.outcome is Outcome.ABORTED:
            ending = Ending.BOTH_ABSENT if score.by is None else Ending.NO_SHOW
        return cls(
            match,
            ending,
            score.points,
            score.net_for_A,
            score.time_ms,
            score.by,
            (score.games.X.loss_class, score.games.Y.loss_class),
            score.rated and ending is Ending.PLAYED,
        )


def match_id(competition: str, ref: Ref, number: int) -> str:
    """The id of the number-th match of a meeting: the same on every server, and good for the dice text (§9.2)."""
    return f"{competition}-S{ref.stage}R{ref.round}T{ref.table}M{number}"


def qualifying_dice_id(competition: str, board: int) -> str:
    """The one id that all matches of a board share in the dice text (§12.1)."""
    return f"{competition}-Q{board}"


def place_of(match: str) -> tuple[Ref, int] | None:
    """The meeting that a match id names, and the number of the match in it; None for any other text."""
    found = re.fullmatch(r".+-S([0-9]{1,4})R([0-9]{1,4})T([0-9]{1,6})M([0-9]{1,4})", match)
    if found is None:
        return None
    stage, round_, table, number = map(int, found.groups())
    return Ref(stage, round_, table), number


@dataclass(frozen=True, slots=True)
class Ruling:
    """An arbiter's decision of a whole meeting: net points for `a`, and who won it."""

    points_for_a: int
    winner: int | None
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What decides a meeting in its stage: the series, whether it needs a winner, what absence costs a match."""

    series: Series
    knock_out: bool
    absence_price: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a meeting is worth. Pairs of values are for the pair's `a` and `b`.

    `played`: at least one match was. `told_apart_by`: how a drawn knock-out was decided (§12.4).
    """

    how: How
    match_points: tuple[int, int] = (0, 0)
    points: tuple[int, int] = (0, 0)
    winner: int | None = None
    time_ms: tuple[int, int] = (0, 0)
    objective_for_a: tuple[float, ...] = ()  # of each match that is analysed
    analysed: int = 0
    analysable: int = 0
    played: bool = False
    told_apart_by: ToldApart | None = None

    @property
    def is_open(self) -> bool:
        """A match is still to be played."""
        return self.how == "open"


OPEN = Verdict("open")


@dataclass(frozen=True, slots=True)
class Meeting:
    """A pair, and what has come of it so far. `absent` never came, left, or were thrown out.

    `verdict` is what `judged` says of all the rest.
    """

    ref: Ref
    pair: Pair
    results: tuple[MatchResult, ...] = ()  # in the order of the matches; at most one for each
    absent: tuple[int, ...] = ()
    ruling: Ruling | None = None
    waiting_since: int = 0  # the match that is to be played now could begin here (ms)
    verdict: Verdict = OPEN

    @property
    def next_number(self) -> int:
        """The number of the match to be played next."""
        return len(self.results) + 1

    def seats(self, number: int) -> Seats[int | None]:
        """Who sits where in the number-th match: seats are exchanged from match to match (§12.4).

        Against the computer they are not: the shared seed of a qualifying is A's (§12.1).
        """
        a, b = self.pair.a, self.pair.b
        return Seats(b, a) if _exchanged(self.pair, number) else Seats(a, b)


def _exchanged(pair: Pair, number: int) -> bool:
    return number % 2 == 0 and pair.b != COMPUTER


class _Side(NamedTuple):
    """A played match, as the pair's `a` and `b` see it."""

    points: tuple[int, int]
    time_ms: tuple[int, int]
    objective_for_a: float | None


def _sides(meeting: Meeting) -> list[_Side]:
    sides = []
    for number, result in enumerate(meeting.results, 1):
        if result.ending is not Ending.PLAYED:
            continue
        points, time, objective = result.points, result.time_ms, result.objective_for_A
        if _exchanged(meeting.pair, number):
            negated = None if objective is None else -objective
            sides.append(_Side((points.B, points.A), (time.B, time.A), negated))
        else:
            sides.append(_Side((points.A, points.B), (time.A, time.B), objective))
    return sides


def absent_from(meeting: Meeting) -> tuple[int, ...]:
    """The entrants for whose absence the meeting ends here; empty while nobody is missed."""
    if meeting.absent:
        return meeting.absent
    for number, result in enumerate(meeting.results, 1):
        if result.ending is Ending.BOTH_ABSENT:
            return meeting.pair.entrants
        if result.ending is Ending.NO_SHOW and result.by is not None:
            missing = meeting.seats(number)[result.by]
            return (missing,) if missing else ()
    return ()


def judged(meeting: Meeting, terms: Terms) -> Verdict:
    """What the meeting is worth as it stands; a pure function of its results, absences and ruling."""
    pair = meeting.pair
    if pair.b is None:
        return Verdict("zero-bye") if pair.zero else Verdict("bye", (WIN, LOSS), winner=pair.a)
    sides = _sides(meeting)
    found = _by_play(pair, sides, terms)
    if meeting.ruling is not None:
        return _ruled(pair, meeting.ruling, found)
    absent = absent_from(meeting)
    return _forfeited(pair, absent, sides, terms, found) if found.is_open and absent else found


def _by_play(pair: Pair, sides: list[_Side], terms: Terms) -> Verdict:
    """What was played, and its winner if that is enough."""
    least = _length(sides, terms.series)
    known = [side.objective_for_a for side in sides if side.objective_for_a is not None]
    so_far = Verdict(
        "open",
        points=_total([side.points for side in sides]),
        time_ms=_total([side.time_ms for side in sides]),
        objective_for_a=tuple(known),
        analysed=len(known),
        analysable=len(sides),
        played=bool(sides),
    )
    if least is None:
        return so_far
    lead = _lead(sides[:least], terms.series)
    if lead or not terms.knock_out:
        return _decided(pair, so_far, "played", lead)
    if len(sides) == least:
        return so_far  # drawn, and to be replayed on new dice (§12.4)
    lead = sides[least].points[0] - sides[least].points[1]
    if lead:
        return _decided(pair, so_far, "played", lead)
    quicker = so_far.time_ms[1] - so_far.time_ms[0]
    return _decided(
        pair, so_far, "played", quicker or 1, told_apart_by="less_time" if quicker else "better_seed"
    )


def _length(sides: list[_Side], series: Series) -> int | None:
    """After how many matches the series is over; None while it goes on."""
    won = (0, 0)
    for number, side in enumerate(sides, 1):
        won = _total([won, _won(side)])
        if number == series.matches or (series.first_to is not None and max(won) >= series.first_to):
            return number
    return None


def _lead(sides: list[_Side], series: Series) -> int:
    a, b = _total([_won(side) if series.first_to else side.points for side in sides])
    return a - b


def _won(side: _Side) -> tuple[int, int]:
    return max(0, side.points[0]), max(0, side.points[1])


def _total(values: Iterable[tuple[int, int]]) -> tuple[int, int]:
    a = b = 0
    for x, y in values:
        a, b = a + x, b + y
    return a, b


def _decided(
    pair: Pair, so_far: Verdict, how: How, lead: int, *, told_apart_by: ToldApart | None = None
) -> Verdict:
    match_points = (WIN, LOSS) if lead > 0 else (LOSS, WIN) if lead < 0 else (DRAW, DRAW)
    winner = pair.a if lead > 0 else pair.b if lead < 0 else None
    return replace(so_far, how=how, match_points=match_points, winner=winner, told_apart_by=told_apart_by)


def _forfeited(
    pair: Pair, absent: tuple[int, ...], sides: list[_Side], terms: Terms, found: Verdict
) -> Verdict:
    """Each match still to be played costs the absent one the price of a no-show; both absent lose with 0 (§12.6)."""
    if len(absent) == 2:
        return replace(found, how="both-absent", match_points=(LOSS, LOSS), winner=None)
    gain = terms.absence_price if absent[0] == pair.b else -terms.absence_price
    rest: list[_Side] = []
    while not rest or _length(sides + rest, terms.series) is None:
        rest.append(_Side((gain, -gain), (0, 0), None))
    points = _total([found.points, *(side.points for side in rest)])
    return replace(_decided(pair, found, "forfeit", gain), points=points)


def _ruled(pair: Pair, ruling: Ruling, found: Verdict) -> Verdict:
    lead = 0 if ruling.winner is None else 1 if ruling.winner == pair.a else -1
    ruled = _decided(pair, found, "ruled", lead)
    return replace(ruled, points=(ruling.points_for_a, -ruling.points_for_a))
