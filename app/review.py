"""Reads a finished match from its file, plays it through again, and says what its analysis found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from engine.analysis import FORMAT, GRADES, Analysis, Conceded, Half, Played, TurnJudged
from engine.dice import Roll
from engine.errors import IllegalPlay, RuleError
from engine.match import Made, PhasePlayed, ends_after
from engine.plays import read_notation
from engine.position import CHECKERS, OFF, Position
from engine.ruleset import DEFAULT, Ruleset
from engine.scoring import CLASS_POINTS, Outcome, concession
from engine.turn import FIRST_TURN, Game, Games, Phase, Seat, Seats, game_of
from engine.variant import VARIANTS, PlayRules


class NotAnalysable(Exception):
    """The file is no finished match that could be played through again; says why."""


# ------------------------------------------------------------------ the file of a match, as far as it concerns play

_Die = Annotated[int, msgspec.Meta(ge=1, le=6)]


class _Plays(msgspec.Struct):
    A: str
    B: str


class _Phase(msgspec.Struct):
    turn: str
    roll: tuple[_Die, _Die]
    plays: _Plays


class _Player(msgspec.Struct):
    name: str


class _Players(msgspec.Struct):
    A: _Player | None = None
    B: _Player | None = None


class _Result(msgspec.Struct):
    outcome: Outcome
    by: Literal["A", "B"] | None = None


class _Match(msgspec.Struct):
    format: Literal["nardy-match/1"]
    match: str
    ruleset: dict[str, Any]
    phases: list[_Phase]
    result: _Result
    players: _Players = msgspec.field(default_factory=_Players)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A match from a file: its id, who played, and what is to be analysed."""

    id: str
    names: Seats[str]
    played: Played


def read_match(file: bytes) -> Recorded:
    """Plays a downloaded match (nardy-match/1) through again by the rules. Raises NotAnalysable."""
    try:
        match = msgspec.json.decode(file, type=_Match)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotAnalysable(f"not a finished match: {error}") from None
    try:
        ruleset = DEFAULT.changed(match.ruleset)
    except RuleError as error:
        raise NotAnalysable(f"not a match of these rules: {error}") from None
    variant = VARIANTS[ruleset.variant]
    if variant.rules is None:
        raise NotAnalysable(f"a match of {variant.key} nardy, which cannot be analysed here")
    start = Games(variant.opening(), variant.opening())
    phases = tuple(_replayed(match.phases, start, variant.rules))
    outcome = match.result.outcome
    is_over = bool(phases) and ends_after(phases[-1].turn, phases[-1].games)
    if is_over is not (outcome is Outcome.FINISHED):
        raise NotAnalysable("not a whole match: its result is not that of its last phase")
    parted = next((phase.turn.round for phase in phases if phase.games.X != phase.games.Y), None)
    names = Seats(*(player.name if player else seat for seat, player in _people(match.players)))
    conceded = _conceded(match.result, ruleset, phases, start)
    return Recorded(
        match.match,
        names,
        Played(variant, ruleset.opening_double_allowed, phases, outcome, conceded, parted),
    )


def _people(players: _Players) -> Iterator[tuple[str, _Player | None]]:
    yield from (("A", players.A), ("B", players.B))


def _replayed(phases: list[_Phase], games: Games[Position], rules: PlayRules) -> Iterator[PhasePlayed]:
    expected = FIRST_TURN
    for phase in phases:
        if phase.turn != str(expected):
            raise NotAnalysable(f"not a whole match: turn {phase.turn} stands where {expected} should be")
        turn, roll = expected, Roll(*phase.roll)
        is_last_move = turn.phase is Phase.K and any(games[game].mine[OFF] == CHECKERS for game in Game)
        made = []
        for seat, text in ((Seat.A, phase.plays.A), (Seat.B, phase.plays.B)):
            game = game_of(seat, turn.phase)
            before = games[game].turned() if turn.phase is Phase.K else games[game]
            if text == "==" and is_last_move:  # a play never made (§8.2)
                made.append(Made.of("missed", (), 0))
                continue
            hops = read_notation("" if text == "--" else text)
            if hops is None:
                raise NotAnalysable(f"not a whole match: {seat}'s {text} in {turn} is no play")
            try:
                moves = rules.find_play(before, roll, hops).moves
            except IllegalPlay as error:
                raise NotAnalysable(f"against the rules: {seat} in {turn}: {error}") from None
            made.append(Made.of("play" if moves else "pass", moves, 0))
            after = rules.after(before, moves)
            games = games.with_(game, after.turned() if turn.phase is Phase.K else after)
        yield PhasePlayed(turn, roll, Seats(*made), games)
        if ends_after(turn, games) and phase is not phases[-1]:
            raise NotAnalysable(f"not a whole match: it goes on after its end in {turn}")
        expected = turn.next()


