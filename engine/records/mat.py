"""Backgammon's exchange text, .mat (Jellyfish), which GNU Backgammon and others read and write.

A paired match is two games in one file: Game 1 is X, Game 2 is Y, player 1 always in the left column. What the text
cannot hold stays in our own record: pips, times, seeds, a phase that was never finished, and **Black's last move**,
since nothing can be written after the last checker of the other side is off.

An illegal move makes its readers skip it and give later moves to the other side, so a game is played through before it
is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, zip_longest
from typing import Any

from engine.dice import Roll
from engine.plays import Hop, Move
from engine.position import BAR, CHECKERS, OFF, Position
from engine.records.family import USUAL, Candidate, Edit, Options, Reading, known
from engine.records.half import NEAR, Half, Unfit, distance, fitted, of_moves
from engine.records.objective.record import GAME, Line, Record, roll_of
from engine.records.objective.replay import Mismatch, Replayed, replayed
from engine.records.text import Fault, Note, NotInForm, RecordError, Text
from engine.records.wanted import Wanted, any_of, phrase
from engine.scoring import CLASS_POINTS, game_outcome
from engine.turn import Color, Game, Seat, Seats, player_of
from engine.variant import SHORT

NAME = "mat"
FORMS = ("mat",)
MAX_CHARACTERS = 2_000_000  # a hundred long matches
MAX_FAULTS = 100

_LEFT, _RIGHT = 6, 37  # columns in which the two players' halves begin
_NAMES_RIGHT = 33
_MOST_EDITS, _MOST_CANDIDATES, _BACK, _READINGS = (
    3,
    20,
    8,
    150,
)  # of a repair; turns doubted before the faulty one
_WORDS = {"doubles": "Doubles", "takes": "Takes", "drops": "Drops"}


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side did: threw and played, or `doubles` to `cube`, `takes`, `drops`. Seat A is the left column."""

    seat: Seat
    action: str = "plays"
    roll: Roll | None = None
    half: Half | None = None
    cube: int = 0


@dataclass(frozen=True, slots=True)
class MatGame:
    """One game: the score before it, its turns, and what it was won for; `winner` None: it was not finished."""

    score: Seats[int]
    turns: tuple[Turn, ...]
    winner: Seat | None = None
    points: int = 0


@dataclass(frozen=True, slots=True)
class Mat:
    """A file: its comments without the `;`, the length of the match (0: none), who plays, and the games."""

    comments: tuple[str, ...]
    length: int
    names: Seats[str]
    games: tuple[MatGame, ...]


# --------------------------------------------------------------------------------------------------------- writing


def write(record: Mat, form: str = "mat", options: Options = USUAL) -> str:
    """The file, each line ended by \\n. Raises UnknownOption."""
    del options
    known("form", form, FORMS)
    head = [f"; {comment}" for comment in record.comments]
    head += [""] if head else []
    head += [f" {record.length} point match", ""]
    blocks = [
        "\n".join([*_game_lines(record, number, game), "", ""]) for number, game in enumerate(record.games, 1)
    ]
    return "\n".join([*head, "\n".join(blocks)])


def _game_lines(record: Mat, number: int, game: MatGame) -> Iterator[str]:
    left, right = (f"{record.names[seat]} : {game.score[seat]}" for seat in Seat)
    yield f" Game {number}"
    yield _columns(f" {left}", _NAMES_RIGHT, right)
    rows = zip(count(1), _rows(game.turns), strict=False)
    for n, (a, b) in rows:
        left, right = (_turn_text(turn) for turn in (a, b))
        yield _columns(f"{n:>3}) {left}", _RIGHT, right)
    if game.winner is not None:
        wins = f"Wins {game.points} point{'s' * (game.points != 1)}"
        yield " " * (_LEFT if game.winner is Seat.A else _RIGHT) + wins


