"""Plays an objective record through again: are its plays legal, its dice as promised, its figures what they come to?

What is wrong is a Problem with its place in the record; `reader` turns that into a line and a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.dice import DiceSeeds, Roll, commitment, is_client_seed, roll_for
from engine.errors import BadRuleset, RuleError
from engine.match import ends_after
from engine.plays import Move
from engine.position import CHECKERS, OFF, Position
from engine.records.half import Half, Unfit, fitted, is_as_written, is_legal
from engine.records.objective.record import (
    Line,
    Record,
    Result,
    game_text,
    roll_of,
    ruleset_of,
)
from engine.records.wanted import Wanted, phrase
from engine.ruleset import Ruleset
from engine.scoring import (
    Outcome,
    Score,
    concession,
    settle,
    settle_adjudicated,
    settle_agreed,
    settle_concession,
    settle_for_nothing,
)
from engine.turn import FIRST_TURN, Game, Games, Phase, Seat, Seats, Turn, game_of
from engine.variant import VARIANTS, PlayRules

CONCEDED = (Outcome.RESIGNED, Outcome.TIME, Outcome.ABANDONED)
ROLLS = tuple(Roll(high, low) for high in range(6, 0, -1) for low in range(high, 0, -1))


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a record: a tag by its name, `result`, or a line by its index with a seat or its dice (None)."""

    tag: str | None = None
    line: int | None = None
    seat: Seat | None = None


RESULT = Place(tag="result")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong or doubtful at a place: what stands there, and what was expected."""

    place: Place
    code: str
    text: str
    expected: Wanted
    message: str


class Mismatch(RuleError):
    """The record contradicts the rules, its dice or itself; at least one problem."""

    code = "record-mismatch"

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].message, problem=problems[0].code)
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class PhaseReplayed:
    """A finished phase: its line, and the two games after it, as White sees them."""

    turn: Turn
    line: Line
    games: Games[Position]


@dataclass(frozen=True, slots=True)
class Replayed:
    """A record that was played through: its canonical form, and everything that follows from it.

    `phases` are the finished ones; `score` is None where the record does not say how the match ended. `checked` names
    what its figures were compared with: plays, dice, points, times.
    """

    record: Record
    ruleset: Ruleset
    phases: tuple[PhaseReplayed, ...]
    games: Games[Position]
    parted: int | None
    score: Score | None
    checked: tuple[str, ...]
    notes: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """Where a replay stands: before the line of `turn`."""

    turn: Turn
    games: Games[Position]
    round_end: Games[Position]
    parted: int | None = None
    is_over: bool = False  # by the rules (§4.3)
    is_cut: bool = False  # in a phase that somebody never played

    @property
    def is_last_move(self) -> bool:
        """A White side is off, and this phase K is only Black's last move (§4.2)."""
        return self.turn.black and any(self.games[game].mine[OFF] == CHECKERS for game in Game)

    def position_for(self, seat: Seat) -> Position:
        """What this seat sees when it is to play."""
        position = self.games[game_of(seat, self.turn.phase)]
        return position.turned() if self.turn.phase is Phase.K else position


