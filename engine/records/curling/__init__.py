"""Tabletop curling: trajectories, dice, cards, ends (RECORDS §4)."""

from __future__ import annotations

import re

from engine.records.curling.reading import parse
from engine.records.curling.record import FORMS, Form, Language, Record, steps, write
from engine.records.curling.repair import candidates
from engine.records.family import USUAL, Candidate, Options, Reading
from engine.records.text import Fault, RecordError, Text
from engine.records.wanted import phrase

NAME = "curling"
LONGEST = 100_000  # characters of a text

_TRAJECTORY = re.compile(r"(?<![0-9A-Za-z])(?:LL|L|RR|R)/?[1-9]{2,4}(?![0-9A-Za-z+=.-])", re.IGNORECASE)
_CARD = re.compile(r"(?:[2-9]|10|[ВДКТBJQKAА])[бчтпкdhcs♦♥♣♠]", re.IGNORECASE)
_OUTCOMES = re.compile(r"\s*(?:9[).]\s*\d+\s*:\s*\d+\s*)+")  # their brackets are left out before

__all__ = ["FORMS", "NAME", "Record", "form_of", "language_of", "read", "recognise", "steps", "write"]


def recognise(text: Text) -> float:
    """How surely this is a record of tabletop curling, from 0 to 1: how many of its first words are its own."""
    sample = re.sub(r"\([^()]*\)", " ", text.text[:20_000])
    words = [word for word in re.split(r"[\s,]+", sample) if re.search(r"[^\W\d_]", word)]
    trajectories = len(_TRAJECTORY.findall(sample))
    cards = sum(map(bool, map(_CARD.fullmatch, words)))
    if not words and _OUTCOMES.fullmatch(sample):
        return 0.6
    return min(0.95, (trajectories + cards) / len(words)) if trajectories else 0.0


def form_of(text: Text) -> Form:
    """The form that most likely is meant by a text, faulty or not, as its beginning shows it."""
    return parse(_beginning(text)).form


def language_of(text: Text) -> Language | None:
    """The language of the letters on its cards; None where there are none."""
    parsed = parse(_beginning(text))
    return parsed.language if parsed.form == "cards" else None


def _beginning(text: Text) -> Text:
    return Text(text.text[:20_000])


def read(text: Text, options: Options = USUAL, repair: bool = False) -> Reading[Record]:
    """The record that a text is; its form and letters are seen by themselves, so the options say nothing here.

    With `repair`, every record near to a faulty text. Raises RecordError with all faults.
    """
    if len(text.text) > LONGEST:
        words = f"A text of more than {LONGEST} characters is not read."
        raise RecordError([Fault(1, 1, "too-long", "", phrase("at-most-characters", n=LONGEST), words)])
    parsed = parse(text)
    if not parsed.problems:
        return Reading((Candidate(parsed.record, (), tuple(parsed.notes)),))
    found = candidates(text, parsed) if repair else ()
    if not found:
        raise RecordError([problem.fault for problem in parsed.problems])
    return Reading(found)
