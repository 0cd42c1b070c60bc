"""A record as text: what its bytes say, where a fault is, and what was put right on the way in.

Every reader takes a `Text` and either gives what it read with its notes or raises RecordError with all faults it found.
Lines and columns count from 1, columns in characters of the normalised text.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import RuleError
from engine.records.wanted import Wanted, phrase


@dataclass(frozen=True, slots=True)
class Fault:
    """Where and why a text is wrong: the offending text itself, and what was expected in its place."""

    line: int
    column: int
    code: str
    text: str
    expected: Wanted
    message: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column} {self.code}: {self.message}"


@dataclass(frozen=True, slots=True)
class Note:
    """What was read otherwise than it was written, or is doubtful; no reason to refuse."""

    line: int
    column: int
    code: str
    text: str
    message: str


class RecordError(RuleError):
    """A text that is no such record; at least one fault, in the order of the text."""

    code = "bad-record"

    def __init__(self, faults: Sequence[Fault]) -> None:
        first = faults[0]
        super().__init__(first.message, line=first.line, column=first.column, fault=first.code)
        self.faults = tuple(faults)


class NotInForm(RuleError):
    """A form that cannot hold this record, or needs what the record does not know; `missing` is a code for what."""

    code = "not-in-form"

    def __init__(self, form: str, missing: str, detail: str) -> None:
        super().__init__(detail, form=form, missing=missing)
        self.form, self.missing = form, missing


@dataclass(frozen=True, slots=True)
class Text:
    """A normalised text: lines end with \\n alone, spaces are spaces, dashes are hyphens.

    What stands between the quotes of a tag, `[Name "…"]`, is somebody's words and is kept as it is.
    """

    text: str
    notes: tuple[Note, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Its lines without their ends; the first is number 1 for faults and notes."""
        return self.text.split("\n")


# Spaces and dashes that people's programs put in place of the plain ones; length is kept, so that columns hold.
_SPACES = dict.fromkeys(
    map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"),
    " ",
)
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), None)
_CHANGES = (
    (_SPACES, "spaces", "Special spaces were read as spaces."),
    (_DASHES, "dashes", "Dashes were read as hyphens."),
    (_INVISIBLE, "invisible", "Invisible characters were left out."),
)


def read_bytes(data: bytes) -> Text:
    """What these bytes say: UTF-8 or UTF-16 by their mark, else UTF-8, else Windows-1251 or KOI8-R by their letters.

    Raises RecordError (`unreadable-bytes`) for what is no text.
    """
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            return _read_as(data[len(mark) :], encoding, f"byte-order mark, {encoding}")
    if (guess := _utf16(data)) is not None:
        return _read_as(data, guess, guess)
    try:
        return normalised(data.decode("utf-8"))
    except UnicodeDecodeError:
        return _read_as(data, _cyrillic(data), _cyrillic(data))


def _read_as(data: bytes, encoding: str, said: str) -> Text:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as wrong:
        before = data[: wrong.start]
        line = before.count(b"\n") + 1
        fault = Fault(
            line,
            1,
            "unreadable-bytes",
            data[wrong.start : wrong.end].hex(),
            phrase("text"),
            f"These bytes are no {encoding}.",
        )
        raise RecordError([fault]) from None
    return normalised(text, [Note(1, 1, "encoding", said, f"Read as {said}.")])


def _utf16(data: bytes) -> str | None:
    """Without a mark: plain letters leave every other byte zero."""
    sample = data[:400]
    if len(sample) < 4 or b"\0" not in sample:
        return None
    return "utf-16-le" if sample[1::2].count(0) >= sample[0::2].count(0) else "utf-16-be"


def _cyrillic(data: bytes) -> str:
    """Windows-1251 or KOI8-R: in real words small letters are many and capitals few."""

    def small(encoding: str) -> int:
        text = data.decode(encoding, "replace")
        return sum(("а" <= letter <= "я") - ("А" <= letter <= "Я") for letter in text)

    return "koi8-r" if small("koi8-r") > small("windows-1251") else "windows-1251"


def normalised(text: str, notes: Sequence[Note] = ()) -> Text:
    """Plain spaces, hyphens and line ends; each kind of change is one note, at the first place where it was made.

    Text between the quotes of a tag is left alone.
    """
    found = list(notes)
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        found.append(_line_ends(text))
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    for table, code, words in _CHANGES:
        if not any(map(text.__contains__, map(chr, table))):
            continue
        is_noted = False
        for number, line in enumerate(lines):
            before, words_of_tag, after = _around_quotes(line)
            changed = before.translate(table) + words_of_tag + after.translate(table)
            if changed == line:
                continue
            lines[number] = changed
            if not is_noted:
                is_noted = True
                column = next(
                    column
                    for column, letter in enumerate(line, 1)
                    if ord(letter) in table and not len(before) < column <= len(before) + len(words_of_tag)
                )
                found.append(Note(number + 1, column, code, line[column - 1], words))
    return Text("\n".join(lines), tuple(found))


def plain(text: str) -> str:
    """The same with plain spaces and hyphens and nothing invisible: for a tag whose words are no one's own."""
    for table, _, _ in _CHANGES:
        text = text.translate(table)
    return text


def _line_ends(text: str) -> Note:
    index = text.index("\r")
    line = text.count("\n", 0, index) + 1
    return Note(line, index - text.rfind("\n", 0, index), "line-ends", "\r", "Line ends were made \\n.")


def _around_quotes(line: str) -> tuple[str, str, str]:
    """A line before, inside and after the quotes of a tag; any other line is all before."""
    first, last = line.find('"'), line.rfind('"')
    if first == last or not line.lstrip().startswith("[") or not line.rstrip().endswith("]"):
        return line, "", ""
    return line[: first + 1], line[first + 1 : last], line[last:]
