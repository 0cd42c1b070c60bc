"""Reads an objective record in any of its forms and languages, and plays it through: reading is checking.

What people write otherwise and can mean only one thing is read with a note; everything else is a fault with its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from itertools import pairwise

from engine.dice import Roll
from engine.errors import RuleError
from engine.plays import Hop
from engine.position import BAR, OFF
from engine.records.half import Half
from engine.records.objective.record import (
    GAME,
    TAGS,
    Line,
    Record,
    Result,
    changes_text,
    roll_of,
    ruleset_of,
)
from engine.records.objective.replay import (
    Mismatch,
    Place,
    Problem,
    Replay,
    Replayed,
)
from engine.records.objective.words import INTERNATIONAL, LANGUAGES, RUSSIAN, Language, folded
from engine.records.objective.writer import FORMS, fixed_head
from engine.records.text import Fault, Note, RecordError, Text, plain
from engine.records.wanted import Wanted, any_of, phrase
from engine.ruleset import PRESETS
from engine.scoring import Outcome
from engine.turn import Seat, Seats
from engine.variant import VARIANTS

MAX_CHARACTERS = 1_000_000  # the longest match that was ever simulated has a tenth of it
MAX_FAULTS = 100  # told at once
_FREE = frozenset({"Player1", "Player2", "Event", "Round"})  # somebody's own words


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """A record that was read: in which form and language it was written, and what was read otherwise."""

    record: Record
    form: str
    language: Language
    notes: tuple[Note, ...]
    replayed: Replayed


def read(text: Text, form: str | None = None) -> ReadRecord:
    """The record that this text is, in this form, or in the one that it seems to have.

    Raises RecordError with every fault found.
    """
    parsed = parse(text, form)
    if parsed.faults:
        raise RecordError(parsed.faults)
    try:
        replayed = Replay(parsed.tags).whole(parsed.lines, parsed.result)
    except Mismatch as wrong:
        raise RecordError([parsed.fault(problem) for problem in wrong.problems]) from None
    return parsed.reading(replayed)


def recognise(text: Text) -> tuple[str, int]:
    """The form that this text seems to have, and how sure that is, 0 to 100."""
    is_named, counts, lines = False, dict.fromkeys(FORMS, 0), 0
    for line in _beginning(text):
        if line.lstrip().startswith("["):
            is_named = is_named or GAME in line
        elif line.strip():
            lines += 1
            form = _form_of(line)
            if form:
                counts[form] += 1
    form = max(counts, key=lambda key: counts[key])
    if is_named:
        return form if counts[form] else _named_form(text), 100
    return form, 90 * counts[form] // lines if lines else 0


def _form_of(line: str) -> str | None:
    return next((form for form, shape in _SHAPES.items() if shape.match(line)), None)


def _beginning(text: Text) -> list[str]:
    """Lines enough to tell by what a text is."""
    return text.text[:20_000].split("\n")


def language_of(text: Text) -> Language:
    """By the names of the tags; without any, by the words of the lines."""
    lines = _beginning(text)
    names = [line.split('"')[0] for line in lines if line.lstrip().startswith("[")]
    words = " ".join(names or lines).lower()
    russian = sum("а" <= letter <= "я" or letter == "ё" for letter in words)
    latin = sum("a" <= letter <= "z" for letter in words)
    return RUSSIAN if russian > latin else INTERNATIONAL


_SHAPES = {
    "full": re.compile(r"\s*\d+\s*[).]?\s*[^\W\d]\s+\S{1,3}\s*\|[^|]*\|[^|]*$"),
    "short": re.compile(r"\s*\d+\s*[).]\s*[^|\[\]]*\|[^|\[\]]*$"),
    "fixed": re.compile(r"\s*\d+[).]?\s*[^\W\d]\s+\d\d\s+\S{2}[-*=]\S(?:\s+\S{2}[-*=]\S)*\s*$"),
}


def _named_form(text: Text) -> str:
    said = re.search(r'\[\s*(?:Record|Запись)\s+"(\w+)"', text.text)
    return said[1] if said and said[1] in FORMS else "full"


# --------------------------------------------------------------------------------------------------------- parsing


@dataclass(frozen=True, slots=True)
class Cell:
    """Half a line in its text: where it begins, what stands there, and what it was read as (None: unreadable).

    `text` is the play; `tenths` the seconds after it, where there are any.
    """

    line: int
    column: int
    text: str
    written: Half | None
    tenths: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the record in its text; `dice` as they stand there, empty in a form without."""

    line: int
    column: int
    dice: str
    roll: Roll | None
    cells: Seats[Cell]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text taken apart: nothing is played yet. `places` are line and column of tags and of `result`."""

    form: str
    language: Language
    tags: Mapping[str, str]
    rows: tuple[Row, ...]
    result: Result | None
    places: Mapping[str, tuple[int, int]]
    faults: tuple[Fault, ...]
    notes: tuple[Note, ...]

    @property
    def lines(self) -> list[Line]:
        """What is to be played; only where nothing is unreadable."""
        lines = []
        for row in self.rows:
            a, b = row.cells.A.written, row.cells.B.written
            assert a is not None
            assert b is not None
            lines.append(Line(row.roll, Seats(a, b)))
        return lines

    def fault(self, problem: Problem) -> Fault:
        """A problem of the replay, where it stands in the text."""
        line, column, text = self.where(problem.place)
        return Fault(line, column, problem.code, problem.text or text, problem.expected, problem.message)

    def where(self, place: Place) -> tuple[int, int, str]:
        """Line, column, and what stands there."""
        if place.line is None:
            return *self.places.get(place.tag or "", (1, 1)), ""
        row = self.rows[place.line]
        if place.seat is None:
            return row.line, row.column, row.dice
        cell = row.cells[place.seat]
        return cell.line, cell.column, cell.text

    def reading(self, replayed: Replayed) -> ReadRecord:
        """The record with its tags in their order, and every note of the text and of the replay."""
        found = []
        for problem in replayed.notes:
            line, column, text = self.where(problem.place)
            found.append(Note(line, column, problem.code, text, problem.message))
        tags = tuple((name, self.tags[name]) for name in TAGS if name in self.tags)
        record = replace(replayed.record, tags=tags)
        notes = (*self.notes, *sorted(found, key=lambda note: (note.line, note.column)))
        return ReadRecord(record, self.form, self.language, notes, replace(replayed, record=record))


def parse(text: Text, form: str | None = None) -> Parsed:
    """The text taken apart; its faults are listed, not raised."""
    return _Parser(text, form).parsed()


class _Unreadable(Exception):
    """A part of a line that means nothing; its fault is noted already."""


class _Parser:
    def __init__(self, text: Text, form: str | None) -> None:
        self.lines = text.lines
        self.faults: list[Fault] = []
        self.notes = list(text.notes)
        self.tags: dict[str, str] = {}
        self.places: dict[str, tuple[int, int]] = {}
        self.rows: list[Row] = []
        self.number = 1  # of the line that is to come
        self.result: Result | None = None
        self.result_line: int | None = None
        self.form = form or recognise(text)[0]
        self.language = language_of(text)
        self.is_too_long = len(text.text) > MAX_CHARACTERS

    def parsed(self) -> Parsed:
        if self.is_too_long:
            self.fault(
                1,
                1,
                "too-long",
                "",
                phrase("at-most-characters", n=MAX_CHARACTERS),
                "This is too long for a match.",
            )
        elif not any(line.strip() for line in self.lines):
            self.fault(1, 1, "empty", "", phrase("a-record"), "There is nothing here.")
        else:
            for number, line in enumerate(self.lines, 1):
                if len(self.faults) >= MAX_FAULTS:
                    break
                try:
                    self._line(number, line)
                except _Unreadable:
                    continue
            self._finish_tags()
        return Parsed(
            self.form,
            self.language,
            self.tags,
            tuple(self.rows),
            self.result,
            self.places,
            tuple(self.faults[:MAX_FAULTS]),
            tuple(self.notes),
        )

    # ------------------------------------------------------------------------------------------------ what is said

    def fault(self, line: int, column: int, code: str, text: str, expected: Wanted, message: str) -> None:
        self.faults.append(Fault(line, column, code, text, expected, message))

    def wrong(
        self, line: int, column: int, code: str, text: str, expected: Wanted, message: str
    ) -> _Unreadable:
        """Notes a fault; the rest of the line is left."""
        self.fault(line, column, code, text, expected, message)
        return _Unreadable()

    def note(self, line: int, column: int, code: str, text: str, message: str) -> None:
        self.notes.append(Note(line, column, code, text, message))

    def word(
        self, line: int, column: int, word: str, pick: Callable[[Language], Mapping[str, str]]
    ) -> str | None:
        """The key of a word: as the record's language has it, else as it can only be meant, with a note."""
        known = pick(self.language)
        if word in known:
            return known[word]
        others = [pick(language) for language in LANGUAGES.values() if language is not self.language]
        for other in others:
            if word in other:
                self.note(line, column, "other-language", word, f"{word} is a word of the other language.")
                return other[word]
        for words in (known, *others):
            for right, key in words.items():
                if folded(right) == folded(word):
                    self._note_likeness(line, column, word, right)
                    return key
        return None

    def _note_likeness(self, line: int, column: int, word: str, right: str) -> None:
        if word.casefold() == right.casefold():
            self.note(line, column, "letter-case", word, f"{word} was read as {right}.")
        else:
            self.note(
                line, column, "look-alike", word, f"{word} was read as {right}: letters that look alike."
            )

    # ------------------------------------------------------------------------------------------------------- lines

    def _line(self, number: int, line: str) -> None:
        if not line.strip():
            return
        column = len(line) - len(line.lstrip()) + 1
        if self.result_line is not None:
            words = f"The result in line {self.result_line} ends a record."
            raise self.wrong(number, column, "after-result", line.strip(), phrase("the-end"), words)
        if line.lstrip().startswith("["):
            if self.rows:
                raise self.wrong(
                    number, column, "late-tag", line.strip(), phrase("a-line"), "Tags stand before the lines."
                )
            self._tag(number, line)
        elif _RESULT.match(line):
            self._result(number, line)
        else:
            self._row(number, line)

    def _row(self, number: int, line: str) -> None:
        reader = {"short": self._short, "full": self._full, "fixed": self._fixed}[self.form]
        try:
            self.rows.append(reader(_Cursor(self, number, line)))
        finally:
            self.number += 1

    def _result(self, number: int, line: str) -> None:
        found = _RESULT.match(line)
        assert found is not None
        self.result_line = number
        self.places["result"] = number, found.start("a") + 1
        self._check_number(number, found.start("no") + 1, found["no"])
        if not _WHOLE_RESULT.fullmatch(line):
            at = found.start("a")
            raise self.wrong(
                number,
                at + 1,
                "result",
                line[at:].strip(),
                phrase("points"),
                "This is no result.",
            )
        if "+" in line:
            self.note(number, line.index("+") + 1, "sign", "+", "A plus sign is not written.")
        whole = _WHOLE_RESULT.fullmatch(line)
        assert whole is not None
        points = Seats(int(whole["a"]), int(whole["b"]))
        total = None if whole["ta"] is None else Seats(int(whole["ta"]), int(whole["tb"]))
        self.result = Result(points, total)

    def _check_number(self, line: int, column: int, text: str) -> None:
        expected = self.number
        if int(text) != expected:
            words = f"This is line {expected} of the record, not {int(text)}."
            self.fault(line, column, "line-number", text, f"{expected:02}", words)
            if 0 < int(text) - expected <= 2:  # lines were left out: one fault is enough
                self.number = int(text)
        elif len(text) < 2 or text != f"{expected:02}":
            self.note(line, column, "number", text, f"Numbers are written {expected:02}.")

    def head(self, at: _Cursor) -> None:
        """The number of the line."""
        column = at.column
        found = at.take(r"\d{1,6}", "line-number", f"{self.number:02}", "A line begins with its number.")
        self._check_number(at.line, column, found[0])
        mark = at.take(r"[).]?", "", "", "")[0]
        if (mark or " ") != (" " if self.form == "fixed" else ")"):
            right = f"{self.number:02}" + ("" if self.form == "fixed" else ")")
            self.note(
                at.line, column, "number", found[0] + mark, f"Numbers are written {right} in this form."
            )

    def color(self, at: _Cursor) -> None:
        at.skip()
        column = at.column
        found = at.take(r"[^\W\d_]+", "colour", self._right_color(), "Here stands the colour that plays.")
        index = (self.number - 1) % 2
        right = self.language.colors[index]
        if found[0] == right:
            return
        other = RUSSIAN if self.language is INTERNATIONAL else INTERNATIONAL
        if found[0] == other.colors[index]:
            self.note(
                at.line, column, "other-language", found[0], f"{found[0]} is a word of the other language."
            )
            return
        likely = {color: str(n) for n, color in enumerate(self.language.colors)}
        key = likely.get(found[0])
        # Latin b, Black, and Cyrillic б, White, look alike: which is meant follows from the number of the line.
        if key is None and folded(found[0]) in {"б", "b", "w", "ч"}:
            key = (
                str(index)
                if found[0].casefold() in ("б", "b")
                else "1"
                if found[0].casefold() == "ч"
                else "0"
            )
            if key == str(index):
                self._note_likeness(at.line, column, found[0], right)
        if key != str(index):
            words = "Odd lines are White's, even ones Black's."
            self.fault(at.line, column, "colour", found[0], right, words)

    def _right_color(self) -> str:
        return self.language.colors[(self.number - 1) % 2]

    def dice(self, at: _Cursor) -> tuple[int, str, Roll]:
        at.skip()
        column = at.column
        found = at.take(
            r"([1-6])([-:xх,+]?)([1-6])(?!\w)", "dice", phrase("two-dice"), "Here stand the two dice."
        )
        roll = roll_of(int(found[1]), int(found[3]))
        right = f"{roll.first}{roll.second}"
        if found[0] != right:
            self.note(
                at.line,
                column,
                "dice-order" if not found[2] else "spelling",
                found[0],
                f"Dice are written {right}.",
            )
        return column, found[0], roll

    def _full(self, at: _Cursor) -> Row:
        self.head(at)
        self.color(at)
        column, dice, roll = self.dice(at)
        cells = []
        for _ in Seat:
            at.skip()
            at.take(r"\|", "column", "|", "Columns are parted by |.")
            cells.append(self._cell(at, at.until_bar(), with_seconds=True))
        at.end()
        return Row(at.line, column, dice, roll, Seats(*cells))

    def _short(self, at: _Cursor) -> Row:
        self.head(at)
        at.skip()
        column = at.column
        a = self._cell(at, at.until_bar(), with_seconds=False)
        at.take(r"\|", "column", "|", "Columns are parted by |.")
        b = self._cell(at, at.until_bar(), with_seconds=False)
        at.end()
        return Row(at.line, column, "", None, Seats(a, b))

    # ------------------------------------------------------------------------------------------------------- plays

    def _cell(self, at: _Cursor, part: tuple[int, str], *, with_seconds: bool) -> Cell:
        """One player's half: his play, and in the full form his seconds."""
        start, text = part
        tokens = [(start + found.start() + 1, found[0]) for found in re.finditer(r"\S+", text)]
        before = len(self.faults)
        tenths = None
        if with_seconds:
            tenths = self._seconds(at.line, tokens, start + len(text.rstrip()) + 1)
        column = tokens[0][0] if tokens else start + 1
        played = (
            text.strip()
            if not tokens
            else text[tokens[0][0] - 1 - start : tokens[-1][0] - 1 - start + len(tokens[-1][1])]
        )
        written = self._play(at.line, column, tokens, tenths)
        return Cell(at.line, column, played, None if len(self.faults) > before else written, tenths)

    def _seconds(self, line: int, tokens: list[tuple[int, str]], end: int) -> int | None:
        """Takes the seconds off the end of a cell's tokens; as tenths."""
        column, token = tokens[-1] if tokens else (end, "")
        found = re.fullmatch(r"(\d{1,7})(?:([.,])(\d))?(?:s|с)?", token)
        if found is None:
            self.fault(line, column, "seconds", token, phrase("seconds"), "A cell ends with its seconds.")
            if tokens and not set(token) & set("/-="):
                tokens.pop()
            return None
        tokens.pop()
        if token != f"{int(found[1])}.{found[3] or 0}":
            right = f"{int(found[1])}.{found[3] or 0}"
            self.note(line, column, "seconds", token, f"Seconds are written {right}.")
        return 10 * int(found[1]) + int(found[3] or 0)

    def _play(
        self, line: int, column: int, tokens: Sequence[tuple[int, str]], tenths: int | None
    ) -> Half | None:
        if not tokens:
            self.fault(line, column, "play", "", phrase("play"), "Here stands a play; -- is a pass.")
            return None
        if len(tokens) == 1:
            kind = self._no_play(*tokens[0], line)
            if kind is not None:
                return Half(kind, tenths=tenths)
        hops: list[Hop] = []
        hits: set[int] = set()
        for at, token in tokens:
            alone = re.fullmatch(r"\(([2-4])\)", token)
            if alone and hops:
                self.note(
                    line, at, "spelling", token, "A number of checkers is written without a space before it."
                )
                hops += [hops[-1]] * (int(alone[1]) - 1)
                continue
            try:
                path, star, count = self._token(line, at, token)
            except _Unreadable:
                return None
            hops += path * count
            hits |= star
        return Half("play", tuple(hops), hits=frozenset(hits), tenths=tenths)

    def _no_play(self, column: int, token: str, line: int) -> str | None:
        """A token that stands for a pass, or for a play never made."""
        if token in ("--", "=="):
            return "pass" if token == "--" else "missed"
        for kind, right, words in (
            ("pass", "--", ("-", "---", "----", "pass", "пас", "пасс", "0")),
            ("missed", "==", ("=", "===", "====")),
        ):
            if token.casefold() in words:
                self.note(line, column, "spelling", token, f"{token} was read as {right}.")
                return kind
        return None

    def _token(self, line: int, column: int, token: str) -> tuple[list[Hop], set[int], int]:
        """The hops of one token, the points that it hits, and how many checkers go that way."""
        whole = _TOKEN.fullmatch(token)
        expected = phrase("from-to")
        if whole is None:
            raise self.wrong(line, column, "play", token, expected, f"{token} is no move.")
        if whole["late"] or whole["comma"] or (whole["star"] or "*") != "*":
            self.note(
                line,
                column,
                "spelling",
                token,
                "A hit is written *, before a number of checkers, without commas.",
            )
        parts = whole["path"].split("/")
        if len(parts) == 1:
            for other in "\\:-":
                if other in whole["path"]:
                    parts = whole["path"].split(other)
                    self.note(line, column, "spelling", token, "A move is written with a slash.")
                    break
        if len(parts) < 2 or len(parts) > 5:
            raise self.wrong(line, column, "play", token, expected, f"{token} is no move.")
        points, hits = [], set()
        for index, part in enumerate(parts):
            bare = part.rstrip("*")
            at = column + token.find(part)
            point = self._point(line, at, bare, is_first=index == 0, is_last=index == len(parts) - 1)
            if point is None:
                limits = any_of(("1–24", self.language.bar if index == 0 else self.language.off))
                raise self.wrong(
                    line, at, "point", part, limits, f"{part} is no point that a checker can be on here."
                )
            points.append(point)
            if bare != part:
                hits.add(point)
        if whole["star"] or whole["late"]:
            hits.add(points[-1])
        if len(parts) > 2:
            self.note(line, column, "several-points", token, "One move a die is written.")
        path = [Hop(*pair) for pair in pairwise(points)]
        return path, hits, int(whole["count"] or 1)

    def _point(self, line: int, column: int, text: str, *, is_first: bool, is_last: bool) -> int | None:
        """A point by its number or word: the bar only where a move begins, off only where it ends."""
        if re.fullmatch(r"\d{1,2}", text):
            point = int(text)
            if (point == BAR and is_first) or (point == OFF and is_last):
                right = self.language.bar if point == BAR else self.language.off
                self.note(line, column, "spelling", text, f"{text} was read as {right}.")
                return point
            if text != str(point):
                self.note(line, column, "spelling", text, f"{text} was read as {point}.")
            return point if 1 <= point <= 24 else None
        if is_first:
            return BAR if self.word(line, column, text, lambda lang: {lang.bar: "bar"}) else None
        if is_last:
            return OFF if self.word(line, column, text, lambda lang: {lang.off: "off"}) else None
        return None

    def _fixed(self, at: _Cursor) -> Row:
        self.head(at)
        self.color(at)
        column, dice, roll = self.dice(at)
        count = 4 if roll.is_double else 2
        groups = at.tokens()
        if len(groups) != 2 * count:
            words = f"A roll of {roll} has {count} groups for each player."
            where = groups[-1][0] if groups else at.column
            raise self.wrong(at.line, where, "groups", str(len(groups)), phrase("groups", n=2 * count), words)
        cells = Seats(*(self._groups(at.line, roll, groups[k * count :][:count]) for k in (0, 1)))
        first = len(fixed_head(self.number, "w", "11")) + 1
        if groups[0][0] != first or groups[count][0] != first + 20:
            words = f"Player 1's groups begin in column {first}, player 2's in column {first + 20}."
            self.note(at.line, groups[0][0], "columns", "", words)
        return Row(at.line, column, dice, roll, cells)

    def _groups(self, line: int, roll: Roll, groups: Sequence[tuple[int, str]]) -> Cell:
        """One player's groups of the fixed form, each a die."""
        text = " ".join(group for _, group in groups)
        column = groups[0][0]
        if all(group == "====" for _, group in groups):
            return Cell(line, column, text, Half("missed"))
        dice = [roll.first] * 4 if roll.is_double else [roll.first, roll.second]
        hops: list[Hop] = []
        hits: set[int] = set()
        before = len(self.faults)
        for at, group in groups:
            if group == "----":
                continue
            found = re.fullmatch(r"(\d{2})([-*=])([1-6])", group)
            if found is None or not 1 <= int(found[1]) <= BAR:
                words = f"{group} is no move by one die."
                self.fault(line, at, "group", group, phrase("group"), words)
                continue
            start, sign, die = int(found[1]), found[2], int(found[3])
            end = max(start - die, OFF)
            if die not in dice:
                words = f"No {die} is left of the roll {roll}."
                self.fault(line, at, "group", group, phrase("die-of", roll=roll), words)
                continue
            dice.remove(die)
            if (sign == "=") is not (end == OFF):
                words = f"{start} with a {die} " + ("bears off" if end == OFF else f"goes to {end}") + "."
                self.fault(line, at, "group", group, f"{start:02}{'=' if end == OFF else '-'}{die}", words)
                continue
            hops.append(Hop(start, end))
            if sign == "*":
                hits.add(end)
        kind = "play" if hops else "pass"
        is_read = len(self.faults) == before
        return Cell(line, column, text, Half(kind, tuple(hops), hits=frozenset(hits)) if is_read else None)

    # -------------------------------------------------------------------------------------------------------- tags

    def _tag(self, number: int, line: str) -> None:
        found = _TAG.fullmatch(line)
        column = len(line) - len(line.lstrip()) + 1
        if found is None:
            raise self.wrong(number, column, "tag", line.strip(), '[Name "text"]', "This is no tag.")
        name_at = found.start("name") + 1
        name = self.word(
            number, name_at, found["name"], lambda lang: {w: key for key, w in lang.tags.items()}
        )
        if name is None:
            close = get_close_matches(found["name"], self.language.tags.values(), 1)
            expected = close[0] if close else any_of(self.language.tags.values())
            raise self.wrong(
                number, name_at, "unknown-tag", found["name"], expected, f"There is no tag {found['name']}."
            )
        if found["open"] != '"' or found["close"] != '"':
            self.note(number, found.start("open") + 1, "quotes", found["open"], 'Quotes are written ".')
        at = found.start("text") + 1
        if name in self.places:
            words = f"{found['name']} stands in line {self.places[name][0]} already."
            raise self.wrong(number, name_at, "repeated-tag", found["name"], phrase("each-tag-once"), words)
        self.places[name] = number, at
        text = self._unescaped(number, at, found["text"])
        if name not in _FREE:
            cleaned = plain(text).strip()
            if cleaned != text:
                self.note(number, at, "spelling", text, f"Read as {cleaned}.")
            text = cleaned
        self.tags[name] = self._value(name, number, at, text)

    def _unescaped(self, line: int, column: int, text: str) -> str:
        r"""The text of a tag without its escapes: \\, \", \uXXXX."""

        def one(found: re.Match[str]) -> str:
            if found[1] and not 0xD800 <= int(found[1], 16) < 0xE000:  # half a letter is no text
                return chr(int(found[1], 16))
            if found[2]:
                return found[2]
            where = column + found.start()
            self.fault(
                line,
                where,
                "escape",
                found[0],
                any_of((r"\\", r"\"", r"\uXXXX")),
                "After a backslash stands what it escapes.",
            )
            return found[0]

        return re.sub(r'\\(?:u([0-9a-fA-F]{4})|(["\\])|)', one, text)

    def _value(self, name: str, line: int, column: int, text: str) -> str:
        """The text of a tag in its international spelling."""

        def refused(expected: Wanted, words: str) -> _Unreadable:
            return self.wrong(line, column, "tag-text", text, expected, words)

        shape, expected = _VALUES.get(name, ("", ""))
        if name in _HEX and text != text.lower() and re.fullmatch(shape, text.lower()):
            self.note(line, column, "letter-case", text, "Hexadecimal digits are written small.")
            text = text.lower()
        if shape and not re.fullmatch(shape, text):
            raise refused(expected, f"{name} is {expected}.")
        match name:
            case "Game" if text != GAME:
                raise refused(GAME, "This is the record of another game.")
            case "Date" if not _is_date(text):
                raise refused(expected, f"{name} is {expected}.")
            case "GameX" | "GameY":
                return self._game(line, column, text)
            case "Credit":
                a, b = map(int, text.split(":"))
                if a != -b:
                    raise refused(f"{a}:{-a}", "What one player is credited the other is debited.")
                return f"{a}:{-a}"
            case "Time1" | "Time2" | "TimeAdjustment" | "Parted":
                return str(int(text))
        return text

    def _game(self, line: int, column: int, text: str) -> str:
        """`W oin`: the outcome, and the class of the lost game in either language."""
        found = re.fullmatch(r"(\S)(?:\s+(\S+))?", text)
        letters = {letter: letter for letter in "WKTC-"}
        outcome = found and self.word(line, column, found[1], lambda _: letters)
        loss_class: str | None = None
        if found and found[2]:
            where = column + found.start(2)
            loss_class = self.word(
                line, where, found[2], lambda lang: {w: key for key, w in lang.classes.items()}
            )
        if outcome is None or (found and found[2] and loss_class is None):
            expected = phrase(
                "tag-game", outcomes=any_of("WKTC-"), classes=any_of(self.language.classes.values())
            )
            raise self.wrong(line, column, "tag-text", text, expected, "This is not how a game ends.")
        return f"{outcome} {loss_class}" if loss_class else outcome

    def _finish_tags(self) -> None:
        """What tags say together: the form, and the settings in their one spelling."""
        said = self.tags.pop("Record", None)
        if said is not None and said != self.form and self.rows:
            line, column = self.places["Record"]
            words = f"The lines are written in the {self.form} form."
            self.fault(line, column, "wrong-form", said, self.form, words)
        elif said is not None:
            self.form = said
        if "RulesetJson" in self.tags:
            try:
                ruleset = ruleset_of(self.tags)
            except RuleError:
                return  # the replay says what is wrong
            base = PRESETS[self.tags.get("Ruleset", "objective")].ruleset
            canonical = changes_text(ruleset, base)
            if canonical != self.tags["RulesetJson"]:
                line, column = self.places["RulesetJson"]
                self.note(line, column, "spelling", self.tags["RulesetJson"], f"Read as {canonical}.")
                self.tags["RulesetJson"] = canonical
            if canonical == "{}":
                del self.tags["RulesetJson"]


