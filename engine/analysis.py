"""What each decision of a finished match was worth, and each roll: errors, luck, the objective result (§6.4).

The strong judgement comes from outside, as an Evaluator. Work goes phase by phase: `turn_judged` is one small item,
`work` the items that are still to be done, `analysed` the whole from all of them, which asks nobody any more.
An equity is in points, 1, 2 or 3 a game, without a cube; positive favours the side that it is seen by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import fsum
from typing import Any, NamedTuple, Protocol

from engine.dice import Roll
from engine.match import Match, PhasePlayed
from engine.position import CHECKERS, OFF, Position
from engine.ruleset import Ruleset
from engine.scoring import CLASS_POINTS, Outcome, game_outcome
from engine.turn import FIRST_TURN, Color, Game, Games, Phase, Seat, Seats, Turn, game_of, player_of
from engine.variant import SHORT, VARIANTS, Variant

FORMAT = "nardy-analysis/1"  # of `Analysis.to_plain` as it is kept and sent

# Grades by the equity that a play gives away (points): below this it is …
FINE = 0.02
DOUBTFUL = 0.05
MISTAKE = 0.1
GRADES = ("fine", "doubtful", "mistake", "blunder")

BETTER = 3  # of the plays better than the one made, so many are named
# The plays looked at more closely: no further than this (points) from the best at first sight, and so many at most
CLOSE = 0.16
CLOSEST = 8


class Chances(NamedTuple):
    """How a game may end, seen by one side. `win` is any win, `mars` mars or koks; a tie is half a win."""

    win: float
    mars: float
    koks: float
    lost_mars: float
    lost_koks: float

    @property
    def equity(self) -> float:
        """The mean of the points won or lost: 1 for ойн, 2 for марс, 3 for кокс (§2.4)."""
        return 2 * self.win - 1 + self.mars + self.koks - self.lost_mars - self.lost_koks


class Evaluator(Protocol):
    """A strong program that knows how a game is likely to end. Name and version say which."""

    @property
    def name(self) -> str:
        """What the players read."""

    @property
    def version(self) -> str:
        """Changes whenever any number could."""

    def chances(self, positions: Sequence[Position]) -> Sequence[Chances]:
        """One answer for each position, in order, each seen by the side that has just played: the other is to roll.

        A pure function of each position. Nobody has borne off all fifteen in any of them.
        """


@dataclass(frozen=True, slots=True)
class Judge:
    """Who judges: `rolls` gives W of §6.4 and the equity of unfinished games, `plays` looks closer at what was played.

    Luck asks for the best play of every roll that could have come, hundreds of positions for each decision: there a
    quick evaluator does, and costs nothing but spread. Without `plays` it judges the plays too.
    """

    rolls: Evaluator
    plays: Evaluator | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Name and version of each of them."""
        both = (self.rolls, *([self.plays] if self.plays else []))
        return tuple(f"{evaluator.name} {evaluator.version}" for evaluator in both)


# ---------------------------------------------------------------------------------------------- what was played


@dataclass(frozen=True, slots=True)
class Conceded:
    """A game that was given up, and what it counts for A (points)."""

    game: Game
    points_for_A: int


@dataclass(frozen=True, slots=True)
class Played:
    """A match that is over, as far as its analysis goes. Games are as White sees them."""

    variant: Variant
    opening_double: bool  # whether the first roll could be one (§2.5)
    phases: tuple[PhasePlayed, ...]  # those that both have played; the open one counts for nobody (§8.1)
    outcome: Outcome
    conceded: Conceded | None
    parted: int | None  # the round in which the games parted

    def games_before(self, index: int) -> Games[Position]:
        """The two games before the phase with this place in `phases`."""
        if index:
            return self.phases[index - 1].games
        return Games(self.variant.opening(), self.variant.opening())

    @property
    def rounds(self) -> int:
        """How many rounds were finished."""
        return len(self.phases) // 2


def is_analysable(ruleset: Ruleset, outcome: Outcome) -> bool:
    """Whether a match that ended so can be analysed: judges know short nardy alone, and it must count (§6.4)."""
    return ruleset.variant == SHORT.key and outcome not in (Outcome.VOID, Outcome.ABORTED)


