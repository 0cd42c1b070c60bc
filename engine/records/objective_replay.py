"""Plays an objective record through again: are its plays legal, its dice as promised, its figures what they come to?

What is wrong is a Problem with its place in the record; `objective_read` turns that into a line and a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from engine.dice import DiceSeeds, Roll, commitment, is_client_seed, roll_for
from engine.errors import BadRuleset, IllegalPlay, RuleError
from engine.match import ends_after
from engine.plays import Hop, Move
from engine.position import CHECKERS, OFF, Position
from engine.records.objective import (
    Half,
    Line,
    Record,
    Result,
    game_text,
    of_moves,
    roll_of,
    ruleset_of,
)
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
    expected: str
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
                [_problem(tag, "bad-ruleset", tags.get(tag, ""), "a ruleset", error.detail)]
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
            raise Wrong(Problem(Place(line=index), "after-the-end", "", "the result", words))
        roll = self._roll(state, index, written)
        a, b = written.halves.A, written.halves.B
        is_cut = "missed" in (a.kind, b.kind) and not state.is_last_move
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
                Problem(Place(line=index), "opening-double", _dice(roll), "two different dice", words)
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
        for fits in (self._is_as_written, self._is_legal):
            fitting = list(self._rolls(state))
            for seat in made:
                before, half = state.position_for(seat), written.halves[seat]
                fitting = [roll for roll in fitting if fits(before, roll, half)]
            if fitting:
                return fitting[0], len(fitting) == 1
        for seat in made:  # which of the two is to blame
            before, half = state.position_for(seat), written.halves[seat]
            if not any(self._is_legal(before, roll, half) for roll in self._rolls(state)):
                words = f"No roll allows {half.play} here."
                raise Wrong(
                    Problem(Place(line=index, seat=seat), "illegal-play", half.play, "a legal play", words)
                )
        words = "No roll allows both these plays, and both are of one roll."
        raise Wrong(Problem(Place(line=index, seat=Seat.B), "no-shared-roll", "", "plays of one roll", words))

    def _rolls(self, state: State) -> Iterator[Roll]:
        for roll in ROLLS:
            if roll.is_double and state.turn == FIRST_TURN and not self.ruleset.opening_double_allowed:
                continue
            yield roll

    def _is_as_written(self, before: Position, roll: Roll, written: Half) -> bool:
        """Whether these hops are a legal play of this roll, each by one die."""
        dice = (roll.first, roll.second)
        if not all(hop.start - hop.end in dice or hop.end == OFF for hop in written.hops):
            return False
        if not written.hops:
            return not self.rules.legal_plays(before, roll)[0].moves
        moves = self._path(before, roll, written.hops)
        return moves is not None and written.hits <= {move.end for move in moves if move.hit}

    def _is_legal(self, before: Position, roll: Roll, written: Half) -> bool:
        """Whether they are one in any way."""
        return self._is_as_written(before, roll, written) or bool(
            _could_be_of(written.hops, roll) and self._ways(before, roll, written)
        )

    def _path(self, before: Position, roll: Roll, hops: Sequence[Hop]) -> tuple[Move, ...] | None:
        """The moves that these hops are: in their order, or if they cannot be made so, from the highest point down."""
        graph = self.rules.step_graph(before, roll)
        moves = graph.follow(hops)
        if moves is None:
            moves = graph.follow(sorted(hops, key=lambda hop: (-hop.start, hop.end)))
        return moves if moves is not None and self._is_whole(before, roll, moves) else None

    def _is_whole(self, before: Position, roll: Roll, moves: Sequence[Move]) -> bool:
        """Nothing more can be played after these moves."""
        node = 0
        nodes = self.rules.step_graph(before, roll).nodes
        for move in moves:
            node = next(
                e.node for e in nodes[node] if (e.start, e.end, e.die) == (move.start, move.end, move.die)
            )
        return not nodes[node]

    def _half(
        self, state: State, index: int, seat: Seat, roll: Roll, written: Half
    ) -> tuple[Half, list[Problem]]:
        """A player's half of a line as it is to be written, and what in it was written otherwise. Raises Wrong."""
        if written.kind == "missed":
            return Half("missed", tenths=written.tenths), []
        place, text = Place(line=index, seat=seat), written.play
        before = state.position_for(seat)
        notes = []
        moves = self._path(before, roll, written.hops)
        if moves is None:
            found = self._ways(before, roll, written)
            if len(found) != 1:
                raise Wrong(self._refused(place, before, roll, written, found))
            moves = found[0]
        half = Half("play" if moves else "pass", *of_moves(moves), written.tenths)
        if wrong := written.hits - half.hits:
            words = f"{text} hits nothing on {min(wrong)}."
            raise Wrong(Problem(place, "no-hit", text, half.play, words))
        if sorted(written.hops) != sorted(half.hops):
            words = f"{text} was read as {half.play}, one move a die."
            notes.append(Problem(place, "several-dice", text, half.play, words))
        elif half.hits - written.hits:
            words = f"{text} hits on {', '.join(map(str, sorted(half.hits - written.hits)))}: the star was missing."
            notes.append(Problem(place, "star-missing", text, half.play, words))
        elif written.hops != half.hops:
            words = f"{text} was read as {half.play}: so it can be made one after the other."
            notes.append(Problem(place, "move-order", text, half.play, words))
        return half, notes

    def _refused(
        self, place: Place, before: Position, roll: Roll, written: Half, ways: Sequence[Sequence[Move]]
    ) -> Problem:
        """Why this is no play, or not one play alone."""
        text = written.play
        if ways:
            said = " or ".join(Half("play", *of_moves(moves)).play for moves in ways)
            words = f"{text} can be made in ways that end differently: {said}."
            return Problem(place, "ambiguous-play", text, said, words)
        expected = self.expected(before, roll)
        try:
            self.rules.find_play(before, roll, written.hops)
        except IllegalPlay as refused:
            return Problem(place, "illegal-play", text, expected, refused.detail)
        # Ends where a legal play ends, but by moves that none of them makes.
        return Problem(place, "illegal-play", text, expected, f"{text} is not made by the dice {roll}.")

    def _ways(self, before: Position, roll: Roll, written: Half) -> list[tuple[Move, ...]]:
        """Ways of making hops that go over several dice at once, one for each position that they reach."""
        most = 4 if roll.is_double else 2
        if not 0 < len(written.hops) <= most:
            return []
        ways: dict[Position, tuple[Move, ...]] = {}
        for choice in product(*(_splits(hop, roll) for hop in written.hops)):
            hops = [hop for part in choice for hop in part]
            moves = self._path(before, roll, hops) if len(hops) <= most else None
            if moves is not None and written.hits <= {move.end for move in moves if move.hit}:
                ways.setdefault(self.rules.after(before, moves), moves)
        return list(ways.values())

    def expected(self, before: Position, roll: Roll) -> str:
        """What could be played, as far as a line holds it."""
        plays = [str(play) or "--" for play in self.rules.legal_plays(before, roll)]
        return (
            plays[0] if len(plays) == 1 else f"one of {len(plays)} legal plays of {roll}, such as {plays[0]}"
        )

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
            expected = "finished" if state.is_over else "how it ended early"
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
                "TimeAdjustment", "missing-tag", self.tags["TimeAdjustment"], "Time1 and Time2", words
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
            yield _problem("Parted", "wrong-parting", said, str(parted or "no such tag"), words)


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


