"""A game of xiangqi as a value, its canonical text, and its plies as plain data (RECORDS §3).

[Game "Chinese Chess"]
[Red "…"]
[Result "1-0"]
[Format "WXF"]
[Dialect "2018"]

1. C8=5 H2+3
2. H8+7 {a comment} H8+7
1-0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.records.family import USUAL, Options, known
from engine.records.xiangqi.board import EMPTY, START, START_FEN, Move, Position
from engine.records.xiangqi.notation import FORMS, SCHOOLS, Form, Letters, spell

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
# Tags that are written from the game itself.
OWN_TAGS = ("Game", "Result", "FEN", "Format", "Dialect", "Letters")


@dataclass(frozen=True, slots=True)
class Game:
    """A game: who played (tags as written, in order), from which position, which moves, what came of it.

    `comments` are (plies played before it, text), text without braces and line ends. `result` is one of RESULTS.
    """

    moves: tuple[Move, ...]
    result: str = "*"
    start: Position = START
    tags: tuple[tuple[str, str], ...] = ()
    comments: tuple[tuple[int, str], ...] = ()

    def positions(self) -> Iterator[Position]:
        """The start, then the position after each ply."""
        position = self.start
        yield position
        for move in self.moves:
            position = position.after(move)
            yield position

    def final(self) -> Position:
        """Where the game ended."""
        *_, last = self.positions()
        return last


# ------------------------------------------------------------------------------------------------------------ writing


def write(game: Game, form: str = "wxf2018", options: Options = USUAL) -> str:
    """The game as a text in one of FORMS, a move of each side a line; options: letters, for WXF.

    Raises UnknownOption.
    """
    form = known("form", form, FORMS)
    letters = known("letters", options.letters or "wxf", SCHOOLS)
    letters = "wxf" if letters == "any" else letters
    lines = [_tag_line(name, value) for name, value in _tags(game, form, letters)]
    lines.append("")
    comments: dict[int, list[str]] = {}
    for plies, text in game.comments:
        comments.setdefault(plies, []).append(f"{{{comment_text(text)}}}")
    row = comments.get(0, [])
    position = game.start
    for ply, move in enumerate(game.moves, 1):
        if position.red or ply == 1:
            if row:
                lines.append(" ".join(row))
            row = [f"{position.number}{'.' if position.red else '...'}"]
        row.append(spell(position, move, form, letters))
        row += comments.get(ply, [])
        position = position.after(move)
    return "\n".join([*lines, *([" ".join(row)] if row else []), game.result, ""])


_BRACES = str.maketrans("{}", "()")


def comment_text(words: str) -> str:
    """A comment as games hold it: on one line, without braces."""
    return " ".join(words.translate(_BRACES).split())


def _tags(game: Game, form: Form, letters: Letters) -> Iterator[tuple[str, str]]:
    yield "Game", "Chinese Chess"
    yield from game.tags
    yield "Result", game.result
    if game.start.fen != START_FEN:
        yield "FEN", game.start.fen
    if form.startswith("wxf"):
        yield "Format", "WXF"
        yield "Dialect", form[3:]
        if letters != "wxf":
            yield "Letters", letters
    else:
        yield "Format", "Chinese" if form.startswith("cn") else form.upper()


def _tag_line(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def steps(game: Game) -> dict[str, Any]:
    """The game as plain data, to be stepped through on a drawn board.

    {"start": FEN, "tags": {name: text}, "result": "1-0", "ending": "checkmate" | "stalemate" | None,
    "comment": text before the first move or None, "plies": [{"ply": 1.., "number", "side": "red" | "black",
    "uci", "ucci", "iccs", "wxf2018", "wxf1997", "cn_simp", "cn_trad", "fen" (after it), "capture", "check" (bools),
    "comment": text or None}]}
    """
    comments: dict[int, str] = {}
    for plies, text in game.comments:
        comments[plies] = f"{comments[plies]} {text}" if plies in comments else text
    told = []
    position = game.start
    for ply, move in enumerate(game.moves, 1):
        after = position.after(move)
        spellings: dict[str, str] = {form: spell(position, move, form) for form in FORMS}
        told.append(
            {
                "ply": ply,
                "number": position.number,
                "side": "red" if position.red else "black",
                **spellings,
                "fen": after.fen,
                "capture": position.cells[move.end] != EMPTY,
                "check": after.in_check(),
                "comment": comments.get(ply),
            }
        )
        position = after
    ending = position.ending()
    return {
        "start": game.start.fen,
        "tags": dict(game.tags),
        "result": game.result,
        "ending": ending.value if ending else None,
        "comment": comments.get(0),
        "plies": told,
    }