def played(match: Match) -> Played:
    """What is analysed of a match that is over."""
    score = match.score
    assert score is not None, "the match goes on"
    conceded = None
    for game in Game:
        lost = score.games[game]
        if lost.outcome == "C" and lost.loss_class is not None:
            points = CLASS_POINTS[lost.loss_class]
            conceded = Conceded(game, points if lost.winner is Seat.A else -points)
    return Played(
        VARIANTS[match.ruleset.variant],
        match.ruleset.opening_double_allowed,
        match.history,
        score.outcome,
        conceded,
        match.parted,
    )


# ----------------------------------------------------------------------------------------------- what it was worth


@dataclass(frozen=True, slots=True)
class Better:
    """A play that would have been better than the one made."""

    play: str
    equity: float


@dataclass(frozen=True, slots=True)
class Half:
    """One player's half of a phase, judged; every equity is seen by the player himself.

    `kind` is `choice`, `forced` (one legal play), `pass` (none) or `missed` (a play never made, §8.2). `loss` and
    `grade` are of the play; a grade has only what was chosen. `luck` is that of the roll, `mean` the mean of W over
    all rolls then possible, `value` the equity after the play by the evaluator of rolls, `equity` the same by that
    of plays; `win` the chance to win the game then.
    """

    seat: Seat
    game: Game
    play: str
    kind: str
    loss: float
    grade: str | None
    better: tuple[Better, ...]
    equity: float
    value: float
    win: float
    luck: float
    mean: float


