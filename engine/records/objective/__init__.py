"""Records of objective matches: two games on shared dice, side by side (docs/RECORDS.md)."""

from __future__ import annotations

from itertools import islice, zip_longest
from typing import Any

from engine.position import Position
from engine.records.family import USUAL, Candidate, Options, Reading, known
from engine.records.objective import reader
from engine.records.objective.record import Record, turns
from engine.records.objective.repair import repair as repaired
from engine.records.objective.replay import replayed
from engine.records.objective.words import LANGUAGES
from engine.records.objective.writer import write as written
from engine.records.text import Text
from engine.turn import Game, Games, Seat
from engine.variant import VARIANTS

NAME = "objective"
FORMS = ("full", "short", "fixed")


def recognise(text: Text) -> float:
    """How surely this is the record of an objective match, 0 to 1."""
    return reader.recognise(text)[1] / 100


def form_of(text: Text) -> str:
    """The form in which it seems to be written."""
    return reader.recognise(text)[0]


def language_of(text: Text) -> str:
    """The language in which it is written: ru or en."""
    return reader.language_of(text).key


def read(text: Text, options: Options = USUAL, repair: bool = False) -> Reading[Record]:
    """The record, played through; with `repair`, every record near to the text.

    Options: form, else the one that it seems to have. Raises RecordError, and UnknownOption.
    """
    form = options.form and known("form", options.form, FORMS)
    if repair:
        return Reading(repaired(text, form))
    found = reader.read(text, form)
    return Reading((Candidate(found.record, (), found.notes),))


def write(record: Record, form: str = FORMS[0], options: Options = USUAL) -> str:
    """The one text of a record in a form and a language (en if the options do not say).

    Raises NotInForm where the form needs what is not known, and UnknownOption.
    """
    language = known("language", options.language or "en", tuple(LANGUAGES))
    return written(record, known("form", form, FORMS), LANGUAGES[language])


def steps(record: Record) -> dict[str, Any]:
    """The record as plain data, to be stepped through.

    Boards are as on the wire: each side 26 counts from its own home. The last step is marked open where its phase was
    never finished; it has no boards of its own then. Raises Mismatch for a record that contradicts itself.
    """
    found = replayed(record)
    opening = VARIANTS[found.ruleset.variant].opening()
    after = [phase.games for phase in found.phases]
    return {
        "family": NAME,
        "variant": found.ruleset.variant,
        "players": {"A": record.tag("Player1"), "B": record.tag("Player2")},
        "start": _boards(Games(opening, opening)),
        "steps": [
            {
                "turn": str(turn),
                "roll": None if line.roll is None else [line.roll.first, line.roll.second],
                "plays": {seat.value: line.halves[seat].play for seat in Seat},
                "tenths": {seat.value: line.halves[seat].tenths for seat in Seat},
                "boards": _boards(games) if games is not None else None,
                "open": games is None,
            }
            for turn, line, games in zip_longest(islice(turns(), len(record.lines)), record.lines, after)
        ],
        "parted": found.parted,
        "checked": list(found.checked),
        "points": None
        if record.result is None
        else {"A": record.result.points.A, "B": record.result.points.B},
    }


def _boards(games: Games[Position]) -> dict[str, Any]:
    return {game.value: {"white": games[game].mine, "black": games[game].theirs} for game in Game}