def _columns(left: str, column: int, right: str) -> str:
    """Two texts, the right one in its column, or three spaces on where the left one is too long."""
    return f"{left:<{column - 4}}   {right}".rstrip() if right else left.rstrip()


def _rows(turns: Sequence[Turn]) -> Iterator[tuple[Turn | None, Turn | None]]:
    """The turns two by two, an empty left one where the right side begins."""
    waiting: list[Turn | None] = [*turns]
    if turns and turns[0].seat is Seat.B:
        waiting.insert(0, None)
    yield from zip_longest(waiting[::2], waiting[1::2])


def _turn_text(turn: Turn | None) -> str:
    if turn is None:
        return ""
    if turn.roll is None or turn.half is None:
        return f" {_WORDS[turn.action]}" + (f" => {turn.cube}" if turn.action == "doubles" else "")
    moves = " ".join(turn.half.items("25", "0", each=True)) if turn.half.kind == "play" else ""
    return f"{turn.roll.first}{turn.roll.second}: {moves}".rstrip()


def split(record: Mat) -> tuple[Mat, ...]:
    """A file for each game, each a match of its own."""
    return tuple(replace(record, games=(replace(game, score=Seats(0, 0)),)) for game in record.games)


def joined(records: Sequence[Mat]) -> Mat:
    """The games of several files in one, each with the score that those before it come to; undoes `split`.

    Raises ValueError for files of other players or another length.
    """
    first, games, score = records[0], list[MatGame](), Seats(0, 0)
    for record in records:
        if (record.names, record.length) != (first.names, first.length):
            raise ValueError("These are files of different matches.")
        for game in record.games:
            games.append(replace(game, score=score))
            if game.winner is not None:
                score = score.with_(game.winner, score[game.winner] + game.points)
    return replace(first, games=tuple(games))


# ----------------------------------------------------------------------------------- from and to an objective record


def mat_of(record: Record) -> Mat:
    """The two games of an objective match; Black's last move and an unfinished phase are left out.

    Raises Mismatch for a record that contradicts itself, NotInForm for another game than short nardy or where a roll is
    not known.
    """
    found = replayed(record)
    if found.ruleset.variant != SHORT.key:
        raise NotInForm("mat", "variant", "A .mat file holds games of short nardy alone.")
    x = _game_of_record(found, Game.X, Seats(0, 0))
    score = Seats(0, 0) if x.winner is None else Seats(0, 0).with_(x.winner, x.points)
    y = _game_of_record(found, Game.Y, score)
    names = Seats(_name(record.tag("Player1"), "Player 1"), _name(record.tag("Player2"), "Player 2"))
    return Mat(tuple(_comments(record)), 0, names, (x, y))


def _game_of_record(found: Replayed, game: Game, score: Seats[int]) -> MatGame:
    turns: list[Turn] = []
    before = SHORT.opening()
    for number, phase in enumerate(found.phases, 1):
        if before.mine[OFF] == CHECKERS:
            break  # the last move: nothing can stand after the last checker is off
        before = phase.games[game]
        if phase.line.roll is None:
            raise NotInForm("mat", "dice", f"A .mat file has dice, and line {number} does not say them.")
        seat = player_of(game, phase.turn.phase.color)
        half = replace(phase.line.halves[seat], tenths=None)
        if half.kind == "missed":
            break  # a last move on the other board that was never made
        turns.append(Turn(seat, roll=phase.line.roll, half=half))
    winner, points = _won(found, game)
    return MatGame(score, tuple(turns), winner, points)


def _won(found: Replayed, game: Game) -> tuple[Seat | None, int]:
    """Who won a finished game, and for 1, 2 or 3 by its class (§2.4)."""
    outcome = game_outcome(found.games[game])
    if outcome not in ("W", "K"):
        return None, 0
    position = found.games[game]
    loser = position.theirs if outcome == "W" else position.mine
    return player_of(game, Color.WHITE if outcome == "W" else Color.BLACK), CLASS_POINTS[
        SHORT.loss_class(loser)
    ]