@dataclass(frozen=True, slots=True)
class TurnJudged:
    """One phase, judged."""

    turn: Turn
    roll: Roll
    halves: Seats[Half]

    def to_plain(self) -> dict[str, Any]:
        """As JSON holds it; `from_plain` gives the same back, to the last digit."""
        return {
            "turn": str(self.turn),
            "roll": [self.roll.first, self.roll.second],
            **{seat.value: _plain_half(self.halves[seat]) for seat in Seat},
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> TurnJudged:
        turn = Turn.parse(plain["turn"])
        assert turn is not None
        return cls(turn, Roll(*plain["roll"]), Seats(*(_half(plain[seat.value], seat) for seat in Seat)))


def _plain_half(half: Half) -> dict[str, Any]:
    plain = asdict(half)
    del plain["seat"]
    return {**plain, "game": half.game.value, "better": list(plain["better"])}


def _half(plain: Mapping[str, Any], seat: Seat) -> Half:
    better = tuple(Better(**play) for play in plain["better"])
    return Half(**{**plain, "seat": seat, "game": Game(plain["game"]), "better": better})


_NO_PLAYS: tuple[Better, ...] = ()


def grade_of(loss: float) -> str:
    """What a play is called that gives away so much equity (points)."""
    return GRADES[sum(loss >= least for least in (FINE, DOUBTFUL, MISTAKE))]


# -------------------------------------------------------------------------------------------------- rolls and values


def possible_rolls(turn: Turn, *, opening_double: bool) -> tuple[tuple[Roll, int], ...]:
    """The rolls that a turn could have had, each with its chances: 36 in all, 30 of a re-rolled opening (§2.5)."""
    doubles = opening_double or turn != FIRST_TURN
    return tuple(
        (Roll(high, low), 1 if high == low else 2)
        for high in range(1, 7)
        for low in range(1, high + (1 if doubles else 0))
    )


_ANY_ROLL = possible_rolls(FIRST_TURN, opening_double=True)


def _certain(points: float) -> Chances:
    """The chances of a game that has ended with so many points for the side that sees it."""
    if not points:
        return Chances(0.5, 0, 0, 0, 0)
    return Chances(*map(float, (points > 0, points > 1, points > 2, points < -1, points < -2)))


def settled(variant: Variant, position: Position, phase: Phase) -> Chances | None:
    """What is known for certain of a game, seen by the side that has just played in this phase; None if it goes on.

    Black finishing in phase K ends the game, and so does the last move, whatever it is: a tie where both are off
    (§4.3). When White has finished in phase W, Black has the last move still to come, and makes the best of each
    roll: so the value of such a position is a mean over 36 rolls, exact as well.
    """
    mine_off, theirs_off = position.mine[OFF] == CHECKERS, position.theirs[OFF] == CHECKERS
    if not mine_off and not theirs_off:
        return None
    if phase is Phase.K:
        if mine_off and theirs_off:
            return _certain(0)
        loser = position.theirs if mine_off else position.mine
        points = CLASS_POINTS[variant.loss_class(loser)]
        return _certain(points if mine_off else -points)
    return _before_last_move(variant, position)


@lru_cache(maxsize=4096)
def _before_last_move(variant: Variant, position: Position) -> Chances:
    """The chances of White, who has borne off all, while Black has the last move to come."""
    black, rules = position.turned(), variant.rules
    assert rules is not None
    sums = [0.0] * len(Chances._fields)
    for roll, weight in _ANY_ROLL:
        ends = (settled(variant, end, Phase.K) for end in rules.results(black, roll))
        best = max((end for end in ends if end is not None), key=lambda chances: chances.equity)
        seen = (1 - best.win, best.lost_mars, best.lost_koks, best.mars, best.koks)
        sums = [total + weight * chance for total, chance in zip(sums, seen, strict=True)]
    return Chances(*(total / 36 for total in sums))


class _Values:
    """The chances after plays of one phase: certain ones by the rules, the others from an evaluator, asked once."""

    def __init__(self, variant: Variant, phase: Phase, evaluator: Evaluator) -> None:
        self._variant, self._phase, self._evaluator = variant, phase, evaluator
        self._open: dict[Position, None] = {}
        self._known: dict[Position, Chances] = {}
        self._equities: dict[Position, float] = {}

    def gather(self, *positions: Position) -> None:
        """Notes what will be asked for."""
        self._open.update(dict.fromkeys(positions))

    def ask(self) -> None:
        """Finds the chances of all that was gathered."""
        unknown = []
        for position in self._open:
            certain = settled(self._variant, position, self._phase)
            if certain is None:
                unknown.append(position)
            else:
                self._known[position] = certain
        if unknown:
            self._known.update(zip(unknown, self._evaluator.chances(unknown), strict=True))
        self._equities = {position: chances.equity for position, chances in self._known.items()}

    def chances(self, position: Position) -> Chances:
        return self._known[position]

    def equity(self, position: Position) -> float:
        return self._equities[position]


class _Table(NamedTuple):
    """Where every roll that was possible could have led from a position."""

    before: Position
    rolls: dict[Roll, int]  # by the larger die and the smaller, each with its chances
    ends: dict[Roll, tuple[Position, ...]]

    def of(self, roll: Roll) -> tuple[Position, ...]:
        """Where the legal plays of this one end."""
        return self.ends[Roll(roll.high, roll.low)]


class Outlook(NamedTuple):
    """W of every roll that a position could have got, with its chances, and their mean (§6.4)."""

    worth: dict[Roll, float]  # by the larger die and the smaller
    mean: float

    def luck(self, roll: Roll) -> float:
        """How much better this roll is than the mean of all. The mean of the luck of all rolls is zero."""
        return self.worth[Roll(roll.high, roll.low)] - self.mean


# ------------------------------------------------------------------------------------------------------ the work


def work(match: Played, judge: Judge, done: int = 0) -> Iterator[TurnJudged]:
    """The phases judged, in order, after so many that are done already. All of them are `len(match.phases)`."""
    for index in range(done, len(match.phases)):
        yield turn_judged(match, index, judge)


def turn_judged(match: Played, index: int, judge: Judge) -> TurnJudged:
    """One phase with both its plays: what they gave away, and what the roll gave (§6.4).

    The positions after every play of every roll are asked for in one call: some hundreds, fewer at the end of a game.
    Both halves are asked for at once, and equal positions once: equal play gives equal numbers.
    """
    phase = match.phases[index]
    kind = phase.turn.phase
    tables = Seats(*(_table(match, index, seat) for seat in Seat))
    made = Seats(*(_seen(phase.games[game_of(seat, kind)], kind) for seat in Seat))
    values = _Values(match.variant, kind, judge.rolls)
    for seat in Seat:
        values.gather(made[seat])  # a play never made leaves what no play would
        values.gather(*(end for ends in tables[seat].ends.values() for end in ends))
    values.ask()
    chosen = {seat: tables[seat].of(phase.roll) for seat in Seat if phase.plays[seat].kind == "play"}
    near = {seat: _closest(ends, made[seat], values) for seat, ends in chosen.items() if len(ends) > 1}
    closer = values
    if judge.plays is not None:
        closer = _Values(match.variant, kind, judge.plays)
        closer.gather(*(end for ends in near.values() for end in ends))
        closer.ask()

    def half(seat: Seat) -> Half:
        end, seen = made[seat], _outlook(tables[seat], values)
        played_kind, loss, better = phase.plays[seat].kind, 0.0, _NO_PLAYS
        if seat in near:
            played_kind = "choice"
            loss, better = _loss(match.variant, tables[seat].before, phase.roll, end, near[seat], closer)
        elif played_kind == "play":
            played_kind = "forced"
        elif played_kind == "missed":
            loss = max(map(values.equity, tables[seat].of(phase.roll))) - values.equity(end)
        scale = closer if seat in near else values
        return Half(
            seat=seat,
            game=game_of(seat, kind),
            play=phase.plays[seat].text,
            kind=played_kind,
            loss=loss,
            grade=grade_of(loss) if played_kind == "choice" else None,
            better=better,
            equity=scale.equity(end),
            value=values.equity(end),
            win=scale.chances(end).win,
            luck=seen.luck(phase.roll),
            mean=seen.mean,
        )

    return TurnJudged(phase.turn, phase.roll, Seats(half(Seat.A), half(Seat.B)))


def outlook(match: Played, index: int, seat: Seat, evaluator: Evaluator) -> Outlook:
    """W of all rolls that this seat could have got in the phase with this place (§6.4)."""
    table = _table(match, index, seat)
    values = _Values(match.variant, match.phases[index].turn.phase, evaluator)
    values.gather(*(end for ends in table.ends.values() for end in ends))
    values.ask()
    return _outlook(table, values)


def _table(match: Played, index: int, seat: Seat) -> _Table:
    turn, rules = match.phases[index].turn, match.variant.rules
    assert rules is not None
    before = _seen(match.games_before(index)[game_of(seat, turn.phase)], turn.phase)
    rolls = dict(possible_rolls(turn, opening_double=match.opening_double))
    return _Table(before, rolls, {roll: rules.results(before, roll) for roll in rolls})


def _seen(game: Position, phase: Phase) -> Position:
    """A game as the side sees it that plays in this phase."""
    return game.turned() if phase is Phase.K else game


def _outlook(table: _Table, values: _Values) -> Outlook:
    worth = {roll: max(map(values.equity, ends)) for roll, ends in table.ends.items()}
    mean = sum(weight * worth[roll] for roll, weight in table.rolls.items()) / sum(table.rolls.values())
    return Outlook(worth, mean)


def _closest(ends: Sequence[Position], made: Position, values: _Values) -> list[Position]:
    """The plays worth a closer look, best at first sight first; the one made is among them."""
    ranked = sorted(ends, key=values.equity, reverse=True)
    best = values.equity(ranked[0])
    near = [end for end in ranked[:CLOSEST] if best - values.equity(end) <= CLOSE]
    return near if made in near else [*near, made]


def _loss(
    variant: Variant, before: Position, roll: Roll, made: Position, near: Sequence[Position], values: _Values
) -> tuple[float, tuple[Better, ...]]:
    """What a play gave away against the best, and the plays that are better, best first."""
    own = values.equity(made)
    ranked = sorted((end for end in near if values.equity(end) > own), key=values.equity, reverse=True)
    if not ranked:
        return 0.0, _NO_PLAYS
    rules = variant.rules
    assert rules is not None
    written = dict(zip(rules.results(before, roll), map(str, rules.legal_plays(before, roll)), strict=True))
    better = tuple(Better(written[end], values.equity(end)) for end in ranked[:BETTER])
    return values.equity(ranked[0]) - own, better


# ------------------------------------------------------------------------------------------------------ the whole


@dataclass(frozen=True, slots=True)
class Summary:
    """One player's match: unforced decisions, what they gave away in all (points), and the luck of his rolls."""

    decisions: int
    loss: float
    grades: Mapping[str, int]
    luck: float

    @property
    def error_rate(self) -> float | None:
        """Mean loss of an unforced decision (points); None where there was none."""
        return self.loss / self.decisions if self.decisions else None


@dataclass(frozen=True, slots=True)
class Analysis:
    """A whole match, judged. Amounts "for A" are positive when they favour the player in seat A."""

    judges: tuple[str, ...]
    turns: tuple[TurnJudged, ...]
    players: Seats[Summary]
    luck_for_A: float  # L of §6.4
    result_for_A: float  # E of §6.4
    objective_for_A: float | None  # E − L; None where the match counts for nothing
    parted: int | None

    def to_plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "judges": list(self.judges),
            "players": {
                seat.value: {**asdict(self.players[seat]), "error_rate": self.players[seat].error_rate}
                for seat in Seat
            },
            "luck_for_A": self.luck_for_A,
            "result_for_A": self.result_for_A,
            "objective_for_A": self.objective_for_A,
            "parted": self.parted,
            "turns": [turn.to_plain() for turn in self.turns],
        }


