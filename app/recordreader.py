"""Reads a record that somebody sent, in a process of its own: `python -m app.recordreader`.

A long or hostile text may take a reader long, so that the server does not read it itself: a process can be ended. On
standard input come a line of JSON, the Question, and then the record's bytes; what it prints is the answer as JSON
after a line that says whether it is one, `answered` or `refused`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from app.recordunpack import text_of, text_of_pasted
from engine.errors import RuleError
from engine.position import Position
from engine.records import families
from engine.records.families import Recognised
from engine.records.family import Candidate, Edit, Options
from engine.records.ids import Exchange, position_id, xgid
from engine.records.text import Fault, Note, NotInForm, RecordError, Text
from engine.records.wanted import Phrase

MOST_TOLD = (
    500  # faults and notes of a text; a text that is wrong throughout says nothing more by its thousandth
)
MOST_MEMORY = 1 << 30  # bytes of the process
ANSWERED, REFUSED = b"answered\n", b"refused\n"


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What is asked of a record. None: what the text says of itself, else what is usual.

    text: the record, unless it comes as bytes · from, to: a family or a form · repair: list what a faulty text may have
    meant · choose: the number of one of that list, from 1 · dialect, letters: how it is written · language, to_letters:
    how it is to be written, to_letters else as letters says.
    """

    text: str | None = None
    source: str | None = msgspec.field(name="from", default=None)
    target: str | None = msgspec.field(name="to", default=None)
    repair: bool = False
    choose: int | None = None
    language: str | None = None
    dialect: str | None = None
    letters: str | None = None
    to_letters: str | None = None

    @property
    def reading(self) -> Options:
        """For the reader."""
        return Options(dialect=self.dialect, letters=self.letters, language=self.language)

    @property
    def writing(self) -> Options:
        """For the writer."""
        return replace(self.reading, letters=self.to_letters or self.letters)


@dataclass(frozen=True, slots=True)
class TakenFor:
    """What a text was taken for: family objective, mat, xiangqi or curling; how surely, 0 to 1."""

    family: str
    form: str
    language: str | None
    certainty: float


@dataclass(frozen=True, slots=True)
class Meant:
    """A record that the text may have meant, by the changes that lead to it."""

    edits: list[Edit]
    notes: list[Note]


@dataclass(frozen=True, slots=True)
class RecordFault:
    """Where and why a text is wrong. `expected`: notation, or a phrase in English, of which `phrase` tells more."""

    line: int
    column: int
    code: str
    text: str
    expected: str
    phrase: Phrase | None
    message: str


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """What a text was taken for, every fault in it with its place, and the record step by step if it is one.

    `text` is the text as it was read: lines and columns, counted from 1, are of it. `left_out`: how many faults and
    notes are not told. `candidates`: with `repair`, what it may have meant, fewest changes first; `chosen`, the number
    of the one that `steps` shows, is from 1. `targets`: the forms that the record can be converted to.
    """

    taken_for: TakenFor | None
    text: str
    faults: list[RecordFault]
    notes: list[Note]
    left_out: int
    candidates: list[Meant]
    chosen: int | None
    targets: list[str]
    steps: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class RecordConversion:
    """A record in another form. `converted` is null if there are faults, or several readings to choose from."""

    taken_for: TakenFor | None
    text: str
    faults: list[RecordFault]
    notes: list[Note]
    left_out: int
    candidates: list[Meant]
    chosen: int | None
    to: str
    converted: str | None


class Refusal(msgspec.Struct, frozen=True):
    """Why there is no answer: not-recognised, unknown-option, not-in-form."""

    code: str
    detail: str
    params: dict[str, str | int | None]


def answer(question: Question, data: bytes, *, convert: bool) -> RecordCheck | RecordConversion:
    """What is said of a record. Raises NotRecognised, UnknownOption, NotInForm."""
    try:
        text = text_of(data) if question.text is None else text_of_pasted(question.text)
    except RecordError as refused:  # no text at all, so no family either
        return _told(question, convert, None, Text(""), list(refused.faults), [])
    try:
        found, reading = families.read(text, question.source, question.reading, repair=question.repair)
    except RecordError as refused:
        found = families.recognise(text, question.source)
        return _told(question, convert, _taken_for(found), text, list(refused.faults), list(text.notes))
    return _read(question, convert, found, text, reading.candidates)


def _taken_for(found: Recognised) -> TakenFor:
    return TakenFor(found.entry.name, found.form, found.language, round(found.certainty, 2))


