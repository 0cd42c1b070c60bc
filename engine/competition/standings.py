"""Standings: who stands where, by which numbers, and from which meetings each number comes (§12.5, §12.6).

They are a pure function of what is decided, whatever the order in which it was decided. Nothing here is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.competition.competition import Competition, Round, RoundState, Stage, Status
from engine.competition.meeting import COMPUTER, Meeting, Ref, Verdict
from engine.competition.settings import Groups, RoundRobin

Number = int | float


@dataclass(frozen=True, slots=True)
class Line:
    """One round of one entrant: whom he met, how it went, what it was worth to him.

    `how`: as a Verdict's, or `missed`. `outcome`: win, draw, loss, or empty while the meeting is open.
    """

    ref: Ref | None  # None: he was not paired
    round: int
    opponent: int | None
    how: str
    outcome: str = ""
    match_points: int = 0
    points: int = 0
    time_ms: int = 0
    objective: tuple[float, ...] = ()
    analysed: int = 0
    analysable: int = 0
    played: bool = False

    @property
    def is_unplayed(self) -> bool:
        """A round that counts for opponents as a draw with one's own score (§12.5)."""
        return not self.played and self.how != "open"


@dataclass(frozen=True, slots=True)
class Part:
    """What one meeting, or one round without, adds to a number."""

    round: int | None
    opponent: int | None
    value: Number
    why: str = ""  # unplayed, cut, penalty; empty: a meeting


@dataclass(frozen=True, slots=True)
class Value:
    """One number by which places are told apart. None: it was not asked for, or says nothing here (`why`)."""

    name: str
    value: Number | None
    parts: tuple[Part, ...] = ()
    why: str = ""  # not-tied, not-all-met


@dataclass(frozen=True, slots=True)
class Row:
    """One entrant in a table: his place, the numbers in the order in which they decide, and what he did.

    `decided_by`: the first criterion that sets him apart from the one above him; None at the top.
    """

    entrant: int
    place: int
    values: tuple[Value, ...]
    decided_by: str | None
    came: bool
    played: int
    wins: int
    draws: int
    losses: int

    def value(self, name: str) -> Value:
        """The number of this name."""
        return next(value for value in self.values if value.name == name)


@dataclass(frozen=True, slots=True)
class Table:
    """A standing. While it is `provisional`, analyses that places hang on are missing: so many of so many are there."""

    rows: tuple[Row, ...]
    provisional: bool = False
    analysed: int = 0
    analysable: int = 0

    @property
    def order(self) -> tuple[int, ...]:
        """The entrants, best first."""
        return tuple(row.entrant for row in self.rows)


# ----------------------------------------------------------------------------------------------------------- lines


def lines_of(competition: Competition, stage: Stage) -> dict[int, tuple[Line, ...]]:
    """Every entrant of a stage with his rounds so far; of a qualifying nobody's until the round is closed (§5.4).

    In an all-play-all the meetings of one who has left with less than half played are annulled for both (§12.6).
    """
    found: dict[int, list[Line]] = {entrant: [] for entrant in stage.seeds}
    for round_ in stage.rounds:
        if not round_.has_started:
            continue
        if stage.rules.kind == "qualifying" and round_.state is not RoundState.CLOSED:
            continue
        verdicts = [(meeting, meeting.verdict) for meeting in round_.meetings]
        bye = _bye_points(competition, verdicts)
        paired = set()
        for meeting, decided in verdicts:
            for entrant in meeting.pair.entrants:
                paired.add(entrant)
                found.setdefault(entrant, []).append(_line(meeting, decided, entrant, bye))
        if stage.rules.kind in ("swiss", "qualifying"):
            for entrant in found.keys() - paired:
                found[entrant].append(_missed(stage, round_))
    annulled = annulled_in(competition, stage, found)
    return {
        entrant: tuple(line for line in lines if not annulled & {entrant, line.opponent})
        for entrant, lines in found.items()
    }


def _line(meeting: Meeting, decided: Verdict, entrant: int, bye: int) -> Line:
    side = 0 if entrant == meeting.pair.a else 1
    outcome = ""
    if not decided.is_open and decided.how != "zero-bye":
        lost = "loss" if decided.winner is not None or decided.how == "both-absent" else "draw"
        outcome = "win" if decided.winner == entrant else lost
    objective = decided.objective_for_a
    return Line(
        meeting.ref,
        meeting.ref.round,
        meeting.pair.other(entrant),
        decided.how,
        outcome,
        decided.match_points[side],
        bye if decided.how == "bye" else decided.points[side],
        decided.time_ms[side],
        objective if side == 0 else tuple(-value for value in objective),
        decided.analysed,
        decided.analysable,
        decided.played,
    )


def _missed(stage: Stage, round_: Round) -> Line:
    """A round without a pairing is worth nothing; a board of the qualifying never begun is conceded (§12.1, §12.6)."""
    price = stage.terms.absence_price if stage.rules.kind == "qualifying" else 0
    return Line(None, round_.number, None, "missed", "loss" if price else "", points=-price)


