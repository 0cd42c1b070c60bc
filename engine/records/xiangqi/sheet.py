"""Takes the text of a game apart: headers, words where moves are expected, comments, the result.

Read in any layout: several moves a line, numbers or none, `Red: …` for a header, UCCI's `position … moves`. Variations
and the marks ! and ? are left out with a note. Whether a move is legal is not asked here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from engine.records.text import Fault, Note, Text
from engine.records.wanted import Wanted, any_of, phrase
from engine.records.xiangqi.board import START, BadFen, Position
from engine.records.xiangqi.game import RESULTS, comment_text
from engine.records.xiangqi.notation import CHINESE, COORDINATES, DIALECTS, SCHOOLS, WXF, folded

MOST_PLIES = 10_000
MOST_TOLD = 100  # faults or notes of one text

_HEADERS = {
    "event": "Event", "赛事": "Event", "賽事": "Event", "событие": "Event",
    "site": "Site", "地点": "Site", "地點": "Site", "место": "Site",
    "date": "Date", "日期": "Date", "дата": "Date",
    "round": "Round", "轮次": "Round", "輪次": "Round", "тур": "Round",
    "red": "Red", "红方": "Red", "紅方": "Red", "красные": "Red",
    "black": "Black", "黑方": "Black", "чёрные": "Black", "черные": "Black",
    "result": "Result", "结果": "Result", "結果": "Result", "результат": "Result",
    "fen": "FEN", "format": "Format", "dialect": "Dialect", "letters": "Letters",
}  # fmt: skip
_RESULT_WORDS = {
    **{result: result for result in RESULTS},
    "½-½": "1/2-1/2",
    **dict.fromkeys(("红胜", "紅勝"), "1-0"),
    **dict.fromkeys(("黑胜", "黑勝"), "0-1"),
    **dict.fromkeys(("和棋", "和局"), "1/2-1/2"),
}
FORMATS = {"wxf": "wxf", "chinese": "cn", "iccs": "iccs", "ucci": "ucci", "uci": "uci"}

# Tags that mean something have one spelling.
_CANONICAL = {"game": "Game"} | {name.lower(): name for name in _HEADERS.values()}

TAG = re.compile(r'\s*\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*$')
_HEADER = re.compile(r"\s*(\w+)\s*[:：](.*)$")
UCCI_LINE = re.compile(r"\s*position\s+(startpos|fen)\b", re.IGNORECASE)
_ROUND = re.compile(r"[()]")
_WORD = r"[^\s{}();,、。]+"
TOKEN = re.compile(
    "|".join(
        (
            r"(?P<space>[\s,、。]+)",
            r"(?P<comment>\{[^}]*\})",
            r"(?P<rest>;[^\n]*)",
            rf"(?P<result>(?:{'|'.join(map(re.escape, _RESULT_WORDS))})(?![0-9A-Za-z+\-=/]))",
            rf"(?P<move>(?:{WXF}|{COORDINATES})(?![0-9A-Za-z+\-=])|{CHINESE})(?P<marks>[!?]*)",
            r"(?P<number>(?P<digits>[0-9]{1,4})(?:\.+|[):、]|(?=\s)))",
            r"(?P<dots>\.+|…+)",
            r"(?P<variation>\()",
            rf"(?P<word>{_WORD})",
        )
    )
)


@dataclass(frozen=True, slots=True)
class Ply:
    """A word where a move is expected, and where it stands."""

    text: str
    line: int
    column: int


@dataclass(slots=True)
class Sheet:
    """What a text has in it, before anybody asks whether the moves are legal."""

    start: Position = START
    tags: dict[str, str] = field(default_factory=dict)
    plies: list[Ply] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    result: str | None = None
    notes: list[Note] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    is_ucci_line: bool = False

    def note(self, line: int, column: int, code: str, text: str, message: str) -> None:
        """Each kind once, at its first place."""
        if all(note.code != code for note in self.notes):
            self.notes.append(Note(line, column, code, short(text), message))

    def fault(self, line: int, column: int, code: str, text: str, expected: Wanted, message: str) -> None:
        if len(self.faults) < MOST_TOLD:
            self.faults.append(Fault(line, column, code, short(text), expected, message))


def short(text: str) -> str:
    """Enough of a text to know it by."""
    return text if len(text) <= 40 else f"{text[:40]}…"


def take_apart(text: Text) -> Sheet:
    """What stands in this text; its faults are in the sheet."""
    return _Scanner(text).scan()


class _Scanner:
    """Takes a text apart, from top to bottom."""

    def __init__(self, text: Text) -> None:
        self._text = text.text
        self._folded = folded(self._text)
        self._starts = [0, *(found.end() for found in re.finditer("\n", self._text))]
        self.sheet = Sheet(notes=list(text.notes))

    def scan(self) -> Sheet:
        offset = self._headers()
        while offset < len(self._text):
            found = TOKEN.match(self._folded, offset)
            offset = self._token(found) if found else self._unexpected(offset)
        if self.sheet.result is None:
            self.sheet.result = self.sheet.tags.get("Result")
        return self.sheet

    def _at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    # headers

    def _headers(self) -> int:
        """Reads them, and says where the moves begin."""
        for number, start in enumerate(self._starts, 1):
            end = self._text.find("\n", start)
            line = self._text[start : end if end >= 0 else len(self._text)]
            if not line.strip():
                continue
            if tag := TAG.match(line):
                self._tag(number, tag[1], re.sub(r"\\(.)", r"\1", tag[2]), line)
            elif (header := _HEADER.match(line)) and (known := _HEADERS.get(header[1].lower())):
                self._tag(number, known, header[2].strip(), line)
            elif ucci := UCCI_LINE.match(line):
                self.sheet.is_ucci_line = True
                moves = re.search(r"\bmoves\b", line)
                if ucci[1].lower() == "fen":
                    self._tag(
                        number, "FEN", line[ucci.end() : moves.start() if moves else None].strip(), line
                    )
                return start + (moves.end() if moves else len(line))
            else:
                return start
        return len(self._text)

    def _tag(self, number: int, name: str, value: str, line: str) -> None:
        sheet, column = self.sheet, len(line) - len(line.lstrip()) + 1
        name = _CANONICAL.get(name.lower(), name)
        if name in sheet.tags:
            sheet.fault(number, column, "tag-twice", name, phrase("each-tag-once"), f"{name} is there twice.")
            return
        sheet.tags[name] = value
        if name == "FEN":
            try:
                sheet.start = Position.from_fen(value)
            except BadFen as wrong:
                sheet.fault(number, column, wrong.code, value, phrase("fen"), wrong.detail)
        elif name == "Result":
            if value not in _RESULT_WORDS:
                sheet.fault(
                    number, column, "bad-result", value, any_of(RESULTS), f"{short(value)} is no result."
                )
            sheet.tags[name] = _RESULT_WORDS.get(value, "*")
        elif name in ("Dialect", "Letters", "Format"):
            known = {"Dialect": DIALECTS, "Letters": SCHOOLS, "Format": tuple(FORMATS)}[name]
            sheet.tags[name] = value.lower()
            if value.lower() not in known:
                words = f"{name} is one of {', '.join(known)}."
                sheet.fault(number, column, "bad-tag", value, any_of(known), words)
                del sheet.tags[name]

    # moves

    def _token(self, found: re.Match[str]) -> int:
        """Takes up one token; says where the next one begins."""
        kind, start, end = found.lastgroup or "", *found.span()
        if kind == "marks":
            kind = "move"
        written = self._text[start:end]
        line, column = self._at(start)
        if kind in ("comment", "rest"):
            self._comment(written[1:-1] if kind == "comment" else written[1:])
        elif kind == "variation":
            return self._variation(start)
        elif kind == "number":
            self._number(int(found["digits"]), ".." in found[0], line, column, written)
        elif kind == "result":
            self._result(_RESULT_WORDS[found[0]], line, column)
        elif kind in ("move", "word"):
            if found["marks"]:
                self.sheet.note(line, column, "marks", written, "The marks ! and ? were left out.")
            self._ply(self._text[start : found.end("move") if kind == "move" else end], line, column)
        elif kind == "dots" and len(found[0]) > 1 and self._is_red():
            words = "Dots stand for a move of Red, but Red is to move."
            self.sheet.fault(line, column, "missing-move", written, phrase("a-move"), words)
        return end

    def _is_red(self) -> bool:
        return self.sheet.start.red is (len(self.sheet.plies) % 2 == 0)

    def _ply(self, text: str, line: int, column: int) -> None:
        sheet = self.sheet
        if sheet.result is not None:
            sheet.fault(line, column, "after-result", text, phrase("nothing"), "A game ends with its result.")
        elif len(sheet.plies) == MOST_PLIES:
            words = f"A game of more than {MOST_PLIES} plies is not read."
            sheet.fault(line, column, "too-many-moves", text, phrase("at-most-plies", n=MOST_PLIES), words)
            sheet.result = "*"
        else:
            sheet.plies.append(Ply(text, line, column))

    def _number(self, number: int, is_dotted: bool, line: int, column: int, written: str) -> None:
        plies = len(self.sheet.plies) + (not self.sheet.start.red)
        expected = self.sheet.start.number + plies // 2
        if not self._is_red() and not is_dotted and number != expected:
            words = f"Black's move {expected} is missing before number {number}."
            self.sheet.fault(line, column, "missing-move", written, phrase("blacks-move", n=expected), words)
        elif self._is_red() and is_dotted:
            words = "Dots after a number stand for a move of Red, but Red is to move."
            self.sheet.fault(line, column, "missing-move", written, phrase("reds-move", n=expected), words)
        elif number != expected:
            words = f"Number {number} stands where number {expected} is expected."
            self.sheet.note(line, column, "move-number", written, words)

    def _comment(self, words: str) -> None:
        if text := comment_text(words):
            self.sheet.comments.append((len(self.sheet.plies), text))

    def _variation(self, start: int) -> int:
        depth = 0
        for bracket in _ROUND.finditer(self._folded, start):
            depth += 1 if bracket[0] == "(" else -1
            if not depth:
                line, column = self._at(start)
                end = bracket.end()
                self.sheet.note(line, column, "variation", self._text[start:end], "Variations were left out.")
                return end
        return self._unexpected(start)

    def _result(self, result: str, line: int, column: int) -> None:
        sheet = self.sheet
        stated = sheet.tags.get("Result", "*")
        if sheet.result is not None:
            sheet.fault(
                line, column, "after-result", result, phrase("nothing"), "A game ends with its result."
            )
        elif "*" not in (stated, result) and stated != result:
            words = f"The tag says {stated}, the end of the game {result}."
            sheet.fault(line, column, "result-differs", result, stated, words)
        sheet.result = stated if result == "*" else result

    def _unexpected(self, offset: int) -> int:
        """A bracket without its other half: the rest of the text cannot be taken apart."""
        line, column = self._at(offset)
        sign = self._text[offset]
        words = f"This {sign} has no other half."
        self.sheet.fault(line, column, "unclosed", sign, phrase("closed-bracket"), words)
        return len(self._text)