def _fault(fault: Fault) -> RecordFault:
    wanted = fault.expected
    phrase = wanted if isinstance(wanted, Phrase) else None
    return RecordFault(fault.line, fault.column, fault.code, fault.text, str(wanted), phrase, fault.message)


def _told(
    question: Question,
    convert: bool,
    taken_for: TakenFor | None,
    text: Text,
    faults: list[Fault],
    notes: list[Note],
) -> RecordCheck | RecordConversion:
    """The answer for a text that is no record."""
    left_out = max(0, len(faults) - MOST_TOLD) + max(0, len(notes) - MOST_TOLD)
    wrong = [_fault(fault) for fault in faults[:MOST_TOLD]]
    said = (taken_for, text.text, wrong, notes[:MOST_TOLD], left_out, list[Meant](), None)
    if convert:
        return RecordConversion(*said, question.target or (taken_for.form if taken_for else ""), None)
    return RecordCheck(*said, [], None)


def _read(
    question: Question, convert: bool, found: Recognised, text: Text, candidates: tuple[Candidate[Any], ...]
) -> RecordCheck | RecordConversion:
    choice = question.choose
    if choice is None and len(candidates) == 1:
        choice = 1
    chosen = candidates[choice - 1] if choice is not None and 0 < choice <= len(candidates) else None
    is_plain = len(candidates) == 1 and not candidates[0].edits
    notes = list(text.notes if chosen is None else chosen.notes)
    said = (
        _taken_for(found),
        text.text,
        list[RecordFault](),
        notes[:MOST_TOLD],
        max(0, len(notes) - MOST_TOLD),
        [] if is_plain else [Meant(list(one.edits), list(one.notes)[:MOST_TOLD]) for one in candidates],
        None if chosen is None else choice,
    )
    if convert:
        target = question.target or found.form
        record = None if chosen is None else families.convert(found, chosen.record, target, question.writing)
        return RecordConversion(*said, target, record)
    if chosen is None:
        return RecordCheck(*said, [], None)
    return RecordCheck(*said, list(_targets(found, chosen.record)), _steps(found, chosen.record))


def _targets(found: Recognised, record: Any) -> Iterator[str]:
    """The forms of its own family first, then those of others, as far as they can hold this record."""
    own = found.entry.family.FORMS
    others = [form for entry in families.FAMILIES for form in entry.family.FORMS if form not in own]
    for form in dict.fromkeys((*own, *others)):  # families may call their forms alike
        with suppress(NotInForm):
            families.convert(found, record, form, Options())
            yield form


# ---------------------------------------------------------------------------------------------------- step by step


def _steps(found: Recognised, record: Any) -> dict[str, Any]:
    """The record as plain data; positions of short nardy with the ids that other programs know them by."""
    steps = found.entry.family.steps(record)
    if steps.get("family") == "objective" and steps["variant"] == "short":
        white = True  # who throws next
        steps["ids"] = _ids_of_both(steps["start"], white=white)
        for step in steps["steps"]:
            white = not white
            step["ids"] = step["boards"] and _ids_of_both(step["boards"], white=white)
    elif steps.get("family") == "mat":
        for game in steps["games"]:
            for step in game["steps"]:
                left, right = step["board"]["left"], step["board"]["right"]
                mine, theirs = (right, left) if step["seat"] == "A" else (left, right)
                step["ids"] = _ids(mine, theirs)
    return steps


def _ids_of_both(boards: dict[str, Any], *, white: bool) -> dict[str, Any]:
    sides = ("white", "black") if white else ("black", "white")
    return {game: _ids(board[sides[0]], board[sides[1]]) for game, board in boards.items()}


def _ids(mine: Any, theirs: Any) -> dict[str, str]:
    position = Position(tuple(mine), tuple(theirs))
    return {"xgid": xgid(Exchange(position)), "gnubg": position_id(position)}


# ----------------------------------------------------------------------------------------------------- the process


def said(line: bytes, data: bytes, what: Literal["check", "convert"]) -> bytes:
    """What the process prints."""
    question = msgspec.json.decode(line, type=Question)
    try:
        found = answer(question, data, convert=what == "convert")
    except RuleError as refused:
        refusal = Refusal(refused.code, refused.detail, dict(refused.params))
        return REFUSED + msgspec.json.encode(refusal)
    return ANSWERED + msgspec.json.encode(found)


def _main() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    what, line, data = sys.stdin.buffer.readline(), sys.stdin.buffer.readline(), sys.stdin.buffer.read()
    sys.stdout.buffer.write(said(line, data, "convert" if what == b"convert\n" else "check"))


if __name__ == "__main__":
    _main()
