"""One move of xiangqi, written and read in every notation (RECORDS §3)."""

import random
from itertools import product

import pytest

from engine.records.xiangqi.board import START, Position, name
from engine.records.xiangqi.notation import (
    DIALECTS,
    FORMS,
    Dialect,
    Form,
    Kind,
    Letters,
    MoveRefused,
    read_move,
    spell,
)
from tests.builders import data

VECTORS = data("records/xiangqi_cases.json")
SPELLINGS: tuple[Form, ...] = ("wxf2018", "wxf1997", "cn_simp", "cn_trad")
DIALECT_OF: dict[str, Dialect] = {"wxf2018": "2018", "wxf1997": "1997", "wxf1982": "1997"}
KINDS: dict[str, Kind] = {"wxf2018": "wxf", "wxf1997": "wxf", "cn_simp": "cn", "cn_trad": "cn"}

TWO_CHARIOTS = "5k3/9/9/4R4/9/9/9/4R4/9/3K5 w"
THREE_PAWNS = "5k3/9/6P2/6P2/6P2/9/2P6/9/9/3K5 w"
FOUR_PAWNS = "5k3/6P2/6P2/6P2/2P3P2/9/9/9/9/3K5 w"
FIVE_PAWNS = "5k3/4P4/4P4/4P4/4P4/9/4P4/9/9/3K5 w"
THREE_AND_TWO = "5k3/9/6P2/2P3P2/2P3P2/9/9/9/9/3K5 w"


def read(
    fen: str, text: str, kind: Kind = "wxf", dialect: Dialect | None = None, letters: Letters = "any"
) -> str:
    """The move that a text names, in coordinates."""
    position = Position.from_fen(fen)
    move = read_move(position, text, (kind,), dialect=dialect, letters=letters).move
    return name(move.start) + name(move.end)


def refusal(fen: str, text: str, dialect: Dialect | None = None, letters: Letters = "any") -> MoveRefused:
    with pytest.raises(MoveRefused) as refused:
        read_move(Position.from_fen(fen), text, dialect=dialect, letters=letters)
    return refused.value


def some_positions() -> list[Position]:
    chance = random.Random(7)
    found = [Position.from_fen(fen) for fen in sorted({case["fen"] for case in VECTORS["cases"]})]
    for _ in range(4):
        position = START
        for ply in range(80):
            moves = position.legal_moves()
            if not moves:
                break
            position = position.after(chance.choice(moves))
            if ply % 8 == 0:
                found.append(position)
    return found


POSITIONS = some_positions()


@pytest.mark.parametrize("form", SPELLINGS)
def test_every_worked_move_is_written_as_it_should_and_read_back(form: Form) -> None:
    assert len(VECTORS["cases"]) == 212
    for case in VECTORS["cases"]:
        position = Position.from_fen(case["fen"])
        found = read_move(position, case[form], (KINDS[form],), dialect=DIALECT_OF.get(form))
        assert name(found.move.start) + name(found.move.end) == case["uci"], case
        assert found.doubts == ()
        assert spell(position, found.move, form) == case[form]
        assert spell(position, found.move, "uci") == case["uci"]


def test_the_older_chinese_names_of_pawns_are_read() -> None:
    for case in VECTORS["cases"]:
        assert read(case["fen"], case["cn_old"], "cn") == case["uci"], case


@pytest.mark.parametrize("case", VECTORS["accept"], ids=lambda case: case["text"])
def test_what_is_to_be_accepted_is_read(case: dict[str, str]) -> None:
    dialects = [DIALECT_OF[case["dialect"]]] if case["dialect"] else [None, *DIALECTS]
    for dialect, letters in product(dialects, (case["letters"], "any")):
        assert read(case["fen"], case["text"], "wxf", dialect, letters) == case["uci"]


@pytest.mark.parametrize("dialect", [None, *DIALECTS])
@pytest.mark.parametrize(
    ("case", "code"),
    list(zip(VECTORS["reject"], ("ambiguous-move", "ambiguous-move", "no-such-piece", "never-sideways"), strict=True)),
    ids=lambda case: case["text"] if isinstance(case, dict) else "",
)  # fmt: skip
def test_what_is_to_be_refused_is_refused(case: dict[str, str], code: str, dialect: Dialect | None) -> None:
    assert refusal(case["fen"], case["text"], dialect).because == code