class _Cursor:
    """A place in one line."""

    def __init__(self, parser: _Parser, line: int, text: str) -> None:
        self.parser, self.line, self.text, self.at = parser, line, text, 0
        self.skip()

    @property
    def column(self) -> int:
        return self.at + 1

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def take(self, pattern: str, code: str, expected: Wanted, message: str) -> re.Match[str]:
        """What matches here, or a fault that names what stands here."""
        found = re.compile(pattern).match(self.text, self.at)
        if found is None:
            rest = self.text[self.at :].split(maxsplit=1)
            raise self.parser.wrong(self.line, self.column, code, rest[0] if rest else "", expected, message)
        self.at = found.end()
        return found

    def until_bar(self) -> tuple[int, str]:
        """The text up to the next column, and where it begins."""
        end = self.text.find("|", self.at)
        end = len(self.text) if end < 0 else end
        part = self.at, self.text[self.at : end]
        self.at = end
        return part

    def tokens(self) -> list[tuple[int, str]]:
        """The words from here on with their columns."""
        found = [(self.at + m.start() + 1, m[0]) for m in re.finditer(r"\S+", self.text[self.at :])]
        self.at = len(self.text)
        return found

    def end(self) -> None:
        """Nothing more may stand here."""
        self.skip()
        if self.at < len(self.text):
            rest = self.text[self.at :].strip()
            raise self.parser.wrong(
                self.line, self.column, "line-end", rest, phrase("end-of-line"), "This is too much."
            )


