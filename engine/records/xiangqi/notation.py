"""How one move is written and read: WXF in two dialects, Chinese, coordinates (RECORDS §3).

A move has four signs: two that name the piece, then the way it goes and a number. Which pieces a name may mean is a
table of the position; what they then can do is asked of the legal moves. So reading is checking, a text that fits
several legal moves is found to be ambiguous, and a name that belongs to one piece never moves another.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.errors import RuleError
from engine.records.xiangqi.board import EMPTY, FILES, RANKS, Move, Position, name, reach

Form = Literal["wxf2018", "wxf1997", "cn_simp", "cn_trad", "uci", "ucci", "iccs"]
Dialect = Literal["2018", "1997"]
Letters = Literal["any", "wxf", "cci", "general"]
Coordinates = Literal["uci", "ucci", "iccs"]
Kind = Literal["wxf", "cn"] | Coordinates  # a way of writing, as far as a reader must know it beforehand

FORMS: tuple[Form, ...] = ("wxf2018", "wxf1997", "cn_simp", "cn_trad", "uci", "ucci", "iccs")
DIALECTS: tuple[Dialect, ...] = ("2018", "1997")
# `wxf` is K A E H R C P, with N read for H; `cci` (Chinese Chess Institute) has G for advisers, B for elephants and N;
# in `general` G is the general. `any`, for reading, takes every letter: a G that could be both never can move as both.
SCHOOLS: tuple[Letters, ...] = ("any", "wxf", "cci", "general")


class MoveRefused(RuleError):
    """A text that names no legal move, or more than one; `because` is a code for why.

    unreadable-move · other-letters · no-such-piece · never-sideways · never-back · off-the-board · cannot-go ·
    general-in-check · generals-face · ambiguous-move · game-over
    """

    code = "bad-move"

    def __init__(self, text: str, because: str, detail: str, expected: Sequence[str] = ()) -> None:
        super().__init__(detail, text=text, because=because, expected=", ".join(expected))
        self.text, self.because, self.expected = text, because, tuple(expected)


@dataclass(frozen=True, slots=True)
class Doubt:
    """What was read otherwise than it is written, by its code, and words for it.

    other-dialect (the text names another piece there) · loose-spelling · other-letters · look-alike
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Found:
    """The one legal move that a text names."""

    move: Move
    doubts: tuple[Doubt, ...] = ()


# --------------------------------------------------------------------------------------------------- names of pieces

# In names and moves pieces have their WXF letters; in the board's cells those of FEN.
_TO_WXF = {"K": "K", "A": "A", "B": "E", "N": "H", "R": "R", "C": "C", "P": "P"}
_WORDS = {
    "K": "general",
    "A": "adviser",
    "E": "elephant",
    "H": "horse",
    "R": "chariot",
    "C": "cannon",
    "P": "pawn",
}
_STEPS_ALONG = "KRCP"  # their number is a distance when they go along a file; others' is always a file

Names = dict[str, list[int]]  # a name of two signs, and the squares of the pieces that it may mean


def _file(square: int, red: bool) -> int:
    """1–9, from the player's own right."""
    return FILES - square % FILES if red else square % FILES + 1


Formation = dict[str, dict[int, list[int]]]  # by letter and file, the squares from the front to the rear


def _formation(position: Position) -> Formation:
    cells, red = position.cells, position.red
    found: Formation = {}
    for square in range(len(cells) - 1, -1, -1) if red else range(len(cells)):
        piece = cells[square]
        if piece != EMPTY and piece.isupper() is red:
            files = found.setdefault(_TO_WXF[piece.upper()], {})
            files.setdefault(_file(square, red), []).append(square)
    return found


def _tandems(files: Mapping[int, list[int]]) -> list[int]:
    """The files on which several of a kind stand, from the player's right."""
    return sorted(file for file, squares in files.items() if len(squares) > 1)


def _each(formation: Formation) -> Iterator[tuple[str, int, int, int, int, list[int]]]:
    """Letter, file, index from the front, how many there, square, and the kind's tandem files."""
    for letter, files in formation.items():
        tandems = _tandems(files) if letter not in "AE" else []
        for file, squares in files.items():
            for index, square in enumerate(squares):
                yield letter, file, index, len(squares), square, tandems