def _bye_points(competition: Competition, verdicts: Iterable[tuple[Meeting, Verdict]]) -> int:
    """The points of a bye: 0, or the median of what the winners of the round have won by play (§12.6).

    Of an even number the lower of the two in the middle.
    """
    if competition.settings.bye_points == "zero":
        return 0
    won = sorted(
        decided.points[0 if decided.winner == meeting.pair.a else 1]
        for meeting, decided in verdicts
        if decided.how == "played" and decided.winner is not None
    )
    return won[(len(won) - 1) // 2] if won else 0


def annulled_in(
    competition: Competition, stage: Stage, lines: Mapping[int, Collection[Line]]
) -> frozenset[int]:
    """Who has left an all-play-all with under half of his meetings played: they count for nobody (§12.6)."""
    if not isinstance(stage.rules, Groups | RoundRobin):
        return frozenset()
    groups = stage.groups or (stage.seeds,)
    left = (Status.WITHDRAWN, Status.BANNED)
    return frozenset(
        entrant
        for group in groups
        for entrant in group
        if competition.entrant(entrant).status in left
        and 2 * sum(line.played for line in lines[entrant]) < (len(group) - 1) * stage.rules.legs
    )


# --------------------------------------------------------------------------------------------------------- numbers


@dataclass(frozen=True, slots=True)
class _Field:
    """The entrants of one table, and the rounds of all in the stage."""

    competition: Competition
    stage: Stage
    lines: Mapping[int, Sequence[Line]]
    among: Collection[int]

    def scores(self) -> dict[int, int]:
        """Match points as won, of everybody in the stage: what opponents' numbers are made of."""
        return {entrant: sum(line.match_points for line in lines) for entrant, lines in self.lines.items()}


def _sum_of(field: _Field, name: str) -> dict[int, Value]:
    """Match points, points, objective results, wins or time, added up; penalties taken off."""

    def amount(line: Line) -> Number:
        match name:
            case "match_points":
                return line.match_points
            case "point_difference":
                return line.points
            case "objective_result":
                return math.fsum(line.objective)
            case "wins":
                return int(line.outcome == "win")
            case _:
                return line.time_ms

    found = {}
    for entrant in field.among:
        lines = field.lines[entrant]
        parts = [Part(line.round, line.opponent, amount(line)) for line in lines if line.how != "open"]
        for penalty in field.competition.penalties:
            taken = {"match_points": penalty.match_points, "point_difference": penalty.points}.get(name, 0)
            if taken and (penalty.entrant, penalty.stage) == (entrant, field.stage.number):
                parts.append(Part(None, None, -taken, "penalty"))
        if name == "objective_result":  # exactly rounded, so that no order of adding matters
            total: Number = math.fsum(value for line in lines for value in line.objective)
        else:
            total = sum(part.value for part in parts)
        found[entrant] = Value(name, total, tuple(parts))
    return found


def _buchholz(field: _Field) -> dict[int, Value]:
    """Opponents' match points without the lowest; an unplayed round counts as one's own score (§12.5)."""
    scores = field.scores()
    found = {}
    for entrant in field.among:
        lines = field.lines[entrant]
        parts = [
            Part(line.round, line.opponent, scores[entrant], "unplayed")
            if line.is_unplayed
            else Part(line.round, line.opponent, scores.get(line.opponent or COMPUTER, 0))
            for line in lines
            if line.how != "open"
        ]
        if parts:
            lowest = min(range(len(parts)), key=lambda number: parts[number].value)
            parts[lowest] = replace(parts[lowest], why="cut")
        total = sum(part.value for part in parts if part.why != "cut")
        found[entrant] = Value("buchholz_cut_1", total, tuple(parts))
    return found


def _sonneborn_berger(field: _Field) -> dict[int, Value]:
    """Match points of those beaten, and half of those drawn with; an unplayed round is a draw with oneself (§12.5)."""
    scores = field.scores()
    found = {}
    for entrant in field.among:
        lines = field.lines[entrant]
        parts = []
        for line in lines:
            if line.is_unplayed:
                parts.append(Part(line.round, line.opponent, scores[entrant] / 2, "unplayed"))
            elif line.how != "open":
                share = {"win": 1.0, "draw": 0.5}.get(line.outcome, 0.0)
                parts.append(
                    Part(line.round, line.opponent, share * scores.get(line.opponent or COMPUTER, 0))
                )
        found[entrant] = Value("sonneborn_berger", sum(part.value for part in parts), tuple(parts))
    return found


def _lots(field: _Field) -> dict[int, Value]:
    drawn = sorted(field.among, key=field.competition.lot)
    return {entrant: Value("lot", number) for number, entrant in enumerate(drawn, 1)}


def _direct(field: _Field, tied: Collection[int]) -> dict[int, Value]:
    """Match points against those with whom one is tied, if all of them have met (§12.5)."""
    among = {
        entrant: [
            line for line in field.lines[entrant] if line.opponent in tied and line.played and line.outcome
        ]
        for entrant in tied
    }
    if any(len({line.opponent for line in among[entrant]}) < len(tied) - 1 for entrant in tied):
        return {entrant: Value("direct_encounter", None, why="not-all-met") for entrant in tied}
    return {
        entrant: Value(
            "direct_encounter",
            sum(line.match_points for line in lines),
            tuple(Part(line.round, line.opponent, line.match_points) for line in lines),
        )
        for entrant, lines in among.items()
    }


_SMALLER_IS_BETTER = ("less_time", "lot")


# --------------------------------------------------------------------------------------------------------- ranking


def table_of(
    competition: Competition,
    stage: Stage,
    lines: Mapping[int, Sequence[Line]],
    among: Collection[int],
    criteria: Sequence[str],
) -> Table:
    """The standing of some entrants of a stage by these criteria; the last is the lot, so no two are level."""
    field = _Field(competition, stage, lines, among)
    numbers: dict[str, Callable[[_Field], dict[int, Value]]] = {
        "buchholz_cut_1": _buchholz,
        "sonneborn_berger": _sonneborn_berger,
        "lot": _lots,
    }
    values = {
        name: numbers[name](field) if name in numbers else _sum_of(field, name)
        for name in criteria
        if name != "direct_encounter"
    }
    ranking = _Ranking(field, criteria, values)
    for entrants in _came_first(field, among):
        ranking.rank(entrants, 0, "never-played")
    seen = {line.ref: line for entrant in among for line in lines[entrant]}.values()
    analysed, analysable = sum(line.analysed for line in seen), sum(line.analysable for line in seen)
    return Table(tuple(ranking.rows), ranking.provisional, analysed, analysable)


def _came_first(field: _Field, among: Collection[int]) -> tuple[list[int], list[int]]:
    there = [entrant for entrant in among if _has_come(field, entrant)]
    return there, [entrant for entrant in among if entrant not in there]


def _has_come(field: _Field, entrant: int) -> bool:
    """He has played, or was there in vain; or has not been missed yet (§12.6: who never played ranks last)."""
    lines = field.lines[entrant]
    if any(
        line.played or line.how == "open" or (line.how == "forfeit" and line.outcome == "win")
        for line in lines
    ):
        return True
    missed = any(line.how in ("forfeit", "both-absent", "missed", "zero-bye") for line in lines)
    return not missed and field.competition.entrant(entrant).plays


class _Ranking:
    """Tells entrants apart by one criterion after the other, and keeps what decided."""

    def __init__(
        self, field: _Field, criteria: Sequence[str], values: Mapping[str, Mapping[int, Value]]
    ) -> None:
        self.field = field
        self.criteria = criteria
        self.values = values
        self.direct: dict[int, Value] = {}
        self.rows: list[Row] = []
        self.provisional = False

    def rank(self, tied: Sequence[int], level: int, decided_by: str) -> None:
        """Adds rows for these, who are level in all criteria above; the first of them is set apart by `decided_by`."""
        if len(tied) == 1:
            self._add(tied[0], decided_by)
            return
        if not tied:
            return
        name = self.criteria[level]
        found = self._numbers(name, tied)
        by_number: dict[Number, list[int]] = {}
        for entrant in tied:
            number = found[entrant].value or 0
            by_number.setdefault(-number if name in _SMALLER_IS_BETTER else number, []).append(entrant)
        for number in sorted(by_number, reverse=True):
            self.rank(by_number[number], level + 1, decided_by)
            decided_by = name

    def _numbers(self, name: str, tied: Sequence[int]) -> Mapping[int, Value]:
        if name == "direct_encounter":
            found = _direct(self.field, tied)
            self.direct |= found
            return found
        if name == "objective_result":
            lines = [line for entrant in tied for line in self.field.lines[entrant]]
            self.provisional |= any(line.analysed < line.analysable for line in lines)
        return self.values[name]

    def _add(self, entrant: int, decided_by: str) -> None:
        lines = self.field.lines[entrant]
        not_tied = Value("direct_encounter", None, why="not-tied")
        self.rows.append(
            Row(
                entrant,
                len(self.rows) + 1,
                tuple(
                    self.direct.get(entrant, not_tied)
                    if name == "direct_encounter"
                    else self.values[name][entrant]
                    for name in self.criteria
                ),
                decided_by if self.rows else None,
                _has_come(self.field, entrant),
                sum(line.played for line in lines),
                *(sum(line.outcome == kind for line in lines) for kind in ("win", "draw", "loss")),
            )
        )


def cross_table(
    table: Table, lines: Mapping[int, Sequence[Line]]
) -> tuple[tuple[tuple[Line, ...], ...], ...]:
    """For each entrant of a table, in its order, what he did against each, in the same order."""
    return tuple(
        tuple(tuple(line for line in lines[one] if line.opponent == other) for other in table.order)
        for one in table.order
    )