def analysed(match: Played, turns: Sequence[TurnJudged], judges: Sequence[str] = ()) -> Analysis:
    """The whole from its judged phases: error rates, luck, and the objective result E − L (§6.4).

    E has ±1, 2 or 3 for each game that is finished, 0 for a tie, and the equity of an unfinished one at the last
    round's end. L has the luck of every roll on each board up to the place at which E takes its value: so in a match
    played to its end, all of it. Each term has mean zero by the dice alone, so E − L expects what E does.

    The roll of the last move is luck like any other. With White off, W(r) is the value that the best play of r makes
    final: a tie, or less lost. For White's own roll that takes the last checker, W(r) is the mean of that over Black's
    36 rolls, and no evaluator is asked. On the other board that last phase is an ordinary one.

    A match given up (§8.1) has one game conceded: it counts as finished, with the class that was paid for, and the
    luck of every finished phase. The other game is unfinished. In any other early end (§8.5, §8.6) both are, and
    luck after the last round's end is left out with the half round that it belongs to. The open phase counts for
    nobody, its roll neither. An aborted or void match has no objective result.
    """
    assert len(turns) == len(match.phases), "some phases are still to be judged"
    summaries = Seats(*(_summary(match, turns, seat) for seat in Seat))
    luck = summaries.A.luck - summaries.B.luck
    result = sum(_value_for_a(match, turns, game) for game in Game)
    counts = match.outcome not in (Outcome.VOID, Outcome.ABORTED)
    return Analysis(
        tuple(judges),
        tuple(turns),
        summaries,
        luck,
        result,
        result - luck if counts else None,
        match.parted,
    )


