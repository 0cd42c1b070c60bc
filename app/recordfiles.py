"""What `nardy record check`, `convert` and `replay` say of a file: what it is, what is wrong in it, what it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.position import Position
from engine.records import families
from engine.records.families import NotRecognised, Recognised
from engine.records.family import USUAL, Candidate, Options, Reading, UnknownOption
from engine.records.text import Fault, Note, NotInForm, RecordError, Text, read_bytes

MAX_BYTES = 20_000_000  # in memory at once; every reader has a smaller limit of its own
FINE, FAULTY, SENSELESS, UNKNOWN, UNHOLDABLE = 0, 1, 2, 3, 4

_LANGUAGES = {"ru": "Russian", "en": "international"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said on the command line."""

    name: str
    source: str | None = None
    target: str | None = None
    options: Options = USUAL
    repair: bool = False
    choose: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Lines for standard output and for standard error, and the status."""

    status: int
    out: str = ""
    err: str = ""


def check(data: bytes, asked: Asked) -> Answer:
    """What the file was taken for, everything that was read otherwise, and every fault with its place."""

    def told(found: Recognised, reading: Reading[Any]) -> Answer:
        if len(reading.candidates) > 1 or reading.candidates[0].edits:
            said = [_taken_for(asked, found), *_listed(reading)]
            return Answer(FAULTY, _lines(said))
        candidate = reading.candidates[0]
        notes = [_note(asked.name, note) for note in candidate.notes]
        return Answer(FINE, _lines([_taken_for(asked, found), *notes, *_summary(found, candidate.record)]))

    answer = _read(data, asked, told)
    return Answer(answer.status, answer.out + answer.err)  # all of it is the answer


def convert(data: bytes, asked: Asked) -> Answer:
    """The file in another form; standard error says what it was taken for and read as."""

    def told(found: Recognised, reading: Reading[Any]) -> Answer:
        candidate, said = _chosen(asked, found, reading)
        if candidate is None:
            return Answer(FAULTY, "", _lines(said))
        text = families.convert(found, candidate.record, asked.target or found.form, asked.options)
        said += [_note(asked.name, note) for note in candidate.notes]
        return Answer(FINE, text, _lines(said))

    return _read(data, asked, told)


def replay(data: bytes, asked: Asked, *, as_json: bool) -> Answer:
    """The file step by step: a line for each, or all of it as JSON."""

    def told(found: Recognised, reading: Reading[Any]) -> Answer:
        candidate, said = _chosen(asked, found, reading)
        if candidate is None:
            return Answer(FAULTY, "", _lines(said))
        steps = found.entry.family.steps(candidate.record)
        if as_json:
            return Answer(
                FINE, json.dumps(steps, ensure_ascii=False, separators=(",", ":")) + "\n", _lines(said)
            )
        return Answer(FINE, _lines(_STEPS[found.entry.name](steps)), _lines(said))

    return _read(data, asked, told)


# ------------------------------------------------------------------------------------------------------------------


def _read(data: bytes, asked: Asked, told: Callable[[Recognised, Reading[Any]], Answer]) -> Answer:
    """Reads the file and answers; what can go wrong becomes lines and a status."""
    if len(data) > MAX_BYTES:
        return Answer(FAULTY, "", f"{asked.name}: a file has at most {MAX_BYTES} bytes.\n")
    text: Text | None = None
    try:
        text = read_bytes(data)
        return told(*families.read(text, asked.source, asked.options, repair=asked.repair))
    except RecordError as refused:
        said = [] if text is None else [_taken_for(asked, families.recognise(text, asked.source))]
        for fault in refused.faults:
            said += _fault(asked.name, fault)
        count = len(refused.faults)
        return Answer(FAULTY, "", _lines([*said, f"{count} fault{'s' * (count != 1)}"]))
    except NotRecognised as refused:
        return Answer(UNKNOWN, "", f"{asked.name}: {refused.detail} --from says what it is.\n")
    except UnknownOption as refused:
        return Answer(SENSELESS, "", f"nardy: {refused.detail}\n")
    except NotInForm as refused:
        return Answer(UNHOLDABLE, "", f"{asked.name}: {refused.detail}\n")


def _taken_for(asked: Asked, found: Recognised) -> str:
    language = f", {_LANGUAGES[found.language]}" if found.language else ""
    how = "as asked" if asked.source else f"{100 * found.certainty:.0f} % sure"
    return f"{asked.name}: {found.entry.words}, form {found.form}{language} ({how})"


def _note(name: str, note: Note) -> str:
    return f"{name}:{note.line}:{note.column}: note {note.code}: {note.message}"


def _fault(name: str, fault: Fault) -> Iterator[str]:
    yield f"{name}:{fault.line}:{fault.column}: {fault.code}: {fault.message}"
    if fault.text:
        yield f"    here stands: {fault.text}"
    if fault.expected:
        yield f"    expected: {fault.expected}"


def _listed(reading: Reading[Any]) -> Iterator[str]:
    """Every candidate with its edits, for the user to choose from."""
    yield f"It may have meant, fewest changes first ({len(reading.candidates)}):"
    for number, candidate in enumerate(reading.candidates, 1):
        if not candidate.edits:
            yield f"  {number}. just what stands there"
        for place, edit in enumerate(candidate.edits):
            mark = f"{number}." if not place else "  "
            yield f"  {mark} {edit.line}:{edit.column} {edit.text or 'nothing'} -> {edit.read_as or 'nothing'}"


def _chosen(
    asked: Asked, found: Recognised, reading: Reading[Any]
) -> tuple[Candidate[Any] | None, list[str]]:
    """The one record to go on with, and what is to be said; None where the user has to choose."""
    said, choice = [_taken_for(asked, found)], asked.choose
    if choice is not None and choice > len(reading.candidates):
        return None, [*said, *_listed(reading), f"There is no candidate {choice}."]
    if choice is None and len(reading.candidates) > 1:
        return None, [*said, *_listed(reading), "--choose N takes one of them."]
    candidate = reading.candidates[(choice or 1) - 1]
    if candidate.edits:
        said += _listed(Reading((candidate,)))
    return candidate, said


def _summary(found: Recognised, record: Any) -> Iterator[str]:
    steps = found.entry.family.steps(record)
    if found.entry.name == "objective":
        points = steps["points"]
        result = f"; points {points['A']}:{points['B']}" if points else ""
        yield f"Right: {len(steps['steps'])} lines; checked: {', '.join(steps['checked'])}{result}"
    elif found.entry.name == "mat":
        turns = sum(len(game["steps"]) for game in steps["games"])
        yield f"Right: {len(steps['games'])} games, {turns} turns"
    elif found.entry.name == "xiangqi":
        yield f"Right: {len(steps['plies'])} plies, result {steps['result']}, ending {steps['ending'] or 'open'}"
    else:
        yield f"Right: {len(steps['throws'])} throws, {len(steps['ends'])} ends"


def _lines(lines: Sequence[str] | Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


# ---------------------------------------------------------------------------------------------------- step by step


def _objective_steps(steps: dict[str, Any]) -> Iterator[str]:
    """Turn, roll, both plays, and where both games stand: White's checkers, then Black's."""
    for step in steps["steps"]:
        roll = "   " if step["roll"] is None else "{}-{}".format(*step["roll"])
        yield f"{step['turn']:>4} {roll} | {step['plays']['A']:<27} | {step['plays']['B']}"
        for game in "XY" if step["boards"] else "":
            board = step["boards"][game]
            yield f"     {game} {Position(tuple(board['white']), tuple(board['black']))}"


def _mat_steps(steps: dict[str, Any]) -> Iterator[str]:
    for number, game in enumerate(steps["games"], 1):
        yield f"Game {number}"
        for step in game["steps"]:
            roll = "" if step["roll"] is None else "{}-{} ".format(*step["roll"])
            said = step["play"] or f"{step['action']} {step['cube'] or ''}".strip()
            yield f"  {steps['players'][step['seat']]}: {roll}{said}"
            if step["play"]:
                yield f"     {Position(tuple(step['board']['left']), tuple(step['board']['right']))}"


def _xiangqi_steps(steps: dict[str, Any]) -> Iterator[str]:
    yield f"     {steps['start']}"
    for ply in steps["plies"]:
        mark = f"{ply['number']}{'.' if ply['side'] == 'red' else '...'}"
        yield f"{mark:>6} {ply['wxf2018']} {ply['cn_simp']} {ply['uci']}{'  check' * ply['check']}"
        yield f"     {ply['fen']}"


def _curling_steps(steps: dict[str, Any]) -> Iterator[str]:
    for throw in steps["throws"]:
        yield f"end {throw['end']} move {throw['move']} player {throw['player']}: {throw['text']} {throw['kind']}"
    for number, end in enumerate(steps["ends"], 1):
        if end["points"]:
            yield f"end {number}: {end['points'][0]}:{end['points'][1]}"


_STEPS: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "objective": _objective_steps,
    "mat": _mat_steps,
    "xiangqi": _xiangqi_steps,
    "curling": _curling_steps,
}