def _wxf_name(
    dialect: Dialect, letter: str, file: int, index: int, count: int, tandems: Sequence[int]
) -> str:
    """What WXF calls this piece; two advisers or elephants on a file tell themselves apart by where they can go."""
    if file not in tandems:
        return f"{letter}{file}"
    if count == 2 and len(tandems) == 1:
        return letter + "+-"[index]
    if dialect == "2018":
        return f"{index + 1}{file}"
    if len(tandems) > 1:
        return f"{file}{'+-'[index] if count == 2 else ('+', file, '-')[index]}"
    names = {
        3: ("P+", f"P{file}", "P-"),
        4: ("++", "P+", "P-", "--"),
        5: ("++", "P+", f"P{file}", "P-", "--"),
    }
    return names[count][index]


def _chinese_name(letter: str, file: int, index: int, count: int, tandems: Sequence[int], before: int) -> str:
    """What Chinese calls it, with + - 0 for 前 后 中; pawns of several files are counted on from the right one."""
    if file not in tandems:
        return f"{letter}{file}"
    if len(tandems) == 1 and count <= 3:
        return ("+-" if count == 2 else "+0-")[index] + letter
    return f"{before + index + 1}{letter}"


def _proper(formation: Formation, kind: Dialect | Literal["cn"]) -> Names:
    """The name of every piece in this dialect, or in Chinese."""
    names: Names = {}
    for letter, file, index, count, square, tandems in _each(formation):
        if kind == "cn":
            before = sum(len(formation[letter][other]) for other in tandems if other < file)
            given = _chinese_name(letter, file, index, count, tandems, before)
        else:
            given = _wxf_name(kind, letter, file, index, count, tandems)
        names.setdefault(given, []).append(square)
    return names


def _loose_wxf(formation: Formation) -> Names:
    """Every piece that a name may mean to somebody, in whatever dialect."""
    names: Names = {}
    for letter, file, index, count, square, _ in _each(formation):
        given = {f"{letter}{file}"}
        if count > 1:
            given |= {f"{letter}+"} if index < count - 1 else set()
            given |= {f"{letter}-"} if index else set()
        if count > 1 and letter == "P":
            given.add(f"{index + 1}{file}")
            given |= {f"{file}+"} if index < count - 1 else set()
            given |= {f"{file}-"} if index else set()
            given |= {f"{file}{file}"} if 0 < index < count - 1 else set()
            given |= {"++"} if index == 0 and count > 3 else set()
            given |= {"--"} if index == count - 1 and count > 3 else set()
        for text in given:
            names.setdefault(text, []).append(square)
    return names


def _loose_chinese(formation: Formation) -> Names:
    """The same; 前六 (front, of file 6) is the older way to name a pawn where two files have several."""
    names: Names = {}
    for letter, file, index, count, square, _ in _each(formation):
        given = {f"{letter}{file}"}
        if count > 1:
            place = "+" if index == 0 else "-" if index == count - 1 else "0"
            given |= {f"{place}{letter}", f"{index + 1}{letter}"}
            given |= {f"{place}{file}"} if letter == "P" else set()
        for text in given:
            names.setdefault(text, []).append(square)
    return names


# ----------------------------------------------------------------------------------------------------------- writing

_PIECES_SIMPLE = {True: dict(zip("KAEHRCP", "帅仕相马车炮兵", strict=True))}
_PIECES_SIMPLE[False] = dict(zip("KAEHRCP", "将士象马车炮卒", strict=True))
_PIECES_TRADITIONAL = {True: dict(zip("KAEHRCP", "帥仕相馬車炮兵", strict=True))}
_PIECES_TRADITIONAL[False] = dict(zip("KAEHRCP", "將士象馬車砲卒", strict=True))
_NUMERALS = "〇一二三四五六七八九"
_WIDE_DIGITS = "０１２３４５６７８９"