def _conceded(
    result: _Result, ruleset: Ruleset, phases: tuple[PhasePlayed, ...], start: Games[Position]
) -> Conceded | None:
    """The game that was given up, found again from the positions (§8.1)."""
    if result.outcome not in (Outcome.RESIGNED, Outcome.TIME, Outcome.ABANDONED) or result.by is None:
        return None
    loser = Seat(result.by)
    round_end = phases[len(phases) // 2 * 2 - 1].games if len(phases) > 1 else start
    price = concession(ruleset, round_end, phases[-1].games if phases else start, loser)
    points = CLASS_POINTS[price.loss_class]
    return Conceded(price.game, -points if loser is Seat.A else points)


# -------------------------------------------------------------------------------------------------- for a terminal

_WIDTH = 12


def report(recorded: Recorded, found: Analysis) -> str:
    """The analysis in words and a table."""
    names = recorded.names
    lines = [f"Match {recorded.id}: {names.A} (A) and {names.B} (B), {recorded.played.outcome.value}"]
    if found.parted is not None:
        lines.append(f"The games parted in round {found.parted} of {(len(found.turns) + 1) // 2}.")
    else:
        lines.append("The games never parted.")
    lines += [f"Judged by {', '.join(found.judges)}. Equity in points, 1, 2 or 3 a game.", ""]
    a, b = found.players.A, found.players.B
    rows: list[tuple[str, str, str]] = [("", _short(names.A), _short(names.B))]
    rows += [
        ("unforced decisions", str(a.decisions), str(b.decisions)),
        ("error rate", _rate(a.error_rate), _rate(b.error_rate)),
        ("equity given away", f"{a.loss:.3f}", f"{b.loss:.3f}"),
        *((grade, str(a.grades[grade]), str(b.grades[grade])) for grade in GRADES),
        ("luck", f"{a.luck:+.3f}", f"{b.luck:+.3f}"),
    ]
    lines += [f"{label:20}{left:>{_WIDTH}}  {right:>{_WIDTH}}" for label, left, right in rows]
    lines += ["", *(_blunders(found, names) or ["No blunders."]), ""]
    lines.append(f"Result, unfinished games at their equity: {_whose(found.result_for_A, names)}")
    lines.append(f"Luck of the dice:                         {_whose(found.luck_for_A, names)}")
    objective = found.objective_for_A
    lines.append(
        "Objective result: none, the match counts for nothing"
        if objective is None
        else f"Objective result, without the luck:       {_whose(objective, names)}"
    )
    return "\n".join(lines)


def _short(name: str) -> str:
    return name if len(name) <= _WIDTH else f"{name[: _WIDTH - 1]}…"


def _rate(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.4f}"


def _whose(for_a: float, names: Seats[str]) -> str:
    if abs(for_a) < 0.0005:
        return "0"
    return f"{abs(for_a):.3f} for {names.A if for_a > 0 else names.B}"


def _blunders(found: Analysis, names: Seats[str]) -> list[str]:
    lines = [
        _blunder(turn, turn.halves[seat], names)
        for turn in found.turns
        for seat in Seat
        if turn.halves[seat].grade == GRADES[-1]
    ]
    return ["Blunders, with what was better and its equity:", *lines] if lines else []


def _blunder(turn: TurnJudged, half: Half, names: Seats[str]) -> str:
    where = f"{turn.turn!s:>4} {half.game.value} {_short(names[half.seat])} {turn.roll}"
    better = ", ".join(f"{play.play} ({play.equity:+.3f})" for play in half.better)
    return f"  {where}: {half.play} ({half.equity:+.3f}) gave away {half.loss:.3f}; {better}"


def plain(recorded: Recorded, found: Analysis) -> dict[str, Any]:
    """The analysis as JSON has it."""
    return {
        "format": FORMAT,
        "match": recorded.id,
        "names": {seat.value: recorded.names[seat] for seat in Seat},
        "outcome": recorded.played.outcome.value,
        **found.to_plain(),
    }
