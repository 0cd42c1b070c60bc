"""What `nardy record moves` answers: one move of xiangqi in every spelling, for each line of JSON."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from app.answers import Refused
from engine.records.xiangqi.board import BadFen, Position
from engine.records.xiangqi.notation import (
    SCHOOLS,
    Dialect,
    Form,
    Kind,
    Letters,
    MoveRefused,
    read_move,
    spell,
)

LONGEST_LINE = 10_000  # bytes
SPELLINGS: tuple[Form, ...] = ("uci", "wxf2018", "wxf1997", "cn_simp", "cn_trad")

_FROM: dict[str, tuple[Kind, Dialect | None]] = {
    "wxf2018": ("wxf", "2018"),
    "wxf1997": ("wxf", "1997"),
    "wxf1982": ("wxf", "1997"),  # older, and no different in what it names
    "cn": ("cn", None),
    "uci": ("uci", None),
    "ucci": ("ucci", None),
    "iccs": ("iccs", None),
}
_LETTERS: dict[str, Letters] = {school: school for school in SCHOOLS}


class _Question(msgspec.Struct):  # a line may say more than is asked
    fen: str
    text: str
    source: str | None = msgspec.field(name="from", default=None)
    letters: str | None = None


def answer(line: bytes) -> dict[str, str]:
    """The move of one line of {"fen","text","from","letters"}, in each of SPELLINGS.

    Raises Refused: bad-json · bad-line · bad-fen · or why a move is refused, as MoveRefused has it.
    """
    if len(line) > LONGEST_LINE:
        raise Refused("bad-line", f"A line has at most {LONGEST_LINE} bytes.")
    try:
        question = msgspec.json.decode(line.removeprefix(codecs.BOM_UTF8), type=_Question)
    except msgspec.ValidationError as error:
        raise Refused("bad-line", str(error)) from None
    except (msgspec.DecodeError, RecursionError):
        raise Refused("bad-json", "This line is no JSON.") from None
    source = question.source or "wxf2018"
    if source not in _FROM:
        raise Refused("bad-line", f"from is one of {', '.join(_FROM)}.")
    letters = _LETTERS.get(question.letters or "any")
    if letters is None:
        raise Refused("bad-line", f"letters is one of {', '.join(_LETTERS)}.")
    kind, dialect = _FROM[source]
    try:
        position = Position.from_fen(question.fen)
        move = read_move(position, question.text, (kind,), dialect=dialect, letters=letters).move
    except BadFen as error:
        raise Refused(error.code, error.detail) from None
    except MoveRefused as error:
        raise Refused(error.because, error.detail) from None
    return {form: spell(position, move, form) for form in SPELLINGS}


def lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream that say something; of one that is too long, no more than shows it."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line
        while len(line) > LONGEST_LINE and not rest.endswith(b"\n") and rest:
            rest = stream.readline(LONGEST_LINE)
        if line.strip():
            yield line
