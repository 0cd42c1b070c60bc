"""Tabletop curling as values: trajectories, dice, cards, ends; their canonical text and plain data (RECORDS §4).

No rules of this game are known but for what its records show, so which dice or hands allow which trajectory is not
asked. Short, full with dice, full with cards:

    1) L51 L53

    1) 122_46_ (12233) RR32  33_666_ (12334) LL34

    3) (7ч 8т 10б Дб Тп) Дч, 8п, Вт (8п 8т Вт Дч Дб) LL23
       9п, 10т, Вт (7ч 8т 9п 10б Вт) R121
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

from engine.records.family import USUAL, Options, known
from engine.records.text import NotInForm

Kind = Literal["double", "semaphore", "triple", "quadruple"]
Form = Literal["short", "dice", "cards"]
Language = Literal["ru", "en"]

STARTS = ("LL", "L", "R", "RR")
FORMS: tuple[Form, ...] = ("short", "dice", "cards")
LANGUAGES: tuple[Language, ...] = ("ru", "en")
MOVES_OF_AN_END = 8
SUITS = "dhcs"  # diamonds, hearts, clubs, spades
_RANKS = {"ru": {11: "В", 12: "Д", 13: "К", 14: "Т"}, "en": {11: "J", 12: "Q", 13: "K", 14: "A"}}
_SUITS = {"ru": dict(zip(SUITS, "бчтп", strict=True)), "en": dict(zip(SUITS, SUITS, strict=True))}


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The cell a stone starts from, and the lengths of its two to four segments."""

    start: str
    segments: tuple[int, ...]
    is_semaphore: bool = False

    @property
    def kind(self) -> Kind:
        """Two segments are a double (reverse or shortened) or, marked so, a semaphore; three a triple."""
        if self.is_semaphore:
            return "semaphore"
        return ("double", "triple", "quadruple")[len(self.segments) - 2]

    def __str__(self) -> str:
        return f"{self.start}{'/' * self.is_semaphore}{''.join(map(str, self.segments))}"


@dataclass(frozen=True, slots=True)
class Card:
    """A rank, 2–14 with the jack 11 and the ace 14, and a suit, one of d h c s."""

    rank: int
    suit: str

    def text(self, language: Language) -> str:
        """`10б` and `Вт` in Russian, `10d` and `Jc` in Latin letters."""
        return f"{_RANKS[language].get(self.rank, self.rank)}{_SUITS[language][self.suit]}"


@dataclass(frozen=True, slots=True)
class Dice:
    """A first throw, which of its dice may have been thrown again, and the final throw; five dice each, ascending.

    `readings` has for each die whether it was thrown again: one reading, or two where the underlining was lost.
    """

    first: tuple[int, ...]
    readings: tuple[tuple[bool, ...], ...]
    final: tuple[int, ...]

    def text(self) -> str:
        """`122_46_ (12233)`; with two readings `12 345 (12345)`, which says no more than is known."""
        runs = groupby(zip(self.first, self.readings[0], strict=True), lambda die: die[1])
        groups = [("".join(str(die) for die, _ in dice), again) for again, dice in runs]
        if len(self.readings) > 1:
            first = " ".join(group for group, _ in groups)
        else:
            first = "".join(f"_{group}_" if again else group for group, again in groups)
        return f"{first} ({''.join(map(str, self.final))})"


@dataclass(frozen=True, slots=True)
class Hand:
    """The cards a player drew, in that order, the other player's that he took at its end, and the hand he formed."""

    drawn: tuple[Card, ...]
    cards: tuple[Card, ...]

    def text(self, language: Language) -> str:
        """`9п, 10т, Вт (7ч 8т 9п 10б Вт)`."""
        drawn = ", ".join(card.text(language) for card in self.drawn)
        return f"{drawn} {_bracketed(self.cards, language)}".lstrip()


def _bracketed(cards: Sequence[Card], language: Language) -> str:
    return f"({' '.join(card.text(language) for card in cards)})"