def _name(name: str | None, otherwise: str) -> str:
    """A name that its readers take for one: a colon would end it, two spaces a column."""
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in name or "").split())
    return plain.replace(":", ".").lstrip(";").strip() or otherwise


def _comments(record: Record) -> Iterator[str]:
    for tag, name in (("Event", "Event"), ("Round", "Round"), ("Date", "EventDate")):
        text = record.tag(tag)
        if text:
            said = text[:10].replace("-", ".") if tag == "Date" else _name(text.replace('"', "'"), "")
            yield f'[{name} "{said}"]'


def objective_of(record: Mat) -> Record:
    """The objective match that two games of a file are, if they are: without seconds, seeds and result.

    Raises NotInForm where they are not a pair on the same dice, or where Black's last move is missing, as in any .mat.
    """
    if len(record.games) != 2 or any(turn.action != "plays" for game in record.games for turn in game.turns):
        raise NotInForm("objective", "pair", "An objective match is two games without a cube.")
    x, y = (game.turns for game in record.games)
    if (x and x[0].seat is not Seat.A) or (y and y[0].seat is not Seat.B):
        raise NotInForm("objective", "pair", "The left player begins Game 1, the right one Game 2.")
    if len(x) != len(y):
        missing = f"The games have {len(x)} and {len(y)} turns; Black's last move is in no .mat file."
        raise NotInForm("objective", "last-move", missing)
    lines = []
    for number, (on_x, on_y) in enumerate(zip(x, y, strict=True), 1):
        if on_x.roll != on_y.roll or on_x.half is None or on_y.half is None:
            raise NotInForm("objective", "pair", f"Turn {number} of the two games is not on the same dice.")
        a, b = (on_x, on_y) if on_x.seat is Seat.A else (on_y, on_x)
        assert a.half is not None
        assert b.half is not None
        lines.append(Line(on_x.roll, Seats(a.half, b.half)))
    tags = (("Game", GAME), ("Player1", record.names.A), ("Player2", record.names.B))
    found = Record(tags, tuple(lines), None)
    try:
        return replayed(found).record
    except Mismatch as wrong:
        raise NotInForm("objective", "pair", wrong.detail) from None


# --------------------------------------------------------------------------------------------------------- reading


def recognise(text: Text) -> float:
    """How surely this is a .mat file, 0 to 1."""
    head = [line for line in text.lines[:200] if line.strip() and not line.lstrip().startswith(";")]
    if head and _LENGTH.fullmatch(head[0]):
        return 1
    rows = sum(bool(re.match(r"\s*\d+\)\s+(?:[1-6][1-6]:|Doubles|Takes|Drops)", line)) for line in head)
    return min(0.9, 2 * rows / len(head)) if head else 0


def read(text: Text, options: Options = USUAL, repair: bool = False) -> Reading[Mat]:
    """The file, every game played through by the rules. Raises RecordError.

    With `repair`, every file that differs in a few plays or rolls written nearly so.
    """
    del options
    reader = _Reader(text)
    record = reader.record()
    if not reader.faults:
        return Reading((Candidate(record, (), tuple(reader.notes)),))
    found = _repaired(text) if repair else ()
    if not found:
        raise RecordError(reader.faults[:MAX_FAULTS])
    return Reading(found)


