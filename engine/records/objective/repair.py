"""What a faulty record may have meant: every whole record that is near to the text, with the edits that lead to it.

A play, a roll or a figure may be wrong; the place where it shows is not always the place where it was written wrong, so
some earlier plays of the same game are doubted too. Nothing is chosen here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.dice import Roll
from engine.position import Position
from engine.records.family import Candidate, Edit
from engine.records.half import NEAR, Half, distance, of_moves
from engine.records.objective.reader import Cell, Parsed, parse
from engine.records.objective.record import TAGS, Line, Record, Result
from engine.records.objective.replay import (
    ROLLS,
    Mismatch,
    PhaseReplayed,
    Place,
    Problem,
    Replay,
    Replayed,
    State,
    Wrong,
)
from engine.records.objective.writer import play_text
from engine.records.text import RecordError, Text
from engine.records.wanted import Phrase, phrase
from engine.turn import Seat, Seats

MOST_EDITS = 3
MOST_CANDIDATES = 20
_BUDGET = 2_000  # lines played through and plays looked for, in all
_BACK = 16  # lines before the fault in which a play is doubted
_FIGURES = frozenset({"wrong-game", "wrong-credit", "wrong-adjustment", "wrong-points", "wrong-parting"})


def repair(text: Text, form: str | None = None) -> tuple[Candidate[Record], ...]:
    """Every record found near to this text, fewest edits first and at most one more than those; one without edits if
    the text is right as it stands.

    Raises RecordError where something other than plays, rolls and figures is wrong, or nothing near was found.
    """
    parsed = parse(text, form)
    others = [fault for fault in parsed.faults if not _is_in_cell(parsed, fault.line)]
    if others:
        raise RecordError(others)
    try:
        found = _Search(parsed).found()
    except Mismatch as wrong:
        faults = parsed.faults or [parsed.fault(problem) for problem in wrong.problems]
        raise RecordError(faults) from None
    least = sorted(found, key=lambda candidate: len(candidate.edits))
    return tuple(least[:MOST_CANDIDATES])


def _is_in_cell(parsed: Parsed, line: int) -> bool:
    """Whether all that is wrong in a line is a play; its seconds cannot be guessed."""
    row = next((row for row in parsed.rows if row.line == line), None)
    if row is None:
        return False
    unreadable = [cell for cell in (row.cells.A, row.cells.B) if cell.written is None]
    return bool(unreadable) and not (
        parsed.form == "full" and any(cell.tenths is None for cell in unreadable)
    )


@dataclass(frozen=True, slots=True)
class _Path:
    """The record up to some line, as it would read with the edits made so far."""

    states: tuple[State, ...]  # before each line, and after the last
    lines: tuple[Line, ...]
    edits: tuple[Edit, ...] = ()

    @property
    def state(self) -> State:
        return self.states[-1]

    def cut(self, index: int) -> _Path:
        return _Path(self.states[: index + 1], self.lines[:index], self.edits)


class _Search:
    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.replay = Replay(parsed.tags)
        self.budget = _BUDGET
        self.first: Problem | None = None  # the fault as it stands in the text

    def found(self) -> list[Candidate[Record]]:
        """All that was found. Raises Mismatch where it is nothing."""
        candidates: dict[Record, Candidate[Record]] = {}
        most = MOST_EDITS
        waiting = [self._play_on(_Path((self.replay.start,), ()))]
        for path, problem in waiting:  # grows: fewer edits come first
            if problem is None:
                try:
                    candidate = self._ended(path)
                except Mismatch as wrong:
                    if not path.edits:
                        raise
                    self.first = self.first or wrong.problems[0]
                    continue
                candidates.setdefault(candidate.record, candidate)
                most = min(most, len(path.edits) + 1)  # what needs more changes than that was hardly meant
                continue
            self.first = self.first or problem
            if len(path.edits) < most and self.budget > 0:
                waiting += self._alternatives(path)
        if not candidates:
            assert self.first is not None
            raise Mismatch([self.first])
        return list(candidates.values())

    # ------------------------------------------------------------------------------------------------ playing through

    def _play_on(self, path: _Path) -> tuple[_Path, Problem | None]:
        """From the end of a path to the next fault, or to the end of the record."""
        states, lines = list(path.states), list(path.lines)
        for index in range(len(lines), len(self.parsed.rows)):
            line, problem = self._written(index), None
            if line is None or self.budget <= 0:
                problem = Problem(
                    Place(line=index), "unreadable", "", phrase("legal-play"), "This cannot be read."
                )
                return _Path(tuple(states), tuple(lines), path.edits), problem
            self.budget -= 1
            try:
                state, line, _ = self.replay.line(states[-1], index, line)
            except Wrong as wrong:
                return _Path(tuple(states), tuple(lines), path.edits), wrong.problem
            states.append(state)
            lines.append(line)
        return _Path(tuple(states), tuple(lines), path.edits), None

    def _written(self, index: int) -> Line | None:
        row = self.parsed.rows[index]
        a, b = row.cells.A.written, row.cells.B.written
        return None if a is None or b is None else Line(row.roll, Seats(a, b))

    def _ended(self, path: _Path) -> Candidate[Record]:
        """The whole record, its figures put right where they are wrong. Raises Mismatch for what is more than that."""
        try:
            replayed = self._figured(path, self.replay, self.parsed.result)
            edits: tuple[Edit, ...] = ()
        except Mismatch as wrong:
            if not all(problem.code in _FIGURES for problem in wrong.problems):
                raise
            edits = tuple(self._edit(problem, _figure(problem)) for problem in wrong.problems)
            tags, result = dict(self.parsed.tags), self.parsed.result
            for problem in wrong.problems:
                if problem.place.tag == "result":
                    a, b = map(int, _figure(problem).split(":"))
                    result = Result(Seats(a, b), None if result is None else result.total)
                elif not _figure(problem):
                    del tags[problem.place.tag or ""]
                else:
                    tags[problem.place.tag or ""] = _figure(problem)
            replayed = self._figured(path, Replay(tags), result)
        record = replayed.record
        tags_in_order = tuple((name, dict(record.tags)[name]) for name in TAGS if name in dict(record.tags))
        return Candidate(replace(record, tags=tags_in_order), (*path.edits, *edits), self.parsed.notes)

    def _figured(self, path: _Path, replay: Replay, result: Result | None) -> Replayed:
        phases = [
            PhaseReplayed(before.turn, line, after.games)
            for before, line, after in zip(path.states, path.lines, path.states[1:], strict=False)
            if not after.is_cut
        ]
        return replay.ended(path.state, path.lines, phases, (), result)

    def _edit(self, problem: Problem, read_as: str) -> Edit:
        line, column, text = self.parsed.where(problem.place)
        return Edit(line, column, problem.code, problem.text or text, read_as, problem.message)

    # --------------------------------------------------------------------------------------------------- what was meant

    def _alternatives(self, path: _Path) -> Iterator[tuple[_Path, Problem | None]]:
        """The path with one more edit and played on: in the line where it broke off, or in one before it."""
        here = len(path.lines)
        edited = {edit.line for edit in path.edits}
        for index in range(here, max(here - 1 - _BACK, -1), -1):
            if self.parsed.rows[index].line in edited:
                continue
            for other in self._alternatives_at(path.cut(index), index):
                played, problem = self._play_on(other)
                if len(played.lines) > here:  # else this edit mends nothing
                    yield played, problem

    def _alternatives_at(self, path: _Path, index: int) -> Iterator[_Path]:
        row, state = self.parsed.rows[index], path.state
        if state.is_over or state.is_cut:
            return
        rolls = [row.roll] if row.roll is not None else list(ROLLS)
        for seat in Seat:
            other = row.cells[seat.other].written
            if other is None and seat is Seat.B:
                continue  # both unreadable: A's first, then B's in what follows
            for roll in rolls:
                for half in self._near(state.position_for(seat), roll, row.cells[seat]):
                    halves = Seats(half, half).with_(seat.other, other) if other is not None else None
                    if halves is not None:
                        yield from self._with(
                            path, index, Line(row.roll, halves), self._changed(index, seat, half)
                        )
                    else:
                        yield from self._both(path, index, roll, half)
        if row.roll is not None and self.replay.seeds is None:
            written = self._written(index)
            for roll in ROLLS if written is not None else ():
                if roll != row.roll and {*_faces(roll)} & {*_faces(row.roll)}:
                    assert written is not None
                    problem = Problem(
                        Place(line=index), "other-roll", row.dice, "", f"The roll may have been {roll}."
                    )
                    edit = self._edit(problem, f"{roll.first}{roll.second}")
                    yield from self._with(path, index, Line(roll, written.halves), edit)

    def _both(self, path: _Path, index: int, roll: Roll, a: Half) -> Iterator[_Path]:
        """Both halves of a line are unreadable: two edits."""
        cell = self.parsed.rows[index].cells.B
        for b in self._near(path.state.position_for(Seat.B), roll, cell):
            first, second = self._changed(index, Seat.A, a), self._changed(index, Seat.B, b)
            line = Line(self.parsed.rows[index].roll, Seats(a, b))
            yield from self._with(replace(path, edits=(*path.edits, first)), index, line, second)

    def _changed(self, index: int, seat: Seat, half: Half) -> Edit:
        cell = self.parsed.rows[index].cells[seat]
        said = play_text(half, self.parsed.language)
        return Edit(
            cell.line, cell.column, "other-play", cell.text, said, f"{cell.text} may have been {said}."
        )

    def _with(self, path: _Path, index: int, line: Line, edit: Edit) -> Iterator[_Path]:
        """The path with this line in place of what is written there, if it can be played."""
        if self.budget <= 0:
            return
        self.budget -= 1
        try:
            state, played, _ = self.replay.line(path.state, index, line)
        except Wrong:
            return
        yield _Path((*path.states, state), (*path.lines, played), (*path.edits, edit))

    def _near(self, before: Position, roll: Roll, cell: Cell) -> Iterator[Half]:
        """The legal plays of this roll that are written nearly so; but not just so."""
        text, written = " ".join(cell.text.split()), cell.written
        seen = set()
        if self.budget <= 0:
            return
        self.budget -= 1
        for play in self.replay.rules.legal_plays(before, roll):
            if abs(len(play.moves) - text.count("/")) > 1 and self.parsed.form != "fixed" and "(" not in text:
                continue  # a misprint of a letter or two makes no more of it
            moves = sorted(play.moves, key=lambda move: (-move.start, move.end))
            half = Half("play" if moves else "pass", *of_moves(moves), cell.tenths)
            way = _fixed_text(half) if self.parsed.form == "fixed" else play_text(half, self.parsed.language)
            if half.hops in seen or (written is not None and half.hops == written.hops):
                continue
            if distance(way, text) <= NEAR:
                seen.add(half.hops)
                yield half


def _figure(problem: Problem) -> str:
    """What a wrong figure comes to, as it is written; nothing, if there should be none."""
    return "" if isinstance(problem.expected, Phrase) else problem.expected


def _fixed_text(half: Half) -> str:
    signs = ("=" if hop.end == 0 else "*" if hop.end in half.hits else "-" for hop in half.hops)
    return " ".join(
        f"{h.start:02}{sign}{die}" for h, sign, die in zip(half.hops, signs, half.dice, strict=True)
    )


def _faces(roll: Roll) -> tuple[int, int]:
    return roll.first, roll.second