def _could_be_of(hops: Sequence[Hop], roll: Roll) -> bool:
    """A quick look: a hop that ends on the board goes a whole number of dice."""
    dice = {roll.first, roll.second}
    reach = {roll.first * n for n in range(1, 5)} if roll.is_double else dice | {roll.first + roll.second}
    return all(hop.end == OFF or hop.start - hop.end in reach for hop in hops)


def _splits(hop: Hop, roll: Roll) -> list[tuple[Hop, ...]]:
    """The hop by itself, and over each order of the dice that it may have used."""
    if roll.is_double:
        orders = [[roll.first] * number for number in (2, 3, 4)]
    else:
        orders = [[roll.first, roll.second], [roll.second, roll.first]]
    ways: list[tuple[Hop, ...]] = [(hop,)]
    for order in orders:
        points = [hop.start]
        for die in order:
            points.append(max(points[-1] - die, OFF))
        if points[-1] == hop.end and (hop.end != OFF or points[-2] > OFF) and len(set(points)) == len(points):
            ways.append(tuple(Hop(*pair) for pair in pairwise(points)))
    return ways


def _dice(roll: Roll) -> str:
    return f"{roll.first}{roll.second}"


def _pair(points: Seats[int]) -> str:
    return f"{points.A}:{points.B}"


def _problem(tag: str, code: str, text: str, expected: str, words: str) -> Problem:
    return Problem(Place(tag=tag), code, text, expected, words)