_LENGTH = re.compile(r"\s*(\d{1,5})\s+points?\s+match\s*", re.IGNORECASE)
_GAME = re.compile(r"\s*Game\s+(\d{1,5})\s*", re.IGNORECASE)
_SCORES = re.compile(r"\s*(?P<a>\S.*?)\s*:\s*(?P<x>\d{1,5})\s*(?P<b>\S.*?)\s*:\s*(?P<y>\d{1,5})\s*")
_ROW = re.compile(r"\s*(\d{1,5})\)(.*)")
_GAME_IN_ROW = re.compile(r"(?P<row>\s*\d{1,5}\).*\S)\s{2,}(?P<game>Game\s+\d{1,5})\s*", re.IGNORECASE)
_WINS = re.compile(
    r"(?P<gap>.*?)\bWins\s+(?P<points>\d{1,5})\s+points?(?:\s+and the match)?\s*", re.IGNORECASE
)
_PART = re.compile(r"(?<!\S)(?:(?P<dice>[1-6][1-6]):|(?P<word>Doubles|Takes|Drops|Wins)\b)", re.IGNORECASE)
_HOP = re.compile(
    r"(?P<path>(?:bar|\d{1,2})(?:/(?:off|\d{1,2})\*?)+)(?:\((?P<count>[2-4])\))?", re.IGNORECASE
)


