"""What `nardy record check`, `convert` and `replay` say of a file: what it is, what is wrong in it, what it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.recordunpack import text_of
from app.recordwords import Words
from engine.position import Position
from engine.records import families
from engine.records.families import NotRecognised, Recognised
from engine.records.family import USUAL, Candidate, Options, Reading, UnknownOption
from engine.records.text import Fault, Note, NotInForm, RecordError, Text

MAX_BYTES = 20_000_000  # in memory at once; every reader has a smaller limit of its own
FINE, FAULTY, SENSELESS, UNKNOWN, UNHOLDABLE = 0, 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said on the command line."""

    name: str
    source: str | None = None
    target: str | None = None
    options: Options = USUAL
    repair: bool = False
    choose: int | None = None

    @property
    def words(self) -> Words:
        """In which all is said: Russian, if that was asked for."""
        return Words("ru" if self.options.language == "ru" else "en")


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
            said = [_taken_for(asked, found), *_listed(asked, reading)]
            return Answer(FAULTY, _lines(said))
        candidate = reading.candidates[0]
        notes = [_note(asked, note) for note in candidate.notes]
        return Answer(
            FINE, _lines([_taken_for(asked, found), *notes, _summary(asked, found, candidate.record)])
        )

    answer = _read(data, asked, told)
    return Answer(answer.status, answer.out + answer.err)  # all of it is the answer


def convert(data: bytes, asked: Asked) -> Answer:
    """The file in another form; standard error says what it was taken for and read as."""

    def told(found: Recognised, reading: Reading[Any]) -> Answer:
        candidate, said = _chosen(asked, found, reading)
        if candidate is None:
            return Answer(FAULTY, "", _lines(said))
        text = families.convert(found, candidate.record, asked.target or found.form, asked.options)
        said += [_note(asked, note) for note in candidate.notes]
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
        return Answer(FINE, _lines(_STEPS[found.entry.name](steps, asked.words)), _lines(said))

    return _read(data, asked, told)


# ------------------------------------------------------------------------------------------------------------------


def _read(data: bytes, asked: Asked, told: Callable[[Recognised, Reading[Any]], Answer]) -> Answer:
    """Reads the file and answers; what can go wrong becomes lines and a status."""
    words = asked.words
    if len(data) > MAX_BYTES:
        return Answer(FAULTY, "", f"{asked.name}: {words('too_big', n=MAX_BYTES)}\n")
    text: Text | None = None
    found: Recognised | None = None
    try:
        text = text_of(data)
        found = families.recognise(text, asked.source)
        return told(*families.read(text, asked.source, asked.options, repair=asked.repair))
    except RecordError as refused:
        said = [] if found is None else [_taken_for(asked, found)]
        for fault in refused.faults:
            said += _fault(asked, fault)
        return Answer(FAULTY, "", _lines([*said, words("faults", n=len(refused.faults))]))
    except NotRecognised:
        return Answer(UNKNOWN, "", f"{asked.name}: {words('not_recognised')}\n")
    except UnknownOption as refused:
        choices = ", ".join(refused.choices)
        return Answer(
            SENSELESS, "", f"nardy: {words('unknown_option', option=refused.option, choices=choices)}\n"
        )
    except NotInForm as refused:
        what = "" if found is None else words("family", found.entry.name)
        because = words.missing(refused.missing, refused.detail, what=what, form=refused.form)
        return Answer(UNHOLDABLE, "", f"{asked.name}: {because}\n")


def _taken_for(asked: Asked, found: Recognised) -> str:
    words = asked.words
    taken = words("taken_for", what=words("family", found.entry.name), form=found.form)
    language = f", {words('language', found.language)}" if found.language else ""
    how = words("as_asked") if asked.source else words("sure", n=f"{100 * found.certainty:.0f}")
    return f"{asked.name}: {taken}{language} ({how})"


def _note(asked: Asked, note: Note) -> str:
    said = asked.words("note", code=note.code, words=asked.words.of_code(note.code, note.message))
    return f"{asked.name}:{note.line}:{note.column}: {said}"


def _fault(asked: Asked, fault: Fault) -> Iterator[str]:
    words = asked.words
    said = words.of_code(fault.code, fault.message)
    yield f"{asked.name}:{fault.line}:{fault.column}: {fault.code}: {said}"
    if fault.text:
        yield f"    {words('stands', text=fault.text)}"
    if fault.expected:
        yield f"    {words('expected', text=words.expected(fault.expected))}"


