"""Reads a game of xiangqi from a text (RECORDS §3).

A strict reading stops at the first move that is not one. A repairing one looks for all whole games that differ from
the text by single signs of moves that are refused.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice

from engine.records.family import USUAL, Candidate, Edit, Options, Reading, known
from engine.records.text import Fault, Note, RecordError, Text
from engine.records.wanted import any_of, phrase
from engine.records.xiangqi.board import Ending, Move, Position
from engine.records.xiangqi.game import OWN_TAGS, Game
from engine.records.xiangqi.notation import (
    CHINESE,
    COORDINATES,
    DIALECTS,
    FORMS,
    SCHOOLS,
    WXF,
    Coordinates,
    Dialect,
    Doubt,
    Form,
    Kind,
    Letters,
    MoveRefused,
    changed_by_a_sign,
    folded,
    read_move,
    spell,
)
from engine.records.xiangqi.sheet import (
    FORMATS,
    MOST_TOLD,
    TAG,
    TOKEN,
    UCCI_LINE,
    Ply,
    Sheet,
    short,
    take_apart,
)

LONGEST = 250_000  # characters of a text
MOST_CANDIDATES = 20
_EFFORT = 40_000  # moves that a repair tries to read
_FIRST_TAGS = ("Event", "Site", "Date", "Round", "RedTeam", "Red", "BlackTeam", "Black")


def recognise(text: Text) -> float:
    """How surely this is a game of xiangqi, from 0 to 1, by its first words."""
    sample = text.text[:20_000]
    if re.search(r'\[\s*Game\s+"Chinese Chess"\s*\]', sample) or UCCI_LINE.match(sample):
        return 1.0
    body = "\n".join(line for line in folded(sample).split("\n") if not TAG.match(line))
    body = re.sub(r"\{[^{}]*\}|[{}]", " ", body)
    kinds = [found.lastgroup for found in TOKEN.finditer(body)]
    moves, words = (
        kinds.count("marks"),
        kinds.count("word"),
    )  # a move's last group is its marks, if only empty
    return 0.9 * moves / (moves + words) if moves else 0.0


def form_of(text: Text) -> Form:
    """The form that most moves of a text are written in, as its beginning shows it."""
    sheet = take_apart(Text(text.text[:20_000]))
    words = [folded(ply.text) for ply in sheet.plies]
    chinese = [word for word in words if re.fullmatch(CHINESE, word)]
    coordinates = [word for word in words if re.fullmatch(COORDINATES, word)]
    if len(chinese) * 2 > len(words):
        return "cn_trad" if re.search("[車馬砲帥將進後]", "".join(chinese)) else "cn_simp"
    if len(coordinates) * 2 > len(words):
        (base, *_) = _bases(sheet, None)
        return "iccs" if base == "ucci" and all("-" in word for word in coordinates) else base
    return "wxf1997" if sheet.tags.get("Dialect") == "1997" else "wxf2018"


@dataclass(frozen=True, slots=True)
class _How:
    """In which ways the moves of a sheet are read, the likeliest first."""

    kinds: tuple[Kind, ...]
    dialect: Dialect | None
    letters: Letters

    @property
    def form(self) -> Form:
        """The form in which expected moves are told."""
        kind = self.kinds[0]
        if kind == "wxf":
            return "wxf1997" if self.dialect == "1997" else "wxf2018"
        return "cn_simp" if kind == "cn" else kind


@dataclass(slots=True)
class _Trail:
    """How far a reading has come: to the end, or to the move that was refused."""

    position: Position
    moves: list[Move] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    refused: MoveRefused | None = None

    def branch(self) -> _Trail:
        return _Trail(self.position, [*self.moves], [*self.notes], [*self.edits])


def read(text: Text, options: Options = USUAL, repair: bool = False) -> Reading[Game]:
    """The game that a text records.

    Options: form (else each move tells its own way of writing), dialect (else the tag's, else 2018 with a note at
    each move that 1997 would read otherwise), letters (else the tag's, else any). With `repair`, every whole game that
    differs from the text by one sign in each move that is refused, in both dialects if none is named. Raises
    RecordError with the first move that cannot be read and whatever else is wrong, and UnknownOption.
    """
    if len(text.text) > LONGEST:
        words = f"A text of more than {LONGEST} characters is not read."
        raise RecordError([Fault(1, 1, "too-long", "", phrase("at-most-characters", n=LONGEST), words)])
    sheet = take_apart(text)
    if not sheet.plies and not sheet.faults:
        sheet.fault(1, 1, "no-moves", "", phrase("moves"), "There are no moves in this text.")
    ways = _ways(sheet, options)
    trails = [_follow(sheet, how, _Trail(sheet.start)) for how in ways]
    faults = _faults(sheet, ways, trails)
    if not repair:
        if faults:
            raise RecordError(faults)
        return Reading((_candidate(sheet, max(trails, key=_progress)),))
    found = _candidates(sheet, ways) if not sheet.faults else []
    if not found:
        raise RecordError(faults)
    return Reading(tuple(found))


def _ways(sheet: Sheet, options: Options) -> list[_How]:
    """One, or two for coordinates that do not say whether their ranks begin with 0. Raises UnknownOption."""
    form = options.form and known("form", options.form, (*FORMS, "wxf", "cn"))
    dialect = options.dialect and known("dialect", options.dialect, DIALECTS)
    letters = known("letters", options.letters or sheet.tags.get("Letters", "any"), SCHOOLS)
    if form in ("wxf2018", "wxf1997"):
        dialect = "1997" if form == "wxf1997" else "2018"
    elif not dialect and "Dialect" in sheet.tags:
        dialect = known("dialect", sheet.tags["Dialect"], DIALECTS)
    ways = []
    for base in _bases(sheet, form):
        kinds: tuple[Kind, ...] = ("wxf", "cn", base)
        if form:
            kinds = ("wxf",) if form.startswith("wxf") else ("cn",) if form.startswith("cn") else (base,)
        elif sheet.plies and re.fullmatch(CHINESE, folded(sheet.plies[0].text)):
            kinds = ("cn", "wxf", base)
        elif sheet.plies and re.fullmatch(COORDINATES, folded(sheet.plies[0].text)):
            kinds = (base, "wxf", "cn")
        ways.append(_How(kinds, dialect or None, letters))
    return ways


def _bases(sheet: Sheet, form: str | None) -> tuple[Coordinates, ...]:
    """Which coordinates to try: ranks from 0 (ucci, iccs) or from 1 (uci)."""
    named = form or FORMATS.get(sheet.tags.get("Format", ""))
    for base in ("ucci", "iccs", "uci"):
        if named == base:
            return (base,)
    texts = [text for ply in sheet.plies if re.fullmatch(COORDINATES, text := folded(ply.text))]
    if sheet.is_ucci_line or all("-" in text for text in texts):
        return ("ucci",)
    return ("ucci", "uci")


def _progress(trail: _Trail) -> tuple[bool, int]:
    return trail.refused is None, len(trail.moves)


def _follow(sheet: Sheet, how: _How, trail: _Trail) -> _Trail:
    """Reads on from where the trail is, until a move is refused or there are no more."""
    for ply in islice(sheet.plies, len(trail.moves), None):
        try:
            found = read_move(trail.position, ply.text, how.kinds, dialect=how.dialect, letters=how.letters)
        except MoveRefused as refused:
            trail.refused = refused
            break
        if found.doubts:
            _take_notes(trail, ply, found.doubts, spell(trail.position, found.move, how.form))
        trail.moves.append(found.move)
        trail.position = trail.position.after(found.move)
    return trail


# Of these every place is told; of other doubts the first.
_EACH_TIME = ("other-dialect", "loose-spelling")


def _take_notes(trail: _Trail, ply: Ply, doubts: Sequence[Doubt], read_as: str) -> None:
    for doubt in doubts:
        is_told = doubt.code not in _EACH_TIME and any(note.code == doubt.code for note in trail.notes)
        if not is_told and len(trail.notes) < MOST_TOLD:
            trail.notes.append(Note(ply.line, ply.column, doubt.code, ply.text, doubt.message))
        if doubt.code == "other-letters":
            trail.edits.append(Edit(ply.line, ply.column, doubt.code, ply.text, read_as, doubt.message))


# ------------------------------------------------------------------------------------------------------ what is wrong


def _faults(sheet: Sheet, ways: Sequence[_How], trails: Sequence[_Trail]) -> list[Fault]:
    """What is wrong with a text, in its order; of several ways of reading, with the one that came furthest."""
    whole = [trail for trail in trails if trail.refused is None]
    found = list(sheet.faults)
    if len(whole) > 1 and whole[0].moves != whole[1].moves:
        first = sheet.plies[0]
        words = "These moves are legal with ranks from 0 and with ranks from 1: name the form, ucci or uci."
        found.append(
            Fault(first.line, first.column, "ambiguous-ranks", first.text, any_of(("ucci", "uci")), words)
        )
    trail = max(trails, key=_progress)
    if trail.refused is not None:
        found += [
            _refusal(sheet, ways[trails.index(trail)], trail, trail.refused),
            *_other_words(sheet, trail),
        ]
    elif not found and (contradiction := _contradiction(sheet, trail)):
        found.append(contradiction)
    return sorted(found, key=lambda fault: (fault.line, fault.column))


def _refusal(sheet: Sheet, how: _How, trail: _Trail, refused: MoveRefused) -> Fault:
    """The move at which a trail ends, with what could stand there instead."""
    ply, position = sheet.plies[len(trail.moves)], trail.position
    expected: Sequence[str] = refused.expected
    if not expected and refused.because not in ("game-over", "other-letters"):
        expected = [spell(position, move, how.form) for move in _replacements(position, ply, how)]
    words = any_of(expected) or phrase("nothing" if refused.because == "game-over" else "legal-move")
    message = f"Ply {len(trail.moves) + 1}, {'Red' if position.red else 'Black'}: {refused.detail}"
    if how.dialect is None and how.kinds[0] == "wxf":
        other = _follow(sheet, replace(how, dialect="1997"), _Trail(sheet.start))
        if other.refused is None:
            message += " In the dialect of 1997 the whole game can be read: name it."
    return Fault(ply.line, ply.column, refused.because, short(ply.text), words, message)


def _other_words(sheet: Sheet, trail: _Trail) -> list[Fault]:
    """Words after a refused move that could be no move in any position."""
    kinds = re.compile("|".join((WXF, CHINESE, COORDINATES)))
    later = islice(sheet.plies, len(trail.moves) + 1, None)
    words = "This is no move in a notation that is read here."
    return [
        Fault(ply.line, ply.column, "unreadable-move", short(ply.text), phrase("a-move"), words)
        for ply in islice((ply for ply in later if not kinds.fullmatch(folded(ply.text))), MOST_TOLD)
    ]


def _ended(position: Position) -> tuple[Ending, str] | None:
    """How a game ends here by itself, and its result."""
    ending = position.ending()
    return ending and (ending, "0-1" if position.red else "1-0")


def _contradiction(sheet: Sheet, trail: _Trail) -> Fault | None:
    """A result that the board knows better."""
    ended = _ended(trail.position)
    if ended is None or sheet.result in (None, "*", ended[1]):
        return None
    last, (ending, result) = sheet.plies[-1], ended
    words = f"The game ends in {ending.value}, so it is {result}, not {sheet.result}."
    return Fault(last.line, last.column, "result-differs", sheet.result or "", result, words)


def _candidate(sheet: Sheet, trail: _Trail, edits: Sequence[Edit] = ()) -> Candidate[Game]:
    notes = [*sheet.notes, *trail.notes]
    result = sheet.result or "*"
    if result == "*" and (ended := _ended(trail.position)):
        last, (ending, result) = sheet.plies[-1], ended
        words = f"The game ends in {ending.value}: {result}."
        notes.append(Note(last.line, last.column, "result-added", last.text, words))
    tags = [(name, value) for name, value in sheet.tags.items() if name not in OWN_TAGS]
    tags.sort(key=lambda tag: _FIRST_TAGS.index(tag[0]) if tag[0] in _FIRST_TAGS else len(_FIRST_TAGS))
    game = Game(tuple(trail.moves), result, sheet.start, tuple(tags), tuple(sheet.comments))
    return Candidate(game, tuple(edits), tuple(notes))


# ---------------------------------------------------------------------------------------------------------- repairing


def _replacements(position: Position, ply: Ply, how: _How) -> list[Move]:
    """The legal moves whose text differs from this one by a sign, in the order of the board."""
    found = set()
    for text in changed_by_a_sign(ply.text, how.kinds):
        try:
            found.add(read_move(position, text, how.kinds, dialect=how.dialect, letters=how.letters).move)
        except MoveRefused:
            continue
    return sorted(found)


def _candidates(sheet: Sheet, ways: Sequence[_How]) -> list[Candidate[Game]]:
    """The whole games that the text may mean, each once, fewest edits first."""
    found: dict[tuple[Move, ...], Candidate[Game]] = {}
    for way in ways:
        is_open = way.dialect is None and "wxf" in way.kinds
        for dialect in DIALECTS if is_open else (way.dialect,):
            for candidate in _Search(sheet, replace(way, dialect=dialect)).run():
                if is_open and dialect != DIALECTS[0] and candidate.record.moves not in found:
                    first = sheet.plies[0]
                    words = f"This candidate was read in the dialect of {dialect}."
                    told = Note(first.line, first.column, "other-dialect", "", words)
                    candidate = replace(candidate, notes=(*candidate.notes, told))
                found.setdefault(candidate.record.moves, candidate)
    return sorted(found.values(), key=lambda candidate: len(candidate.edits))[:MOST_CANDIDATES]


class _Search:
    """Looks for whole games, fewest edits first, within a bound on the work."""

    def __init__(self, sheet: Sheet, how: _How) -> None:
        self._sheet, self._how = sheet, how
        self._effort = _EFFORT

    def run(self) -> list[Candidate[Game]]:
        order = count()  # trails themselves are not compared
        waiting = [(0, 0, next(order), self._follow(_Trail(self._sheet.start)))]
        found: list[Candidate[Game]] = []
        while waiting and self._effort > 0 and len(found) < MOST_CANDIDATES:
            *_, trail = heapq.heappop(waiting)
            if trail.refused is not None:
                for longer in self._repaired(trail):
                    heapq.heappush(waiting, (len(longer.edits), -len(longer.moves), next(order), longer))
            elif not _contradiction(self._sheet, trail):
                found.append(_candidate(self._sheet, trail, trail.edits))
        if waiting:
            last = self._sheet.plies[-1]
            cut = Note(
                last.line,
                last.column,
                "search-cut",
                "",
                "There may be more candidates: not all were looked at.",
            )
            found = [replace(candidate, notes=(*candidate.notes, cut)) for candidate in found]
        return found

    def _follow(self, trail: _Trail) -> _Trail:
        before = len(trail.moves)
        _follow(self._sheet, self._how, trail)
        self._effort -= len(trail.moves) - before
        return trail

    def _repaired(self, trail: _Trail) -> Iterator[_Trail]:
        """The trails that go on from a refused move."""
        ply = self._sheet.plies[len(trail.moves)]
        self._effort -= 200  # about as many texts differ by a sign
        for move in _replacements(trail.position, ply, self._how):
            longer = trail.branch()
            read_as = spell(trail.position, move, self._how.form)
            words = f"{short(ply.text)} was taken for {read_as}."
            longer.edits.append(Edit(ply.line, ply.column, "misprint", short(ply.text), read_as, words))
            longer.moves.append(move)
            longer.position = trail.position.after(move)
            yield self._follow(longer)