def _summary(match: Played, turns: Sequence[TurnJudged], seat: Seat) -> Summary:
    halves = [turn.halves[seat] for turn in turns]
    chosen = [half for half in halves if half.kind == "choice"]
    grades = {grade: sum(half.grade == grade for half in chosen) for grade in GRADES}
    luck = fsum(turn.halves[seat].luck for turn in turns if _counts(match, turn.turn, turn.halves[seat].game))
    return Summary(len(chosen), fsum(half.loss for half in chosen), grades, luck)


def _counts(match: Played, turn: Turn, game: Game) -> bool:
    """Whether the luck of a turn is luck on the way to this game's value in E."""
    if match.conceded is not None and match.conceded.game is game:
        return True
    return turn.round <= match.rounds


def _value_for_a(match: Played, turns: Sequence[TurnJudged], game: Game) -> float:
    """One game's part in E."""
    if match.conceded is not None and match.conceded.game is game:
        return match.conceded.points_for_A
    white = player_of(game, Color.WHITE)
    if not match.rounds:  # nothing but the first roll's phase, if that: still at the start
        mean = turns[0].halves[white].mean if turns else 0.0
        return mean if white is Seat.A else -mean
    last = 2 * match.rounds - 1
    position = match.phases[last].games[game]
    outcome = game_outcome(position)
    if outcome == "-":
        value = turns[last].halves[white.other].value  # Black has just played
        return value if white is Seat.B else -value
    if outcome == "T":
        return 0
    points = CLASS_POINTS[match.variant.loss_class(position.theirs if outcome == "W" else position.mine)]
    winner = player_of(game, Color.WHITE if outcome == "W" else Color.BLACK)
    return points if winner is Seat.A else -points