def _listed(asked: Asked, reading: Reading[Any]) -> Iterator[str]:
    """Every candidate with its edits, for the user to choose from."""
    words = asked.words
    nothing = words("nothing")
    yield words("candidates", n=len(reading.candidates))
    for number, candidate in enumerate(reading.candidates, 1):
        if not candidate.edits:
            yield f"  {number}. {words('as_it_stands')}"
        for place, edit in enumerate(candidate.edits):
            mark = f"{number}." if not place else "  "
            yield f"  {mark} {edit.line}:{edit.column} {edit.text or nothing} -> {edit.read_as or nothing}"


def _chosen(
    asked: Asked, found: Recognised, reading: Reading[Any]
) -> tuple[Candidate[Any] | None, list[str]]:
    """The one record to go on with, and what is to be said; None where the user has to choose."""
    said, choice = [_taken_for(asked, found)], asked.choose
    if choice is not None and choice > len(reading.candidates):
        return None, [*said, *_listed(asked, reading), asked.words("no_candidate", number=choice)]
    if choice is None and len(reading.candidates) > 1:
        return None, [*said, *_listed(asked, reading), asked.words("choose")]
    candidate = reading.candidates[(choice or 1) - 1]
    if candidate.edits:
        said += _listed(asked, Reading((candidate,)))
    return candidate, said


def _summary(asked: Asked, found: Recognised, record: Any) -> str:
    """How much there is, and that it is right."""
    words, steps = asked.words, found.entry.family.steps(record)
    if found.entry.name == "objective":
        checked = ", ".join(words("checks", check) for check in steps["checked"])
        what = f"{words('lines', n=len(steps['steps']))}; {words('checked', what=checked)}"
        if points := steps["points"]:
            what += f"; {words('points', points='{A}:{B}'.format(**points))}"
    elif found.entry.name == "mat":
        turns = sum(len(game["steps"]) for game in steps["games"])
        what = f"{words('games', n=len(steps['games']))}, {words('turns', n=turns)}"
    elif found.entry.name == "xiangqi":
        ending = words("ending", ending=words("endings", steps["ending"] or "open"))
        what = f"{words('plies', n=len(steps['plies']))}, {words('result', result=steps['result'])}, {ending}"
    else:
        what = f"{words('throws', n=len(steps['throws']))}, {words('ends', n=len(steps['ends']))}"
    return words("right", what=what)


def _lines(lines: Sequence[str] | Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


# ---------------------------------------------------------------------------------------------------- step by step


def _objective_steps(steps: dict[str, Any], words: Words) -> Iterator[str]:
    """Turn, roll, both plays, and where both games stand: White's checkers, then Black's."""
    del words  # it is all notation
    for step in steps["steps"]:
        roll = "   " if step["roll"] is None else "{}-{}".format(*step["roll"])
        yield f"{step['turn']:>4} {roll} | {step['plays']['A']:<27} | {step['plays']['B']}"
        for game in "XY" if step["boards"] else "":
            board = step["boards"][game]
            yield f"     {game} {Position(tuple(board['white']), tuple(board['black']))}"


def _mat_steps(steps: dict[str, Any], words: Words) -> Iterator[str]:
    for number, game in enumerate(steps["games"], 1):
        yield words("game", number=number)
        for step in game["steps"]:
            roll = "" if step["roll"] is None else "{}-{} ".format(*step["roll"])
            said = step["play"] or words.on_page("action", step["action"], cube=step["cube"])
            yield f"  {steps['players'][step['seat']]}: {roll}{said}"
            if step["play"]:
                yield f"     {Position(tuple(step['board']['left']), tuple(step['board']['right']))}"


def _xiangqi_steps(steps: dict[str, Any], words: Words) -> Iterator[str]:
    yield f"     {steps['start']}"
    for ply in steps["plies"]:
        mark = f"{ply['number']}{'.' if ply['side'] == 'red' else '...'}"
        check = f"  {words('check')}" if ply["check"] else ""
        yield f"{mark:>6} {ply['wxf2018']} {ply['cn_simp']} {ply['uci']}{check}"
        yield f"     {ply['fen']}"


def _curling_steps(steps: dict[str, Any], words: Words) -> Iterator[str]:
    for throw in steps["throws"]:
        place = {key: throw[key] for key in ("end", "move", "player", "text")}
        yield words("throw", **place, kind=words.on_page("shape", throw["kind"]))
    for number, end in enumerate(steps["ends"], 1):
        if end["points"]:
            yield words("end", end=number, points=f"{end['points'][0]}:{end['points'][1]}")


_STEPS: dict[str, Callable[[dict[str, Any], Words], Iterator[str]]] = {
    "objective": _objective_steps,
    "mat": _mat_steps,
    "xiangqi": _xiangqi_steps,
    "curling": _curling_steps,
}