@pytest.mark.parametrize("case", VECTORS["cross_dialect_conflicts"], ids=lambda case: case["text"])
def test_one_text_names_two_pawns_in_two_dialects_and_the_doubt_is_told(case: dict[str, str]) -> None:
    assert read(case["fen"], case["text"], "wxf", "2018") == case["wxf2018_uci"]
    assert read(case["fen"], case["text"], "wxf", "1997") == case["wxf1997_uci"]
    found = read_move(Position.from_fen(case["fen"]), case["text"])
    assert spell(Position.from_fen(case["fen"]), found.move, "uci") == case["wxf2018_uci"]
    assert [doubt.code for doubt in found.doubts] == ["other-dialect"]
    named = read_move(Position.from_fen(case["fen"]), case["text"], dialect="2018")
    assert named.doubts == ()


@pytest.mark.parametrize("form", FORMS)
def test_every_legal_move_has_a_spelling_of_its_own_that_is_read_back(form: Form) -> None:
    kind: Kind = KINDS.get(form) or form  # type: ignore[assignment]
    for position in POSITIONS:
        moves = position.legal_moves()
        texts = [spell(position, move, form) for move in moves]
        assert len(set(texts)) == len(moves)
        for move, text in zip(moves, texts, strict=True):
            found = read_move(position, text, (kind,), dialect=DIALECT_OF.get(form))
            assert (found.move, found.doubts) == (move, ())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_text_moves_another_piece_than_it_names(dialect: Dialect) -> None:
    """All texts of four signs: what is read has that text among its spellings, and no other legal move has it first."""
    names = [a + b for a, b in product("KAEHRCP", "123456789+-")]
    names += [a + b for a, b in product("123456789", "123456789+-")] + ["++", "--"]
    texts = [named + way + number for named in names for way, number in product("+-=", "123456789")]
    own: Form = "wxf1997" if dialect == "1997" else "wxf2018"
    read_texts = 0
    for position in POSITIONS[::9]:
        legal = position.legal_moves()
        proper = {spell(position, move, own).replace(".", "="): move for move in legal}
        for text in texts:
            try:
                found = read_move(position, text, dialect=dialect)
            except MoveRefused:
                assert text not in proper
                continue
            read_texts += 1
            assert proper.get(text, found.move) == found.move
            assert (text in proper) == (found.doubts == ())
            assert text[2:] == spell(position, found.move, own).replace(".", "=")[2:]
            letter = spell(position, found.move, "wxf2018")[0]
            assert text[0] == letter or (letter in "P12345" and text[0] not in "KAEHRC")
    assert read_texts > 200


@pytest.mark.parametrize(
    ("fen", "text", "dialect", "because"),
    [
        # The front one cannot go there: the text does not fall to the other.
        pytest.param("5k3/9/9/4RN3/9/9/9/4R4/9/3K5 w", "R+=3", None, "cannot-go", id="the front chariot is blocked"),
        pytest.param("5k3/9/6P2/6P2/5NP2/9/9/9/9/3K5 w", "33=4", "2018", "cannot-go", id="the third pawn is blocked"),
        pytest.param("5k3/9/6P2/6P2/6P2/9/9/9/9/3K5 w", "P3=4", "2018", "ambiguous-move", id="a plain name in 2018"),
        pytest.param(FOUR_PAWNS, "P+=4", "2018", "ambiguous-move", id="P+ of four means two pawns to two people"),
        pytest.param("3k5/9/9/9/4r4/9/9/4R4/9/4K4 w", "R5=4", None, "general-in-check", id="a pinned chariot"),
        pytest.param("4k4/9/9/9/9/9/9/4R4/9/4K4 w", "R5=4", None, "generals-face", id="generals would face"),
        pytest.param(TWO_CHARIOTS, "K6+3", None, "cannot-go", id="a general goes one step"),
        pytest.param(TWO_CHARIOTS, "K6-1", None, "off-the-board", id="off the board"),
        pytest.param(TWO_CHARIOTS, "C2=5", None, "no-such-piece", id="no such piece"),
        pytest.param(THREE_PAWNS, "P7-1", None, "never-back", id="pawns never go back"),
        pytest.param(THREE_PAWNS, "H9+10", None, "unreadable-move", id="ten is no file"),
        pytest.param(TWO_CHARIOTS, "", None, "unreadable-move", id="nothing"),
        pytest.param("3k5/9/3P5/9/9/9/9/9/9/4K4 b", "K4=5", None, "game-over", id="after the end"),
        pytest.param("5k3/9/9/9/9/2B6/9/9/9/2BK5 w", "相七退一", None, "off-the-board", id="no elephant goes so"),
    ],
)  # fmt: skip
def test_a_refusal_says_why(fen: str, text: str, dialect: Dialect | None, because: str) -> None:
    refused = refusal(fen, text, dialect)
    assert refused.because == because
    assert refused.detail.startswith(text)