def _is_date(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


_RESULT = re.compile(r"\s*(?P<no>\d{1,6})\s*[).]?\s+(?P<a>[+-]?\d{1,9})\s*:")
_WHOLE_RESULT = re.compile(
    r"\s*\d{1,6}\s*[).]?\s+(?P<a>[+-]?\d{1,9})\s*:\s*(?P<b>[+-]?\d{1,9})"
    r"(?:\s*\(\s*(?P<ta>[+-]?\d{1,9})\s*:\s*(?P<tb>[+-]?\d{1,9})\s*\))?\s*"
)
_TOKEN = re.compile(
    r"(?P<path>[\w*/\\:-]*[^\W_x×х*]|[\w/\\:*-]*[^\W_*])(?P<star>[*x×х])?"
    r"(?:\((?P<count>[2-4])\))?(?P<late>\*)?(?P<comma>[,;])?"
)
_TAG = re.compile(
    r'\s*\[\s*(?P<name>[^\s"«“„\[\]]+)\s*(?P<open>["“”„«])(?P<text>.*)(?P<close>["“”»])\s*\]\s*'
)
_HEX = frozenset({"Commitment", "Seed", "ClientSeed1", "ClientSeed2"})
_HEX64, _HEX32 = (r"[0-9a-f]{64}", phrase("tag-hex", n=64)), (r"[0-9a-f]{32}", phrase("tag-hex", n=32))
_NUMBER = (r"\d{1,12}", phrase("tag-number"))
_VALUES: dict[str, tuple[str, Wanted]] = {
    "Date": (
        r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)",
        phrase("tag-time"),
    ),
    "Record": ("|".join(FORMS), any_of(FORMS)),
    "Variant": ("|".join(VARIANTS), any_of(VARIANTS)),
    "Ruleset": ("|".join(PRESETS), any_of(PRESETS)),
    "DiceId": (r"[A-Za-z0-9-]{1,64}", phrase("tag-id")),
    "Commitment": _HEX64,
    "Seed": _HEX64,
    "ClientSeed1": _HEX32,
    "ClientSeed2": _HEX32,
    "Outcome": ("|".join(Outcome), any_of(Outcome)),
    "Credit": (r"[+-]?\d{1,9}:[+-]?\d{1,9}", phrase("tag-credit")),
    "Time1": _NUMBER,
    "Time2": _NUMBER,
    "TimeAdjustment": _NUMBER,
    "Parted": _NUMBER,
}