class _Reader:
    def __init__(self, text: Text) -> None:
        self.lines = text.lines
        self.notes = list(text.notes)
        self.faults: list[Fault] = []
        self.comments: list[str] = []
        self.length: int | None = None
        self.names: Seats[str] | None = None
        self.games: list[MatGame] = []
        self.game: _Game | None = None
        self.is_waiting = False  # for the line with names and score
        self.tried: list[_Tried] = []
        self.is_too_long = len(text.text) > MAX_CHARACTERS

    def fault(self, line: int, column: int, code: str, text: str, expected: Wanted, message: str) -> None:
        self.faults.append(Fault(line, column, code, text, expected, message))

    def record(self) -> Mat:
        if self.is_too_long:
            self.fault(
                1,
                1,
                "too-long",
                "",
                phrase("at-most-characters", n=MAX_CHARACTERS),
                "This is too long for a file.",
            )
            return Mat((), 0, Seats("", ""), ())
        for number, line in enumerate(self.lines, 1):
            if len(self.faults) >= MAX_FAULTS:
                break
            if line.strip():
                self._line(number, line)
        self._close()
        if self.length is None and not self.faults:
            self.fault(
                1, 1, "no-length", self.lines[0].strip(), "0 point match", "A file begins with its length."
            )
        elif not self.games and not self.faults:
            self.fault(len(self.lines), 1, "no-game", "", "Game 1", "There is no game in this file.")
        return Mat(tuple(self.comments), self.length or 0, self.names or Seats("", ""), tuple(self.games))

    def _line(self, number: int, line: str) -> None:
        column = len(line) - len(line.lstrip()) + 1
        if line.lstrip().startswith(";"):
            if self.game is None and not self.games:
                self.comments.append(line.strip().lstrip(";").strip())
            else:
                self.notes.append(
                    Note(number, column, "comment", line.strip(), "Comments among games are left out.")
                )
        elif (found := _LENGTH.fullmatch(line)) and self.length is None:
            self.length = int(found[1])
        elif found := _GAME.fullmatch(line):
            self._close()
            if int(found[1]) != len(self.games) + 1:
                words = f"This is game {len(self.games) + 1} of the file."
                self.fault(
                    number, found.start(1) + 1, "game-number", found[1], str(len(self.games) + 1), words
                )
            self.is_waiting = True
        elif self.is_waiting:
            self._scores(number, column, line)
        elif self.game is None:
            words = "A file has its length, then games, each with a line of names and score."
            self.fault(number, column, "unknown-line", line.strip(), "Game 1", words)
        elif self.game.is_broken:
            return
        elif found := _GAME_IN_ROW.fullmatch(
            line
        ):  # so GNU Backgammon goes on after a game that was broken off
            at = found.start("game")
            words = "The next game begins on a line of its own."
            self.notes.append(Note(number, at + 1, "game-in-row", found["game"], words))
            self._line(number, found["row"])
            self._line(number, " " * at + found["game"])
        elif found := _ROW.fullmatch(line):
            self._row(number, found)
        elif found := _WINS.fullmatch(line):
            self._wins(number, found, found.end("gap") + 1)
        else:
            self.fault(
                number,
                column,
                "unknown-line",
                line.strip(),
                phrase("numbered-row"),
                "This is no row of a game.",
            )

    def _scores(self, number: int, column: int, line: str) -> None:
        found = _SCORES.fullmatch(line)
        self.is_waiting = False
        if found is None:
            words = "Under the number of a game stand both names with their scores."
            self.fault(number, column, "names", line.strip(), "Anna : 0     Boris : 0", words)
            self.game = _Game(Seats(0, 0), is_broken=True)
            return
        names = Seats(found["a"], found["b"])
        if self.names is not None and names != self.names:
            words = f"Before these were {self.names.A} and {self.names.B}: the same player keeps his column."
            self.fault(
                number, column, "names", line.strip(), f"{self.names.A} : 0     {self.names.B} : 0", words
            )
        self.names = self.names or names
        self.game = _Game(Seats(int(found["x"]), int(found["y"])))

    def _row(self, number: int, found: re.Match[str]) -> None:
        game = self.game
        assert game is not None
        rest, start = found[2], found.start(2)
        expected = game.rows + 1
        if int(found[1]) != expected:
            words = f"This is row {expected} of the game, not {found[1]}."
            self.fault(number, found.start(1) + 1, "row-number", found[1], str(expected), words)
        game.rows = int(found[1])
        parts = list(_PART.finditer(rest))
        if not parts or rest[: parts[0].start()].strip():
            text = rest[: parts[0].start()].strip() if parts else rest.strip()
            at = start + rest.find(text) + 1 if text else start + 1
            self.fault(number, at, "row", text, phrase("dice-and-moves"), "This is not what a player can do.")
            game.is_broken = True
            return
        ends = [part.start() for part in parts[1:]] + [len(rest)]
        for index, (part, end) in enumerate(zip(parts, ends, strict=True)):
            column = start + part.start() + 1
            text = rest[part.start() : end]
            if part["word"] and part["word"].lower() == "wins":
                wins = _WINS.fullmatch(text)
                if wins is None:
                    self.fault(
                        number,
                        column,
                        "wins",
                        text.strip(),
                        "Wins 1 point",
                        "This is not what a game is won for.",
                    )
                else:
                    self._wins(number, wins, column, game.turns[-1].seat.other if game.turns else None)
                continue
            seat = Seat.A if index == 0 and len(parts) > 1 else Seat.B if index else self._column_of(column)
            self._turn(number, column, seat, part, text)
            if game.is_broken:
                return

    def _column_of(self, column: int) -> Seat:
        return Seat.A if column < (_LEFT + _RIGHT) // 2 else Seat.B

    def _turn(self, number: int, column: int, seat: Seat, part: re.Match[str], text: str) -> None:
        """One side's part of a row, checked as far as the game has come."""
        game = self.game
        assert game is not None
        if game.turns and game.turns[-1].seat is seat:
            words = "Both sides take turns."
            self.fault(number, column, "turn-order", text.strip(), phrase("other-side"), words)
            game.is_broken = True
            return
        action = part["word"].lower() if part["word"] else "plays"
        last = game.turns[-1].action if game.turns else ""
        if game.is_over or (action in ("takes", "drops")) is not (last == "doubles"):
            expected: Wanted = phrase("next-game" if game.is_over else "a-roll")
            if last == "doubles" and not game.is_over:
                expected = any_of(("Takes", "Drops"))
            self.fault(number, column, "turn-order", text.strip(), expected, "This cannot come here.")
            game.is_broken = True
        elif action == "plays":
            self._plays(number, column, seat, part["dice"], text[3:])
        elif action == "doubles":
            cube = re.fullmatch(r"\w+\s*=>\s*(\d{1,5})\s*", text)
            if cube is None:
                self.fault(number, column, "cube", text.strip(), "Doubles => 2", "A double says to what.")
                game.is_broken = True
                return
            game.turns.append(Turn(seat, action, cube=int(cube[1])))
        else:
            game.turns.append(Turn(seat, action))
            game.is_over = action == "drops"

    def _plays(self, number: int, column: int, seat: Seat, dice: str, text: str) -> None:
        game = self.game
        assert game is not None
        roll = roll_of(int(dice[0]), int(dice[1]))
        before = game.position if seat is Seat.A else game.position.turned()
        self.tried.append(_Tried(number, column, f"{dice}:{text}".rstrip(), before, roll))
        hops: list[Hop] = []
        hits: set[int] = set()
        for found in re.finditer(r"\S+", text):
            at = column + 3 + found.start()
            hop = _HOP.fullmatch(found[0])
            points = [] if hop is None else [_point(point) for point in hop["path"].split("/")]
            if (
                not points
                or not 1 <= points[0] <= BAR
                or points[-1] >= BAR
                or not all(0 < p < BAR for p in points[1:-1])
            ):
                self.fault(number, at, "move", found[0], phrase("from-to"), f"{found[0]} is no move.")
                game.is_broken = True
                return
            assert hop is not None
            stars = [part.endswith("*") for part in hop["path"].split("/")]
            for start, end, is_hit in zip(points, points[1:], stars[1:], strict=False):
                hops += [Hop(start, end)] * int(hop["count"] or 1)
                hits |= {end} if is_hit else set()
        assert SHORT.rules is not None
        written = Half("play" if hops else "pass", tuple(hops), hits=frozenset(hits))
        try:
            half, doubt = fitted(SHORT.rules, before, roll, written)
        except Unfit as unfit:
            self.fault(number, column, unfit.code, f"{dice}:{text}".strip(), unfit.expected, unfit.message)
            game.is_broken = True
            return
        if doubt is not None:
            self.notes.append(Note(number, column, doubt.code, text.strip(), doubt.message))
        after = SHORT.rules.after(before, [Move(*hop, 0, False) for hop in half.hops])
        game.position = after if seat is Seat.A else after.turned()
        game.is_over = after.mine[OFF] == CHECKERS
        game.turns.append(Turn(seat, roll=roll, half=half))

    def _wins(self, number: int, found: re.Match[str], column: int, seat: Seat | None = None) -> None:
        game = self.game
        assert game is not None
        winner = seat or self._column_of(column)
        if game.winner is not None:
            self.fault(
                number, column, "wins", found[0].strip(), phrase("next-game"), "This game was won already."
            )
            return
        off = [side[OFF] == CHECKERS for side in (game.position.mine, game.position.theirs)]
        if off[0] != off[1] and off[0] is not (winner is Seat.A):
            words = "The other side has borne off all its checkers."
            self.fault(number, column, "wins", found[0].strip(), phrase("other-column"), words)
        game.winner, game.points = winner, int(found["points"])

    def _close(self) -> None:
        if self.game is not None:
            game = self.game
            self.games.append(MatGame(game.score, tuple(game.turns), game.winner, game.points))
        self.game = None