class Wrong(Exception):
    """The replay cannot go on from here."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Replay:
    """Plays lines through one after the other, under the settings and seeds of a record's tags."""

    def __init__(self, tags: Mapping[str, str]) -> None:
        """Raises Mismatch for settings or seeds that no match could have."""
        self.tags = tags
        try:
            self.ruleset = ruleset_of(tags)
        except BadRuleset as error:
            tag = next((name for name in ("RulesetJson", "Ruleset", "Variant") if name in tags), "Ruleset")
            raise Mismatch(
                [_problem(tag, "bad-ruleset", tags.get(tag, ""), phrase("ruleset"), error.detail)]
            ) from None
        variant = VARIANTS[self.ruleset.variant]
        if variant.rules is None:
            words = f"{variant.key} nardy cannot be played through here."
            tag = "Variant" if "Variant" in tags else "Ruleset"
            raise Mismatch([_problem(tag, "variant", tags.get(tag, ""), "short", words)])
        self.rules: PlayRules = variant.rules
        opening = Games(variant.opening(), variant.opening())
        self.start = State(FIRST_TURN, opening, opening)
        self.seeds = _seeds(tags)

    # -------------------------------------------------------------------------------------------------- one line

    def line(self, state: State, index: int, written: Line) -> tuple[State, Line, tuple[Problem, ...]]:
        """The line as it is to be written, and where the match stands after it. Raises Wrong."""
        if state.is_over or state.is_cut:
            words = (
                "The match was over before this line."
                if state.is_over
                else "A play before this line was never made."
            )
            raise Wrong(Problem(Place(line=index), "after-the-end", "", phrase("result"), words))
        roll = self._roll(state, index, written)
        a, b = written.halves.A, written.halves.B
        is_cut = "missed" in (a.kind, b.kind) and not (state.is_last_move and self._counts_last_move)
        is_known = True
        if roll is None:
            roll, is_known = self._roll_of_plays(state, index, written)
        halves = []
        notes: list[Problem] = []
        games = state.games
        for seat in Seat:
            half, found = self._half(state, index, seat, roll, written.halves[seat])
            halves.append(half if is_known else replace(half, dice=()))
            notes += found
            if not is_cut:
                game = game_of(seat, state.turn.phase)
                moves = [Move(*hop, 0, False) for hop in half.hops]
                after = self.rules.after(state.position_for(seat), moves)
                games = games.with_(game, after.turned() if state.turn.black else after)
        line = Line(roll if is_known else None, Seats(*halves))
        if is_cut:
            return replace(state, is_cut=True), line, tuple(notes)
        return self._after(state, games), line, tuple(notes)

    @property
    def _counts_last_move(self) -> bool:
        """A last move that is not made is passed (§8.2), unless the match ended otherwise in that phase."""
        return self.tags.get("Outcome", "finished") == "finished"

    def _after(self, state: State, games: Games[Position]) -> State:
        parted = state.parted
        if parted is None and games.X != games.Y:
            parted = state.turn.round
        return State(
            state.turn.next(),
            games,
            games if state.turn.black else state.round_end,
            parted,
            ends_after(state.turn, games),
        )

    def _roll(self, state: State, index: int, written: Line) -> Roll | None:
        """The roll of this line: as it says, and as the seeds give it. Raises Wrong."""
        roll = written.roll
        if (
            roll is not None
            and roll.is_double
            and state.turn == FIRST_TURN
            and not self.ruleset.opening_double_allowed
        ):
            words = f"The opening roll is never a double in these rules, but {roll} stands here."
            raise Wrong(
                Problem(Place(line=index), "opening-double", _dice(roll), phrase("different-dice"), words)
            )
        if self.seeds is None:
            return roll
        drawn = roll_for(self.seeds, state.turn, opening_double=self.ruleset.opening_double_allowed)
        drawn = roll_of(drawn.first, drawn.second)
        if roll is not None and roll != drawn:
            words = f"The seeds give {drawn} in turn {state.turn}, but {roll} stands here."
            raise Wrong(Problem(Place(line=index), "wrong-dice", _dice(roll), _dice(drawn), words))
        return drawn

    def _roll_of_plays(self, state: State, index: int, written: Line) -> tuple[Roll, bool]:
        """A roll that both plays can be of, and whether it is the only one. Raises Wrong.

        As they are written, a move a die; only where no roll fits so, over several dice at once.
        """
        made = [seat for seat in Seat if written.halves[seat].kind != "missed"]
        for fits in (is_as_written, is_legal):
            fitting = list(self._rolls(state))
            for seat in made:
                before, half = state.position_for(seat), written.halves[seat]
                fitting = [roll for roll in fitting if fits(self.rules, before, roll, half)]
            if fitting:
                return fitting[0], len(fitting) == 1
        for seat in made:  # which of the two is to blame
            before, half = state.position_for(seat), written.halves[seat]
            if not any(is_legal(self.rules, before, roll, half) for roll in self._rolls(state)):
                words = f"No roll allows {half.play} here."
                raise Wrong(
                    Problem(
                        Place(line=index, seat=seat), "illegal-play", half.play, phrase("legal-play"), words
                    )
                )
        words = "No roll allows both these plays, and both are of one roll."
        raise Wrong(Problem(Place(line=index, seat=Seat.B), "no-shared-roll", "", phrase("one-roll"), words))

    def _rolls(self, state: State) -> Iterator[Roll]:
        for roll in ROLLS:
            if roll.is_double and state.turn == FIRST_TURN and not self.ruleset.opening_double_allowed:
                continue
            yield roll

    def _half(
        self, state: State, index: int, seat: Seat, roll: Roll, written: Half
    ) -> tuple[Half, list[Problem]]:
        """A player's half of a line as it is to be written, and what in it was written otherwise. Raises Wrong."""
        if written.kind == "missed":
            return Half("missed", tenths=written.tenths), []
        place = Place(line=index, seat=seat)
        try:
            half, doubt = fitted(self.rules, state.position_for(seat), roll, written)
        except Unfit as unfit:
            raise Wrong(Problem(place, unfit.code, written.play, unfit.expected, unfit.message)) from None
        if doubt is None:
            return half, []
        return half, [Problem(place, doubt.code, written.play, half.play, doubt.message)]

    # ------------------------------------------------------------------------------------------------ the whole record

    def whole(self, lines: Sequence[Line], result: Result | None) -> Replayed:
        """All lines, then every figure. Raises Mismatch."""
        state = self.start
        played: list[Line] = []
        notes: list[Problem] = []
        phases: list[PhaseReplayed] = []
        for index, written in enumerate(lines):
            try:
                after, line, found = self.line(state, index, written)
            except Wrong as wrong:
                raise Mismatch([*self._wrong_seeds(), wrong.problem]) from None
            played.append(line)
            notes += found
            if not after.is_cut:
                phases.append(PhaseReplayed(state.turn, line, after.games))
            state = after
        return self.ended(state, played, phases, notes, result)

    def ended(
        self,
        state: State,
        lines: Sequence[Line],
        phases: Sequence[PhaseReplayed],
        notes: Sequence[Problem],
        result: Result | None,
    ) -> Replayed:
        """What the played lines come to, compared with the figures of the tags. Raises Mismatch."""
        problems = [*self._wrong_seeds(), *self._wrong_times(lines)]
        checked = ["plays"]
        if self.seeds is not None:
            checked.append("dice")
        outcome = self._outcome(state, problems)
        times = self._times()
        score = None
        if outcome is not None and (result is not None or outcome not in (*CONCEDED, Outcome.ADJUDICATED)):
            score = self._score(state, outcome, times or Seats(0, 0), result)
            problems += self._wrong_figures(score, times, result)
            if result is not None:  # else there was nothing to compare them with
                checked.append("points")
        if times is not None and all(half.tenths is not None for half in _halves(lines)):
            checked.append("times")
        problems += self._wrong_parting(state.parted)
        if problems:
            raise Mismatch(problems)
        return Replayed(
            record=Record(tuple(self.tags.items()), tuple(lines), result),
            ruleset=self.ruleset,
            phases=tuple(phases),
            games=state.games,
            parted=state.parted,
            score=score,
            checked=tuple(checked),
            notes=tuple(notes),
        )

    def _wrong_seeds(self) -> Iterator[Problem]:
        seed, promised = self.tags.get("Seed"), self.tags.get("Commitment")
        if seed is not None and promised is not None and commitment(bytes.fromhex(seed)) != promised:
            words = "The commitment is not the SHA-256 of the server's seed."
            yield _problem("Commitment", "wrong-commitment", promised, commitment(bytes.fromhex(seed)), words)

    def _wrong_times(self, lines: Sequence[Line]) -> Iterator[Problem]:
        """A player's tenths add up to his milliseconds, but for what was rounded in each line."""
        for seat, name in zip(Seat, ("Time1", "Time2"), strict=True):
            said = self.tags.get(name)
            tenths = [line.halves[seat].tenths for line in lines]
            if said is None or None in tenths:
                continue
            total = 100 * sum(tenth for tenth in tenths if tenth is not None)
            if abs(total - int(said)) > 50 * len(tenths):
                words = f"The seconds of the lines come to {total} ms, but {name} says {said}."
                yield _problem(name, "wrong-times", said, str(total), words)

    def _outcome(self, state: State, problems: list[Problem]) -> Outcome | None:
        said = self.tags.get("Outcome")
        if said is None:
            return Outcome.FINISHED if state.is_over else None
        outcome = Outcome(said)
        if (outcome is Outcome.FINISHED) is not state.is_over:
            words = (
                "The match is over by the rules."
                if state.is_over
                else "No side has borne off all its checkers."
            )
            expected: Wanted = "finished" if state.is_over else phrase("tag-early")
            problems.append(_problem("Outcome", "wrong-outcome", said, expected, words))
            return None
        return outcome

    def _times(self) -> Seats[int] | None:
        one, two = self.tags.get("Time1"), self.tags.get("Time2")
        return None if one is None or two is None else Seats(int(one), int(two))

    def _score(self, state: State, outcome: Outcome, times: Seats[int], result: Result | None) -> Score:
        """Settled anew. Who gave up is who lost points; an arbiter's result is what it says."""
        rules, games = self.ruleset, state.games
        net = 0 if result is None else result.points.A
        match outcome:
            case Outcome.FINISHED:
                return settle(rules, games, times, assess_time="TimeAdjustment" in self.tags)
            case Outcome.RESIGNED | Outcome.TIME | Outcome.ABANDONED if net or outcome is Outcome.RESIGNED:
                loser = Seat.A if net < 0 else Seat.B
                price = concession(rules, state.round_end, games, loser)
                return settle_concession(rules, games, price, loser, outcome, times)
            case Outcome.AGREED:
                return settle_agreed(rules, games, state.round_end, times)
            case Outcome.ADJUDICATED:
                return settle_adjudicated(rules, games, net, times)
            case _:
                return settle_for_nothing(games, outcome, times)

    def _wrong_figures(
        self, score: Score, times: Seats[int] | None, result: Result | None
    ) -> Iterator[Problem]:
        figures = {
            "GameX": ("wrong-game", game_text(score.games.X)),
            "GameY": ("wrong-game", game_text(score.games.Y)),
            "Credit": ("wrong-credit", f"{score.credit_for_A}:{-score.credit_for_A}"),
            "TimeAdjustment": ("wrong-adjustment", str(score.time_adjustment)),
        }
        if "TimeAdjustment" in self.tags and times is None:
            words = "TimeAdjustment needs the times from which it comes."
            yield _problem(
                "TimeAdjustment", "missing-tag", self.tags["TimeAdjustment"], phrase("tag-times"), words
            )
            return
        for name, (code, comes_to) in figures.items():
            said = self.tags.get(name)
            if said is not None and said != comes_to:
                words = f"{name} comes to {comes_to}, but {said} stands here."
                yield _problem(name, code, said, comes_to, words)
        if result is not None and result.points != score.points:
            said, comes_to = _pair(result.points), _pair(score.points)
            words = f"The points come to {comes_to}, but {said} stands here."
            yield Problem(RESULT, "wrong-points", said, comes_to, words)

    def _wrong_parting(self, parted: int | None) -> Iterator[Problem]:
        said = self.tags.get("Parted")
        if said is not None and said != str(parted):
            where = "never" if parted is None else f"in round {parted}"
            words = f"The games parted {where}, but Parted says {said}."
            yield _problem(
                "Parted", "wrong-parting", said, str(parted) if parted else phrase("no-such-tag"), words
            )


def replayed(record: Record) -> Replayed:
    """Plays a record through: positions after every line, its points and times computed anew. Raises Mismatch."""
    return Replay(dict(record.tags)).whole(record.lines, record.result)


def _seeds(tags: Mapping[str, str]) -> DiceSeeds | None:
    """All that the rolls come from, where the tags have it (§9.2)."""
    seed, dice_id = tags.get("Seed"), tags.get("DiceId")
    one, two = tags.get("ClientSeed1"), tags.get("ClientSeed2")
    if seed is None or dice_id is None or one is None or two is None:
        return None
    assert is_client_seed(one)
    assert is_client_seed(two)
    return DiceSeeds(bytes.fromhex(seed), dice_id, Seats(one, two))


def _halves(lines: Sequence[Line]) -> Iterator[Half]:
    for line in lines:
        yield from (line.halves.A, line.halves.B)


def _dice(roll: Roll) -> str:
    return f"{roll.first}{roll.second}"


def _pair(points: Seats[int]) -> str:
    return f"{points.A}:{points.B}"


def _problem(tag: str, code: str, text: str, expected: Wanted, words: str) -> Problem:
    return Problem(Place(tag=tag), code, text, expected, words)
