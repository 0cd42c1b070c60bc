"""What could stand where a text is wrong: notation, the same in every language, or a phrase, which has a name.

A phrase is said here in English; by its name and what it is filled with it can be said in any language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Phrase:
    """One of PHRASES and what it is filled with; all of that is notation."""

    name: str
    params: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return PHRASES[self.name].format(**self.params)


Wanted = str | Phrase


def phrase(name: str, **params: object) -> Phrase:
    """One of PHRASES, filled in."""
    return Phrase(name, {key: str(value) for key, value in params.items()})


def any_of(spellings: Iterable[str]) -> str:
    """Each of these spellings would do."""
    return " · ".join(spellings)


PHRASES = {
    "text": "text",
    "zip": "a zip of one record, or of .mat files of one match",
    "a-record": "a record",
    "at-most-characters": "at most {n} characters",
    # tags
    "each-tag-once": "each tag once",
    "no-such-tag": "no such tag",
    "tag-time": "a time with its zone, as 2026-11-30T18:30:00+03:00",
    "tag-id": "the id of a match: letters, digits and -",
    "tag-hex": "{n} hexadecimal digits",
    "tag-number": "a whole number",
    "tag-credit": "points of both players, as 42:-42",
    "tag-game": "{outcomes}, then {classes}",
    "tag-early": "how it ended early",
    "tag-times": "Time1 and Time2",
    "ruleset": "a ruleset",
    # lines of a match
    "a-line": "a line",
    "the-end": "the end",
    "end-of-line": "the end of the line",
    "points": "points, as 74:-74 (74:-74)",
    "result": "the result",
    "two-dice": "two dice, as 63",
    "different-dice": "two different dice",
    "seconds": "seconds, as 12.5",
    "play": "a play, -- or ==",
    "from-to": "from/to, as 13/8, 6/5* or 8/4(2)",
    "groups": "{n} groups",
    "group": "point, sign, die: as 13-3, 13*6, 25-3, 04=6 or ----",
    "die-of": "a die of {roll}",
    "legal-play": "a legal play",
    "legal-plays": "one of {n} legal plays of {roll}, such as {play}",
    "one-roll": "plays of one roll",
    # .mat
    "dice-and-moves": "dice and moves, as 31: 8/5 6/5",
    "a-roll": "a roll",
    "other-side": "the other side's turn",
    "other-column": "the other column",
    "next-game": "the next game",
    "numbered-row": "a numbered row",
    # xiangqi
    "a-move": "a move",
    "moves": "moves",
    "legal-move": "a legal move",
    "nothing": "nothing",
    "reds-move": "Red's move {n}",
    "blacks-move": "Black's move {n}",
    "at-most-plies": "at most {n} plies",
    "closed-bracket": "a closed bracket",
    "fen": "a FEN",
    # curling
    "trajectory": "LL, L, R or RR, then lengths",
    "move-or-outcome": "a move, as 1) …, or an outcome, as 9) 0:1",
    "two-throws": "two throws a move",
    "next-move": "the next move",
    "brackets": "brackets in pairs",
    "form-short": "a short move, as L51 L53",
    "form-dice": "a move with dice, as 122_46_ (12233) RR32",
    "form-cards": "a move with cards",
    "kept-dice": "kept dice in the final throw",
    "five-dice": "five dice",
    "five-cards": "five cards",
    "hand": "a hand in brackets",
    "a-card": "a card",
    "another-card": "another card",
    "card-not-drawn": "a card not drawn yet",
    "card-at-hand": "a card of the table or drawn",
    "at-least": "at least {points}",
}