class _Game:
    """A game that is being read; the position as the left side sees it. After a fault its rows are passed over."""

    def __init__(self, score: Seats[int], *, is_broken: bool = False) -> None:
        self.score = score
        self.turns: list[Turn] = []
        self.rows = 0
        self.position = SHORT.opening()
        self.is_over = False
        self.is_broken = is_broken
        self.winner: Seat | None = None
        self.points = 0


@dataclass(frozen=True, slots=True)
class _Tried:
    """A turn as it is written, whether it can be played or not, and the position that it was found in."""

    line: int
    column: int
    text: str
    before: Position
    roll: Roll


def _repaired(text: Text) -> tuple[Candidate[Mat], ...]:
    """Whole files near to a faulty one, fewest changes first, and at most one more than those. Nothing is chosen."""
    found: dict[Mat, Candidate[Mat]] = {}
    waiting: list[tuple[Text, tuple[Edit, ...]]] = [(text, ())]
    most, budget = _MOST_EDITS, _READINGS
    for here, edits in waiting:  # grows: fewer edits come first
        reader = _Reader(here)
        record = reader.record()
        if not reader.faults:
            found.setdefault(record, Candidate(record, edits, tuple(reader.notes)))
            most = min(most, len(found[record].edits) + 1)
            continue
        if len(edits) >= most:
            continue
        first = reader.faults[0]
        place = first.line, first.column
        doubted = [tried for tried in reader.tried if (tried.line, tried.column) <= place][-_BACK:]
        for tried in reversed(doubted):
            for edit in _near(tried, first, is_faulty=tried.line == first.line):
                if budget <= 0:
                    break
                budget -= 1
                changed = _with(here, tried, edit)
                after = _Reader(changed)
                after.record()
                if not after.faults or (after.faults[0].line, after.faults[0].column) > place:
                    waiting.append((changed, (*edits, edit)))
    return tuple(found.values())[:_MOST_CANDIDATES]