def spell(position: Position, move: Move, form: Form, letters: Letters = "wxf") -> str:
    """How this legal move of the position is written in this form; `letters` is for WXF alone."""
    if form in ("uci", "ucci", "iccs"):
        return _coordinates(move, form)
    formation = _formation(position)
    letter = _TO_WXF[position.cells[move.start].upper()]
    files = formation[letter]
    file = _file(move.start, position.red)
    index, count = files[file].index(move.start), len(files[file])
    tandems = _tandems(files) if letter not in "AE" else []
    way, number = _way(letter, move, position.red)
    if form in ("wxf2018", "wxf1997"):
        dialect: Dialect = "2018" if form == "wxf2018" else "1997"
        text = f"{_wxf_name(dialect, letter, file, index, count, tandems)}{way}{number}"
        return _in_school(text.replace("=", ".") if dialect == "1997" else text, letters)
    before = sum(len(files[other]) for other in tandems if other < file)
    named = _chinese_name(letter, file, index, count, tandems, before)
    return _chinese(named, way, number, red=position.red, simple=form == "cn_simp")


def _way(letter: str, move: Move, red: bool) -> tuple[str, int]:
    """The sign and the number of a move."""
    ahead = (move.end // FILES - move.start // FILES) * (1 if red else -1)
    if ahead == 0:
        return "=", _file(move.end, red)
    return "+" if ahead > 0 else "-", abs(ahead) if letter in _STEPS_ALONG else _file(move.end, red)


def _in_school(text: str, letters: Letters) -> str:
    swapped = {"cci": str.maketrans("AEH", "GBN"), "general": str.maketrans("K", "G")}.get(letters)
    return text[:2].translate(swapped) + text[2:] if swapped else text


def _chinese(named: str, way: str, number: int, *, red: bool, simple: bool) -> str:
    pieces = (_PIECES_SIMPLE if simple else _PIECES_TRADITIONAL)[red]
    digits = _NUMERALS if red else ("0123456789" if simple else _WIDE_DIGITS)
    if named[1].isdigit():
        head = pieces[named[0]] + digits[int(named[1])]
    else:
        places = {"+": "前", "-": "后" if simple else "後", "0": "中"}
        head = (places.get(named[0]) or _NUMERALS[int(named[0])]) + pieces[named[1]]
    return head + {"=": "平", "+": "进" if simple else "進", "-": "退"}[way] + digits[number]


def _coordinates(move: Move, form: Form) -> str:
    if form == "uci":
        return name(move.start) + name(move.end)
    start, end = (f"{'abcdefghi'[square % FILES]}{square // FILES}" for square in move)
    return f"{start}-{end}".upper() if form == "iccs" else start + end


# ----------------------------------------------------------------------------------------------------------- reading

# Cyrillic letters that look like ours, then everything Chinese to one sign: pieces to letters, numerals to digits.
_LOOK_ALIKES = str.maketrans("АВЕКНРСавекнрсԌԍ", "ABEKHPCABEKHPCGG")
_FOLDED = {
    **dict.fromkeys("帅帥将將", "K"),
    **dict.fromkeys("仕士", "A"),
    **dict.fromkeys("相象", "E"),
    **dict.fromkeys("马馬傌", "H"),
    **dict.fromkeys("车車俥", "R"),
    **dict.fromkeys("炮砲包", "C"),
    **dict.fromkeys("兵卒", "P"),
    **dict.fromkeys("进進上", "+"),
    **dict.fromkeys("退下", "-"),
    "平": "=",
    **{numeral: str(number) for number, numeral in enumerate(_NUMERALS) if number},
}
_FOLDS = str.maketrans(_FOLDED)
_PLACES = str.maketrans({"前": "+", "后": "-", "後": "-", "中": "0"})

_PIECE, _NUMBER = "帅帥将將仕士相象马馬傌车車俥炮砲包兵卒", "1-9一二三四五六七八九"
CHINESE = rf"(?:[前后後中1-5一二三四五][{_PIECE}]|[{_PIECE}][{_NUMBER}]|[前后後中][{_NUMBER}])[进進上退下平][{_NUMBER}]"
_LETTER = "KAEHRCPNBGkaehrcpnbgАВЕКНРСавекнрсԌԍ"
WXF = rf"(?:[{_LETTER}][1-9+\-]|[+\-][{_LETTER}]|[1-5][1-9]|[1-9][+\-]|\+\+|--)[+\-=.][1-9]"
_SQUARE = "[A-Ia-iАВСЕавсе](?:10|[0-9])"
COORDINATES = rf"{_SQUARE}-?{_SQUARE}"
_HAS_CHINESE = re.compile(f"[{_PIECE}前后後中进進退平上下]")
_ALMOST_COORDINATES = re.compile("[A-Ia-i]?[0-9]{0,2}-?[A-Ia-i]?[0-9]{0,2}")
_IS_CHINESE, _IS_WXF, _IS_COORDINATES = map(re.compile, (CHINESE, WXF, COORDINATES))


def folded(text: str) -> str:
    """The text with full-width and compatibility characters made plain, one for one, so that columns hold."""
    plain = ((sign, unicodedata.normalize("NFKC", sign)) for sign in set(text) if ord(sign) > 127)
    return text.translate({ord(sign): made for sign, made in plain if len(made) == 1})


def read_move(
    position: Position,
    text: str,
    kinds: Sequence[Kind] = ("wxf", "cn"),
    *,
    dialect: Dialect | None = None,
    letters: Letters = "any",
) -> Found:
    """The one legal move that this text names, in one of these ways of writing.

    A dialect that is not named is 2018, with a doubt where 1997 would move another piece. Raises MoveRefused.
    """
    plain = folded(text.strip())
    coordinates = [kind for kind in kinds if kind in ("uci", "ucci", "iccs")]
    try:
        if "cn" in kinds and _IS_CHINESE.fullmatch(plain):
            return _read_chinese(position, text, plain)
        if "wxf" in kinds and _IS_WXF.fullmatch(plain):
            return _read_wxf(position, text, plain, dialect, letters)
        if coordinates and _IS_COORDINATES.fullmatch(plain):
            return _read_coordinates(position, text, plain, 1 if coordinates[0] == "uci" else 0)
    except MoveRefused:
        if position.ending():
            why = f"{text} comes after the end: {_side(position)} has no legal move."
            raise MoveRefused(text, "game-over", why) from None
        raise
    shown = text if len(text) <= 20 else f"{text[:20]}…"
    raise MoveRefused(
        shown, "unreadable-move", f"{shown.strip() or 'Nothing'} is no move in a notation that is read here."
    )


_SIGNS = {  # what a move is made of, one of each that is folded to the same
    "wxf": "KAEHRCP123456789+-=",
    "cn": "帅仕相马车炮兵前后中进退平123456789",
}


def changed_by_a_sign(text: str, kinds: Sequence[Kind]) -> Iterator[str]:
    """The texts that differ from this one in one sign, by a change, an addition or a loss."""
    plain = folded(text.strip())[:8]
    if "wxf" in kinds and not _HAS_CHINESE.search(plain):
        plain, signs = plain.translate(_LOOK_ALIKES).upper().replace(".", "="), _SIGNS["wxf"]
    elif "cn" in kinds and _HAS_CHINESE.search(plain):
        signs = _SIGNS["cn"]
    else:
        signs = ""
    if any(kind in ("uci", "ucci", "iccs") for kind in kinds) and _ALMOST_COORDINATES.fullmatch(plain):
        plain, signs = plain.lower(), "abcdefghi0123456789"
    for index in range(len(plain)):
        yield plain[:index] + plain[index + 1 :]
        for sign in signs:
            yield plain[:index] + sign + plain[index + 1 :]
            yield plain[:index] + sign + plain[index:]
    for sign in signs:
        yield plain + sign


def _read_chinese(position: Position, text: str, plain: str) -> Found:
    signs = plain[:2].translate(_PLACES).translate(_FOLDS) + plain[2:].translate(_FOLDS)
    formation = _formation(position)
    proper = _proper(formation, "cn")
    if signs[:2] in proper:
        return Found(_only(position, text, signs, proper[signs[:2]], "cn"))
    loose = _loose_chinese(formation).get(signs[:2], [])
    found = _only(position, text, signs, loose, "cn")
    return Found(found, (_loosely(text, spell(position, found, "cn_simp")),))


def _read_wxf(position: Position, text: str, plain: str, dialect: Dialect | None, letters: Letters) -> Found:
    latin = plain.translate(_LOOK_ALIKES)
    doubts = [Doubt("look-alike", "Cyrillic letters were read as the Latin ones.")] if latin != plain else []
    signs = latin.upper().replace(".", "=")
    if signs[0] in "+-" and signs[1] not in "+-":
        signs = signs[1] + signs[0] + signs[2:]
    letter = signs[0].replace("N", "H")
    if letter not in "BG":
        found, more = _find_wxf(position, text, letter + signs[1:], dialect)
        return Found(found, (*doubts, *more))
    *others, last = _of_school(text, letter, letters)
    for meant in others:
        # An adviser and a general never go the same way, so no text is a move of both.
        with contextlib.suppress(MoveRefused):
            found, more = _find_wxf(position, text, meant + signs[1:], dialect)
            return Found(found, (*doubts, _of_another_school(letter, meant), *more))
    found, more = _find_wxf(position, text, last + signs[1:], dialect)
    if letters == "any":
        doubts.append(_of_another_school(letter, last))
    return Found(found, (*doubts, *more))


def _of_another_school(letter: str, meant: str) -> Doubt:
    return Doubt("other-letters", f"{letter} was read as {_a(meant)}: a letter of another school.")


def _of_school(text: str, letter: str, letters: Letters) -> list[str]:
    """What B or G stands for. Raises MoveRefused where it stands for nothing."""
    if letters == "wxf":
        means = (
            "an elephant to the Chinese Chess Institute"
            if letter == "B"
            else "an adviser or a general to others"
        )
        raise MoveRefused(
            text, "other-letters", f"{letter} is no letter of WXF; it is {means}: name the letters."
        )
    if letter == "B":
        return ["E"]
    return {"any": ["A", "K"], "cci": ["A"], "general": ["K"]}[letters]


def _find_wxf(
    position: Position, text: str, signs: str, dialect: Dialect | None
) -> tuple[Move, tuple[Doubt, ...]]:
    formation = _formation(position)
    named = signs[:2]
    names = _proper(formation, dialect or "2018")
    if named in names:
        move = _only(position, text, signs, names[named], "wxf")
        others = _proper(formation, "1997").get(named, names[named]) if dialect is None else names[named]
        if others != names[named] and any(map(position.is_legal, _moves(position, signs, others))):
            words = f"{text} was read in the dialect of 2018; in that of 1997 it moves another piece."
            return move, (Doubt("other-dialect", words),)
        return move, ()
    move = _only(position, text, signs, _loose_wxf(formation).get(named, []), "wxf")
    return move, (_loosely(text, spell(position, move, "wxf1997" if dialect == "1997" else "wxf2018")),)


def _loosely(text: str, proper: str) -> Doubt:
    return Doubt("loose-spelling", f"{text} was read as {proper}.")


def _read_coordinates(position: Position, text: str, plain: str, base: int) -> Found:
    squares = [
        ("abcdefghi".index(file), int(rank) - base)
        for file, rank in re.findall("([a-i])([0-9]+)", plain.translate(_LOOK_ALIKES).lower())
    ]
    if any(not 0 <= rank < RANKS for _, rank in squares):
        ranks = "0 to 9" if base == 0 else "1 to 10"
        raise MoveRefused(text, "off-the-board", f"{text} leaves the board: its ranks are {ranks}.")
    start, end = (FILES * rank + file for file, rank in squares)
    if position.is_legal(move := Move(start, end)):
        return Found(move)
    piece = position.cells[start]
    if piece == EMPTY or piece.isupper() is not position.red:
        side = _side(position)
        raise MoveRefused(text, "no-such-piece", f"{side} has no piece where {text} begins.")
    raise _why_not(position, text, _TO_WXF[piece.upper()], [move])


def _only(position: Position, text: str, signs: str, squares: Sequence[int], kind: str) -> Move:
    """The one legal move of the pieces on these squares that goes as the last two signs say. Raises MoveRefused."""
    way = signs[2]
    if not squares:
        raise _nobody(position, text, signs)
    letter = _TO_WXF[position.cells[squares[0]].upper()]
    if way == "=" and letter in "AEH":
        raise MoveRefused(text, "never-sideways", f"{text}: {_a(letter)} never moves sideways.")
    if way == "-" and letter == "P":
        raise MoveRefused(text, "never-back", f"{text}: a pawn never moves back.")
    moves = _moves(position, signs, squares)
    legal = [move for move in moves if position.is_legal(move)]
    if len(legal) == 1:
        return legal[0]
    if legal:
        forms: tuple[Form, ...] = ("cn_simp",) if kind == "cn" else ("wxf2018", "wxf1997")
        spelled = list(dict.fromkeys(spell(position, move, form) for move in legal for form in forms))
        because = f"{text} can be {len(legal)} moves here: {', '.join(spelled)}."
        raise MoveRefused(text, "ambiguous-move", because, spelled)
    if not moves:
        raise MoveRefused(
            text, "off-the-board", f"{text}: {_a(letter)} cannot go there from where it stands."
        )
    raise _why_not(position, text, letter, moves)


def _moves(position: Position, signs: str, squares: Sequence[int]) -> list[Move]:
    """The moves of the pieces on these squares that go as the last two signs say, legal or not."""
    letter = _TO_WXF[position.cells[squares[0]].upper()]
    ends = ((square, _end(letter, square, position.red, signs[2], int(signs[3]))) for square in squares)
    return [Move(start, end) for start, end in ends if end is not None]


def _end(letter: str, start: int, red: bool, way: str, number: int) -> int | None:
    """Where a move of this kind ends, if it is on the board."""
    rank, file = divmod(start, FILES)
    target = FILES - number if red else number - 1
    if way == "=":
        return FILES * rank + target if target != file else None
    if letter in _STEPS_ALONG:
        ahead, target = number, file
    else:
        across = abs(target - file)
        ahead = {"H": (0, 2, 1), "E": (0, 0, 2), "A": (0, 1, 0)}[letter][across] if across < 3 else 0
    if not ahead:
        return None
    rank += ahead if (way == "+") is red else -ahead
    return FILES * rank + target if 0 <= rank < RANKS else None


def _a(letter: str) -> str:
    return f"{'an' if letter in 'AE' else 'a'} {_WORDS[letter]}"


def _side(position: Position) -> str:
    return "Red" if position.red else "Black"


def _nobody(position: Position, text: str, signs: str) -> MoveRefused:
    """No piece of the side has this name."""
    letter = next((sign for sign in signs[:2] if sign in _WORDS), "P")
    file = signs[1] if signs[1].isdigit() and signs[1] != "0" else ""
    which = f"on file {file}" if file and signs[0] in _WORDS else "that this names"
    return MoveRefused(text, "no-such-piece", f"{text}: {_side(position)} has no {_WORDS[letter]} {which}.")


def _why_not(position: Position, text: str, letter: str, moves: Sequence[Move]) -> MoveRefused:
    """Why none of these moves is legal."""
    for move in moves:
        if move.end in reach(position.cells, move.start):
            after = position.after(move)
            if _facing(after.cells):
                return MoveRefused(
                    text, "generals-face", f"{text} would leave the two generals facing each other."
                )
            return MoveRefused(text, "general-in-check", f"{text} would leave the own general in check.")
    return MoveRefused(text, "cannot-go", f"{text}: the {_WORDS[letter]} cannot go there.")


def _facing(cells: str) -> bool:
    """Do the generals see each other along a file?"""
    low, high = sorted((cells.index("K"), cells.index("k")))
    return low % FILES == high % FILES and all(cells[s] == EMPTY for s in range(low + FILES, high, FILES))