@pytest.mark.parametrize(
    ("fen", "text", "uci"),
    [
        pytest.param(TWO_CHARIOTS, "前车退一", "e7e6", id="simplified"),
        pytest.param(TWO_CHARIOTS, "前車退一", "e7e6", id="traditional"),
        pytest.param(TWO_CHARIOTS, "前俥下一", "e7e6", id="俥 and 下"),
        pytest.param(TWO_CHARIOTS, "後車上1", "e3e4", id="後, 上 and a digit"),
        pytest.param(TWO_CHARIOTS, "后車進１", "e3e4", id="a full-width digit"),
        pytest.param(TWO_CHARIOTS, "\uf902五平四", None, id="both chariots can"),
        pytest.param("5k3/9/9/9/6N2/9/9/9/9/3K5 w", "傌三進四", "g6f8", id="傌"),
        pytest.param("5k3/9/9/9/6C2/9/9/9/9/3K5 w", "包三平五", "g6e6", id="包"),
        pytest.param("5k3/9/9/9/6C2/9/9/9/9/3K5 w", "砲三平五", "g6e6", id="砲 for Red"),
        pytest.param("5k3/9/9/9/6C2/9/9/9/9/3K5 w", "帥六平五", "d1e1", id="帥"),
        pytest.param("5k3/9/9/9/6C2/9/9/9/9/3K5 w", "將六平五", "d1e1", id="將 for Red"),
        pytest.param("5k3/9/9/9/6C2/9/9/9/9/3K5 w", "将6平5", "d1e1", id="digits for Red"),
        pytest.param("3k5/9/9/9/9/9/9/9/9/5K3 b", "帅四平五", "d10e10", id="numerals for Black"),
        pytest.param(THREE_PAWNS, "二兵平四", "g7f7", id="an ordinal where 中 is usual"),
        pytest.param(FOUR_PAWNS, "前兵平四", "g9f9", id="前 where an ordinal is usual"),
        pytest.param(THREE_AND_TWO, "前三进一", "g8g9", id="the older name of a pawn"),
    ],
)
def test_chinese_is_read_in_all_its_spellings(fen: str, text: str, uci: str | None) -> None:
    if uci is None:
        assert refusal(fen, text).because == "ambiguous-move"
    else:
        assert read(fen, text, "cn") == uci


