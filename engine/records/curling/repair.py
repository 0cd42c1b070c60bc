"""What a faulty record of tabletop curling may have meant: every record that is near to it, with the edits to it.

Faults are put right one after the other, from the top: by what the check itself expects there, or by one sign changed,
added, left out, or exchanged with its neighbour.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from engine.records.curling.reading import Parsed, Problem, parse
from engine.records.curling.record import Record
from engine.records.family import Candidate, Edit
from engine.records.text import Note, Text, normalised

MOST_CANDIDATES = 20
MOST_EDITS = 8
_EFFORT = 400_000  # characters that are parsed, in all
_LONGEST_WORD = 24  # in which signs are tried
_SIGNS = {
    "bad-trajectory": "LR/123456789",
    "bad-dice": "123456_",
    "five-dice": "123456_",
    "bad-die": "123456",
    "not-ascending": "123456",
    "kept-dice": "123456_",
}
_CARD_SIGNS = {"ru": "234567891ВДКТбчтп0", "en": "234567891JQKAdhcs0"}
_CARD_FAULTS = ("bad-card", "card-twice", "not-available", "borrowed-early")


@dataclass(frozen=True, slots=True)
class _Path:
    """The text after some edits, and how it reads."""

    text: str
    parsed: Parsed
    edits: tuple[Edit, ...] = ()
    shift: int = 0  # by how much offsets differ from those of the text as it was written


def candidates(text: Text, parsed: Parsed) -> tuple[Candidate[Record], ...]:
    """Every record found near to this text, fewest edits first; none if nothing was found."""
    order = count()  # paths themselves are not compared
    waiting = [(0, next(order), _Path(text.text, parsed))]
    found: dict[Record, Candidate[Record]] = {}
    effort = _EFFORT
    while waiting and len(found) < MOST_CANDIDATES:
        *_, path = heapq.heappop(waiting)
        if not path.parsed.problems:
            notes = (*text.notes, *(note for note in path.parsed.notes if note not in text.notes))
            found.setdefault(path.parsed.record, Candidate(path.parsed.record, path.edits, notes))
            continue
        if len(path.edits) == MOST_EDITS:
            continue
        problem = path.parsed.problems[0]
        for replacement in _alternatives(problem, path.parsed):
            effort -= len(path.text) + 200
            if effort < 0:
                break
            longer = _edited(path, problem, replacement)
            if not longer.parsed.problems or longer.parsed.problems[0].offset > problem.offset:
                heapq.heappush(waiting, (len(longer.edits), next(order), longer))
    made = list(found.values())
    if effort < 0 or waiting:
        cut = Note(1, 1, "search-cut", "", "There may be more candidates: not all were looked at.")
        made = [replace(candidate, notes=(*candidate.notes, cut)) for candidate in made]
    return tuple(made)


def _edited(path: _Path, problem: Problem, replacement: str) -> _Path:
    """The path with this text in place of what is wrong."""
    fault, offset = problem.fault, problem.offset
    text = path.text[:offset] + replacement + path.text[offset + problem.length :]
    # Lines stay as they are, and in a line the edits before have moved what follows.
    moved = sum(len(edit.read_as) - len(edit.text) for edit in path.edits if edit.line == fault.line)
    words = f"{fault.text} may have been {replacement}."
    edit = Edit(fault.line, fault.column - moved, fault.code, fault.text, replacement, words)
    return _Path(text, parse(normalised(text)), (*path.edits, edit))


def _alternatives(problem: Problem, parsed: Parsed) -> Iterator[str]:
    seen: set[str] = set()
    for text in (*problem.fixes, *_near(problem, parsed)):
        if text not in seen and text != problem.fault.text:
            seen.add(text)
            yield text


def _near(problem: Problem, parsed: Parsed) -> Iterator[str]:
    text, code = problem.fault.text, problem.fault.code
    signs = _CARD_SIGNS[parsed.language] if code in _CARD_FAULTS else _SIGNS.get(code)
    if signs is None or problem.length > _LONGEST_WORD:
        return
    for index in range(len(text)):
        yield text[:index] + text[index + 1 :]
        yield text[:index] + text[index + 1 : index + 2] + text[index] + text[index + 2 :]
        for sign in signs:
            yield text[:index] + sign + text[index + 1 :]
    for index in range(len(text) + 1):
        for sign in signs:
            yield text[:index] + sign + text[index:]