def _near(tried: _Tried, fault: Fault, *, is_faulty: bool) -> Iterator[Edit]:
    """Turns that are written nearly as this one: another play of its roll, and where the fault is, its play
    with another roll.
    """
    assert SHORT.rules is not None
    dice, _, moves = tried.text.partition(":")
    moves = " ".join(moves.split())
    for play in SHORT.rules.legal_plays(tried.before, tried.roll):
        half = Half("play" if play.moves else "pass", *of_moves(play.moves))
        said = " ".join(half.items("25", "0", each=True)) if play.moves else ""
        if said != moves and distance(said, moves) <= NEAR:
            yield Edit(
                tried.line, tried.column, fault.code, tried.text, f"{dice}: {said}".rstrip(), fault.message
            )
    for die in range(1, 7) if is_faulty else ():
        for other in (f"{die}{dice[1]}", f"{dice[0]}{die}"):
            if other != dice:
                read_as = f"{other}: {moves}".rstrip()
                yield Edit(tried.line, tried.column, fault.code, tried.text, read_as, fault.message)


def _with(text: Text, tried: _Tried, edit: Edit) -> Text:
    """The text with this turn written otherwise, the columns kept."""
    lines = text.lines
    line = lines[tried.line - 1]
    start, end = tried.column - 1, tried.column - 1 + len(tried.text)
    lines[tried.line - 1] = line[:start] + edit.read_as.ljust(len(tried.text)) + line[end:]
    return Text("\n".join(lines), text.notes)


def _point(text: str) -> int:
    bare = text.rstrip("*").lower()
    return BAR if bare == "bar" else OFF if bare == "off" else int(bare)


# ----------------------------------------------------------------------------------------------------------- steps


def steps(record: Mat) -> dict[str, Any]:
    """The games as plain data, to be stepped through: the board after every turn, as the left side sees it."""
    assert SHORT.rules is not None
    games = []
    for game in record.games:
        position, found = SHORT.opening(), []
        for turn in game.turns:
            if turn.half is not None:
                before = position if turn.seat is Seat.A else position.turned()
                after = SHORT.rules.after(before, [Move(*hop, 0, False) for hop in turn.half.hops])
                position = after if turn.seat is Seat.A else after.turned()
            found.append(
                {
                    "seat": turn.seat.value,
                    "action": turn.action,
                    "roll": None if turn.roll is None else [turn.roll.first, turn.roll.second],
                    "play": None if turn.half is None else turn.half.play,
                    "cube": turn.cube or None,
                    "board": _board(position),
                }
            )
        games.append(
            {
                "score": {"A": game.score.A, "B": game.score.B},
                "steps": found,
                "winner": game.winner and game.winner.value,
                "points": game.points,
            }
        )
    opening = _board(SHORT.opening())
    return {
        "family": NAME,
        "players": {"A": record.names.A, "B": record.names.B},
        "length": record.length,
        "start": opening,
        "games": games,
    }


def _board(position: Position) -> dict[str, Any]:
    return {"left": position.mine, "right": position.theirs}