@pytest.mark.parametrize(
    ("text", "letters", "uci"),
    [
        pytest.param("H3+4", "wxf", "g6f8", id="H"),
        pytest.param("n3+4", "wxf", "g6f8", id="n"),
        pytest.param("N3+4", "cci", "g6f8", id="N"),
        pytest.param("b7+5", "cci", "c1e3", id="b"),
        pytest.param("E7+5", "cci", "c1e3", id="E in a text of the other school"),
        pytest.param("B7+5", "general", "c1e3", id="B where G is the general"),
        pytest.param("G4+5", "cci", "f1e2", id="G for an adviser"),
        pytest.param("G4+5", "any", "f1e2", id="G that only an adviser can be"),
        pytest.param("G6+1", "general", "d1d2", id="G for the general"),
        pytest.param("G6=5", "any", "d1e1", id="G that only the general can be"),
        pytest.param("К6=5", "wxf", "d1e1", id="a Cyrillic К"),
        pytest.param("Н3＋４", "wxf", "g6f8", id="Cyrillic and full-width"),
        pytest.param("B7+5", "wxf", "other-letters", id="B is no letter of WXF"),
        pytest.param("G4+5", "wxf", "other-letters", id="G is no letter of WXF"),
        pytest.param("G4+5", "general", "no-such-piece", id="no general on file 4"),
        pytest.param("G6=5", "cci", "no-such-piece", id="no adviser on file 6"),
    ],
)
def test_letters_of_every_school_are_read(text: str, letters: Letters, uci: str) -> None:
    fen = "5k3/9/9/9/6N2/9/9/9/9/2BK1A3 w"
    if "-" in uci:
        assert refusal(fen, text, letters=letters).because == uci
    else:
        assert read(fen, text, "wxf", None, letters) == uci


@pytest.mark.parametrize(
    ("letters", "texts"),
    [
        ("wxf", {"K6=5", "A4+5", "E7+5", "H3+4"}),
        ("cci", {"K6=5", "G4+5", "B7+5", "N3+4"}),
        ("general", {"G6=5", "A4+5", "E7+5", "H3+4"}),
    ],
)
def test_each_school_writes_its_own_letters(letters: Letters, texts: set[str]) -> None:
    position = Position.from_fen("5k3/9/9/9/6N2/9/9/9/9/2BK1A3 w")
    moves = [read_move(position, text).move for text in ("K6=5", "A4+5", "E7+5", "H3+4")]
    assert {spell(position, move, "wxf2018", letters) for move in moves} == texts


@pytest.mark.parametrize(
    ("text", "kind", "uci"),
    [
        pytest.param("h3e3", "uci", "h3e3", id="ranks from 1"),
        pytest.param("h2e2", "ucci", "h3e3", id="ranks from 0"),
        pytest.param("H2-E2", "iccs", "h3e3", id="ICCS"),
        pytest.param("a10a9", "uci", None, id="Black's chariot, and Red is to move"),
        pytest.param("h0e0", "uci", "off-the-board", id="no rank 0"),
        pytest.param("h10e3", "ucci", "off-the-board", id="no rank 10"),
        pytest.param("e5e6", "uci", "no-such-piece", id="an empty point"),
        pytest.param("h3h1", "uci", "cannot-go", id="onto an own piece"),
    ],
)
def test_coordinates_are_read(text: str, kind: Kind, uci: str | None) -> None:
    if uci is None or "-" in uci:
        with pytest.raises(MoveRefused) as refused:
            read_move(START, text, (kind,))
        assert refused.value.because == (uci or "no-such-piece")
    else:
        assert spell(START, read_move(START, text, (kind,)).move, "uci") == uci


@pytest.mark.parametrize(
    ("fen", "text", "dialect", "uci"),
    [
        pytest.param(FIVE_PAWNS, "15=4", "1997", "e9f9", id="an ordinal of 2018 in a text of 1997"),
        pytest.param(FIVE_PAWNS, "++.4", "2018", "e9f9", id="the foremost of 1997 in a text of 2018"),
        pytest.param(THREE_AND_TWO, "3+.4", "2018", None, id="3+ could be two pawns to somebody"),
        pytest.param(THREE_AND_TWO, "77=6", "2018", None, id="no third pawn on file 7"),
    ],
)
def test_the_other_dialect_is_read_where_it_can_mean_one_move_only(
    fen: str, text: str, dialect: Dialect, uci: str | None
) -> None:
    if uci is None:
        refusal(fen, text, dialect)
    else:
        found = read_move(Position.from_fen(fen), text, dialect=dialect)
        assert name(found.move.start) + name(found.move.end) == uci
        assert [doubt.code for doubt in found.doubts] == ["loose-spelling"]