@dataclass(frozen=True, slots=True)
class Throw:
    """One stone: where it went, and the dice or the hand that allowed it, as far as the record tells."""

    trajectory: Trajectory
    dice: Dice | None = None
    hand: Hand | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """Both players' throws under one number; the last move of a record may have the first player's alone."""

    throws: tuple[Throw, ...]
    table: tuple[Card, ...] = ()  # five cards, where it is played with cards


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an end came to, and the running score after it where it is told."""

    points: tuple[int, int]
    score: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class End:
    """Eight moves, or as many as are told, and the outcome. `first` is the number of the first move that is told."""

    moves: tuple[Move, ...]
    outcome: Outcome | None = None
    first: int = 1

    @property
    def is_complete(self) -> bool:
        """All moves of both players, and the outcome."""
        full = self.first == 1 and len(self.moves) == MOVES_OF_AN_END
        return full and all(len(move.throws) == 2 for move in self.moves) and self.outcome is not None


@dataclass(frozen=True, slots=True)
class Record:
    """The ends of a game, all in one form. `language` is that of the letters on its cards; it makes no other record."""

    ends: tuple[End, ...]
    form: Form = "short"
    language: Language = field(default="ru", compare=False)


def write(record: Record, form: str = "", options: Options = USUAL) -> str:
    """The record as a text; form: its own, or short. Options: language, of the letters on cards.

    Raises UnknownOption, and NotInForm where the record does not know the dice or the cards.
    """
    wanted = known("form", form or record.form, FORMS)
    language = known("language", options.language or record.language, LANGUAGES)
    if wanted not in ("short", record.form):
        raise NotInForm(wanted, wanted, f"This record does not tell the {wanted}.")
    return "\n".join("".join(f"{line}\n" for line in _lines(end, wanted, language)) for end in record.ends)


def _lines(end: End, form: Form, language: Language) -> list[str]:
    lines = []
    for number, move in enumerate(end.moves, end.first):
        throws = [_throw(throw, form, language) for throw in move.throws]
        if form == "cards":
            lines.append(f"{number}) {_bracketed(move.table, language)} {throws[0]}")
            lines += [f"   {throw}" for throw in throws[1:]]
        else:
            lines.append(f"{number}) {(' ' if form == 'short' else '  ').join(throws)}")
    if end.outcome is not None:
        score = end.outcome.score
        running = f" ({score[0]}:{score[1]})" if score else ""
        lines.append(f"{MOVES_OF_AN_END + 1}) {end.outcome.points[0]}:{end.outcome.points[1]}{running}")
    return lines


def _throw(throw: Throw, form: Form, language: Language) -> str:
    if form == "dice" and throw.dice:
        return f"{throw.dice.text()} {throw.trajectory}"
    if form == "cards" and throw.hand:
        return f"{throw.hand.text(language)} {throw.trajectory}"
    return str(throw.trajectory)


def steps(record: Record) -> dict[str, Any]:
    """The record as plain data, to be stepped through on the start cells.

    {"form", "throws": [{"end": 1.., "move": 1–8, "player": 1 | 2, "text", "start": one of LL L R RR, "kind",
    "segments": [lengths], "dice": {"first": [5], "again": [[5 bools] for each reading], "final": [5]} or None,
    "cards": {"table", "drawn", "hand": [{"rank": 2–14, "suit": d h c s}]} or None}],
    "ends": [{"moves": count, "points": [a, b] or None, "score": [a, b] or None}]}
    """
    throws = [
        {
            "end": end_number,
            "move": number,
            "player": player,
            "text": str(throw.trajectory),
            "start": throw.trajectory.start,
            "kind": throw.trajectory.kind,
            "segments": list(throw.trajectory.segments),
            "dice": _dice_data(throw.dice) if throw.dice else None,
            "cards": _cards_data(move.table, throw.hand) if throw.hand else None,
        }
        for end_number, end in enumerate(record.ends, 1)
        for number, move in enumerate(end.moves, end.first)
        for player, throw in enumerate(move.throws, 1)
    ]
    ends = [
        {
            "moves": len(end.moves),
            "points": list(end.outcome.points) if end.outcome else None,
            "score": list(end.outcome.score) if end.outcome and end.outcome.score else None,
        }
        for end in record.ends
    ]
    return {"form": record.form, "throws": throws, "ends": ends}


def _dice_data(dice: Dice) -> dict[str, Any]:
    return {"first": list(dice.first), "again": [list(r) for r in dice.readings], "final": list(dice.final)}


def _cards_data(table: Sequence[Card], hand: Hand) -> dict[str, Any]:
    def told(cards: Sequence[Card]) -> list[dict[str, Any]]:
        return [{"rank": card.rank, "suit": card.suit} for card in cards]

    return {"table": told(table), "drawn": told(hand.drawn), "hand": told(hand.cards)}
