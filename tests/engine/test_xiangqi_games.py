"""Whole games of xiangqi as texts: read strictly, repaired, written in every form (RECORDS §3)."""

import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.records import xiangqi
from engine.records.family import Candidate, Options, Reading, UnknownOption
from engine.records.text import Fault, RecordError, normalised
from engine.records.xiangqi import FORMS, Game, recognise, steps, write
from engine.records.xiangqi.board import START, Ending, Position
from engine.records.xiangqi.notation import SCHOOLS, spell
from tests.builders import DATA, data

EXAMPLE = data("records/xiangqi_example_game.json")
PRINTED = (DATA / "records" / "xiangqi_example.txt").read_text(encoding="utf-8")
OPENING = "1. C2=5 H8+7 2. H2+3 R9=8 3. R1=2 H2+3"


def read(text: str, repair: bool = False, **options: str) -> Reading[Game]:
    return xiangqi.read(normalised(text), Options(**options), repair)


def the_game(text: str, **options: str) -> Game:
    return read(text, **options).record


def the_notes(text: str, **options: str) -> list[str]:
    (only,) = read(text, **options).candidates
    return [note.code for note in only.notes]


def the_faults(text: str, repair: bool = False, **options: str) -> tuple[Fault, ...]:
    with pytest.raises(RecordError) as refused:
        read(text, repair, **options)
    return refused.value.faults


def uci(game: Game) -> list[str]:
    return [spell(START, move, "uci") for move in game.moves]


def random_game(seed: int, plies: int) -> Game:
    chance, position, moves = random.Random(seed), START, []
    while len(moves) < plies and (legal := position.legal_moves()):
        moves.append(chance.choice(legal))
        position = position.after(moves[-1])
    ending = position.ending()
    return Game(tuple(moves), "*" if ending is None else "0-1" if position.red else "1-0")


# ------------------------------------------------------------------------------------- the game of the source document


def test_the_example_as_printed_stops_at_ply_7_and_says_why() -> None:
    (fault,) = the_faults(PRINTED)
    assert (fault.line, fault.column, fault.text, fault.code) == (4, 4, "R2+1", "no-such-piece")
    assert "Red has no chariot on file 2" in fault.message
    assert "Ply 7" in fault.message
    assert set(fault.expected.split(" · ")) == {"H2+1", "C2+1", "R1+1", "R8+1"}


def edits(candidate: Candidate[Game]) -> dict[int, tuple[str, str]]:
    """By ply, what is printed and what it was taken for; the game has two moves a line."""
    plies = {(edit.line, edit.column): edit for edit in candidate.edits}
    rows = PRINTED.split("\n")
    return {
        2 * line - (column == rows[line - 1].index(" ") + 2): (edit.text, edit.read_as)
        for (line, column), edit in plies.items()
    }


def test_repair_lists_exactly_the_two_whole_games() -> None:
    first, second = read(PRINTED, repair=True).candidates
    named = {repair["ply"]: (repair["seed"], repair["read_as"]) for repair in EXAMPLE["repairs"]}
    other = {repair["ply"]: (repair["seed"], repair["read_as"]) for repair in EXAMPLE["other_full_solution"]}
    assert edits(first) == named
    assert edits(second) == named | other
    assert [edit.code for edit in first.edits] == ["misprint"] * 3 + ["other-letters"]
    for candidate in (first, second):
        assert [note.code for note in candidate.notes] == ["other-letters"]
        assert len(candidate.record.moves) == 73
        assert candidate.record.final().ending() is Ending.CHECKMATE
        assert candidate.record.result == EXAMPLE["result"] == "1-0"


def test_every_ply_of_the_repaired_game_is_as_a_careful_reader_finds_it() -> None:
    game = read(PRINTED, repair=True).candidates[0].record
    told = steps(game)
    assert (told["start"], told["ending"], told["result"]) == (EXAMPLE["start_fen"], "checkmate", "1-0")
    assert told["plies"][-1]["fen"] == EXAMPLE["final_fen"]
    positions = list(game.positions())
    for ply, expected, after in zip(told["plies"], EXAMPLE["plies"], positions[1:], strict=True):
        assert (ply["ply"], ply["number"], ply["side"]) == (expected["ply"], expected["no"], expected["side"])
        assert (ply["uci"], ply["wxf2018"], ply["wxf1997"]) == (
            expected["uci"],
            expected["wxf"],
            expected["wxf_dot"],
        )
        assert (ply["cn_simp"], ply["cn_trad"]) == (expected["cn_simp"], expected["cn_trad"])
        assert (ply["fen"], ply["capture"], ply["check"]) == (
            expected["fen_after"],
            expected["capture"],
            expected["check"],
        )
        assert len(after.legal_moves()) == expected["legal_replies"]


@pytest.mark.parametrize("form", ["cn_simp", "cn_trad"])
def test_the_chinese_record_that_the_document_lost_is_written_anew(form: str) -> None:
    text = (DATA / "records" / f"xiangqi_example_{form}.txt").read_text(encoding="utf-8")
    game = read(PRINTED, repair=True).candidates[0].record
    assert write(game, form) == text
    assert the_game(text) == game
    assert the_notes(text) == []


def test_the_letters_of_the_example_are_mixed_and_named_letters_are_kept_to() -> None:
    mended = PRINTED.replace("R2+1", "H2+1").replace("10. R3=2 R8-6", "10. R3=2 H8-6")
    mended = mended.replace("11. R2=4 R6+8", "11. R2=4 H6+8")
    assert len(the_game(mended).moves) == 73
    assert the_notes(mended) == ["other-letters"]
    assert the_notes(mended, letters="cci") == []
    (fault,) = the_faults(mended, letters="wxf")
    assert (fault.line, fault.code, fault.text) == (17, "other-letters", "B3+5")


# --------------------------------------------------------------------------------------------------------- all layouts


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(OPENING, id="one line"),
        pytest.param("C2=5 H8+7 H2+3 R9=8 R1=2 H2+3", id="no numbers"),
        pytest.param("1.C2=5 H8+7\n2.H2+3 R9=8\n3.R1=2 H2+3\n*", id="glued numbers"),
        pytest.param("1 C2=5 H8+7\n2 H2+3 R9=8\n3 R1=2 H2+3", id="numbers without dots"),
        pytest.param("1) C2.5, H8+7; a comment\n2) H2+3, R9.8\n3) R1.2, H2+3", id="brackets, commas, dots"),
        pytest.param("1. c2=5 1... h8+7 2. h2+3 2... r9=8 3. r1=2 3... h2+3", id="dots for Red"),
        pytest.param("1. C2=5! H8+7?! 2. H2+3 R9=8 3. R1=2 H2+3!!", id="marks"),
        pytest.param("1. C2=5 H8+7 (1. … H2+3 2. H2+3 (2. R1+1)) 2. H2+3 R9=8 3. R1=2 H2+3", id="variations"),
        pytest.param("1. 炮二平五 马8进7 2. 马二进三 车9平8 3. 车一平二 马2进3", id="Chinese"),
        pytest.param("1.炮二平五马8进7\n2.马二进三车9平8\n3.车一平二马2进3", id="Chinese without spaces"),
        pytest.param(
            "１．炮二平五　馬８進７\n２．馬二進三　車９平８\n３、車一平二，馬２進３", id="full width"
        ),
        pytest.param("1. C2=5 马8进7 2. H2+3 车9平8 3. 车一平二 H2+3", id="both in turn"),
        pytest.param("h2e2 h9g7 h0g2 i9h9 i0h0 b9c7", id="ranks from 0"),
        pytest.param("h3e3 h10g8 h1g3 i10h10 i1h1 b10c8", id="ranks from 1"),
        pytest.param("1. H2-E2 H9-G7 2. H0-G2 I9-H9 3. I0-H0 B9-C7", id="ICCS"),
        pytest.param("position startpos moves h2e2 h9g7 h0g2 i9h9 i0h0 b9c7", id="UCCI"),
        pytest.param(f"position fen {START.fen} moves h2e2 h9g7 h0g2 i9h9 i0h0 b9c7", id="UCCI with FEN"),
        pytest.param("С2=5 Н8+7 Н2+3 R9=8 R1=2 Н2+3", id="Cyrillic letters"),
    ],
)
def test_every_layout_is_read(text: str) -> None:
    assert uci(the_game(text)) == ["h3e3", "h10g8", "h1g3", "i10h10", "i1h1", "b10c8"]
    assert recognise(normalised(text)) > 0.5


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_a_text_is_seen(form: str) -> None:
    game = random_game(5, 30)
    assert xiangqi.form_of(normalised(write(game, form))) == form


def test_tags_comments_and_result_are_kept() -> None:
    text = (
        '[Black "Ян \\"Лис\\""]\n[Event "Кубок"]\n[Red "Ху"]\n[Result "1-0"]\n[Annotator "я"]\n\n'
        "{ before  it\nall } 1. C2=5 ; to {the} end\nH8+7 2. H2+3 {a} {b} 1-0\n{after}"
    )
    game = the_game(text)
    assert game.tags == (("Event", "Кубок"), ("Red", "Ху"), ("Black", 'Ян "Лис"'), ("Annotator", "я"))
    assert game.comments == (
        (0, "before it all"),
        (1, "to (the) end"),
        (3, "a"),
        (3, "b"),
        (3, "after"),
    )
    assert game.result == "1-0"
    assert write(game) == (
        '[Game "Chinese Chess"]\n[Event "Кубок"]\n[Red "Ху"]\n[Black "Ян \\"Лис\\""]\n[Annotator "я"]\n'
        '[Result "1-0"]\n[Format "WXF"]\n[Dialect "2018"]\n\n{before it all}\n'
        "1. C2=5 {to (the) end} H8+7\n2. H2+3 {a} {b} {after}\n1-0\n"
    )
    assert the_game(write(game)) == game
    assert steps(game)["comment"] == "before it all"
    assert [ply["comment"] for ply in steps(game)["plies"]] == ["to (the) end", None, "a b after"]


@pytest.mark.parametrize(
    ("header", "tag"),
    [
        ("Red: Hu", ("Red", "Hu")),
        ("黑方：胡荣华", ("Black", "胡荣华")),
        ("Красные: Ху", ("Red", "Ху")),
        ('[red "Hu"]', ("Red", "Hu")),
    ],
)
def test_headers_in_words_are_read(header: str, tag: tuple[str, str]) -> None:
    assert the_game(f"{header}\n\n{OPENING}").tags == (tag,)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1/2-1/2", "1/2-1/2"),
        ("½-½", "1/2-1/2"),
        ("0-1", "0-1"),
        ("红胜", "1-0"),
        ("黑勝", "0-1"),
        ("和棋", "1/2-1/2"),
        ("*", "*"),
        ("", "*"),
    ],
)
def test_results_are_read(text: str, result: str) -> None:
    assert the_game(f"{OPENING} {text}").result == result
    assert the_game(f'[Result "{text or "*"}"]\n{OPENING}').result == result


def test_a_game_from_another_position_begins_where_black_is_to_move() -> None:
    fen = "3ak3C/4aR3/9/pN6p/1n7/9/P3P1P1n/4c1c2/4AK3/2BA2B2 b - - 0 36"
    game = the_game(f'[FEN "{fen}"]\n36... C5=2 37. H8+7 1-0')
    assert game.start == Position.from_fen(fen)
    assert game.final().ending() is Ending.CHECKMATE
    assert write(game).endswith("36... C5=2\n37. H8+7\n1-0\n")
    assert the_game(write(game)) == game
    assert the_game(f"position fen {fen} moves e2b2 b6c8", form="ucci").moves == game.moves


# ------------------------------------------------------------------------------------------- what is wrong, and where


@pytest.mark.parametrize(
    ("text", "line", "column", "code"),
    [
        pytest.param("1. C2=5 H8+7\n2. H2+3 R9=7", 2, 9, "cannot-go", id="blocked"),
        pytest.param("1. C2=5 H8+7\n2. Q2+3 R9=8", 2, 4, "unreadable-move", id="no piece has this letter"),
        pytest.param("1. C2=5\n3. H2+3", 2, 1, "missing-move", id="Black's move is missing"),
        pytest.param("1... C2=5", 1, 1, "missing-move", id="Red's move is missing"),
        pytest.param("1. ... C2=5", 1, 4, "missing-move", id="dots in its place"),
        pytest.param(f"{OPENING} 1-0 C8=5", 1, len(OPENING) + 6, "after-result", id="after the result"),
        pytest.param(f"{OPENING} 1-0 0-1", 1, len(OPENING) + 6, "after-result", id="two results"),
        pytest.param(f'[Result "0-1"]\n{OPENING} 1-0', 2, len(OPENING) + 2, "result-differs", id="two opinions"),
        pytest.param(f'[Result "won"]\n{OPENING}', 1, 1, "bad-result", id="no result"),
        pytest.param(f'[Red "a"]\n[red "b"]\n{OPENING}', 2, 1, "tag-twice", id="a tag twice"),
        pytest.param(f'[FEN "8/8"]\n{OPENING}', 1, 1, "bad-fen", id="a bad FEN"),
        pytest.param(f'[Dialect "1888"]\n{OPENING}', 1, 1, "bad-tag", id="an unknown dialect"),
        pytest.param("1. C2=5 {so\nH8+7", 1, 9, "unclosed", id="an open comment"),
        pytest.param("1. C2=5 (H8+7", 1, 9, "unclosed", id="an open variation"),
        pytest.param("1. C2=5 } H8+7", 1, 9, "unclosed", id="a closed comment"),
        pytest.param("", 1, 1, "no-moves", id="nothing"),
        pytest.param('[Red "a"]', 1, 1, "no-moves", id="a header alone"),
        pytest.param("Some heading\n1. C2=5", 1, 1, "unreadable-move", id="a heading"),
    ],
)  # fmt: skip
def test_faults_are_told_in_their_place(text: str, line: int, column: int, code: str) -> None:
    for repair in (False, True):
        if repair and code in ("cannot-go", "unreadable-move"):
            continue
        fault = the_faults(text, repair)[0]
        assert (fault.line, fault.column, fault.code) == (line, column, code)


def test_words_that_can_be_no_move_are_told_beyond_the_first_fault() -> None:
    faults = the_faults("1. C2=5 H8+7\n2. H2+9 R9=8\n3. R1=2 what")
    assert [(fault.line, fault.column, fault.code) for fault in faults] == [
        (2, 4, "off-the-board"),
        (3, 9, "unreadable-move"),
    ]


def test_a_result_that_the_board_refutes_is_refused_and_a_missing_one_is_added() -> None:
    text = (DATA / "records" / "xiangqi_example_cn_simp.txt").read_text(encoding="utf-8")
    moves = text.split("\n\n")[1].replace("\n1-0", "")
    (fault,) = the_faults(f"{moves} 0-1")
    assert (fault.code, fault.expected) == ("result-differs", "1-0")
    assert the_game(moves).result == "1-0"
    assert the_notes(moves) == ["result-added"]
    assert the_faults(f"{moves} 马1进2")[0].code == "game-over"


def test_a_number_out_of_order_is_a_note() -> None:
    assert the_notes("1. C2=5 H8+7\n3. H2+3 R9=8") == ["move-number"]


def test_what_was_left_out_or_folded_is_a_note() -> None:
    assert the_notes("1. С2=5! Н8+7 (1... H2+3) 2. H2+3") == ["marks", "variation", "look-alike"]


# -------------------------------------------------------------------------------------------- dialects and coordinates

THREE_AND_TWO = '[FEN "5k3/9/6P2/2P3P2/2P3P2/9/9/9/9/3K5 w - - 0 1"]\n'


def test_a_dialect_that_is_not_named_is_2018_with_a_doubt() -> None:
    assert uci(the_game(f"{THREE_AND_TWO}33=4")) == ["g6f6"]
    assert the_notes(f"{THREE_AND_TWO}33=4") == ["other-dialect"]
    assert uci(the_game(f"{THREE_AND_TWO}33=4", dialect="1997")) == ["g7f7"]
    assert uci(the_game(f"{THREE_AND_TWO}33=4", form="wxf1997")) == ["g7f7"]
    assert uci(the_game(f'[Dialect "1997"]\n{THREE_AND_TWO}33=4')) == ["g7f7"]
    for form, uci_move in (("wxf2018", "g6f6"), ("wxf1997", "g7f7")):
        text = write(the_game(f"{THREE_AND_TWO}33=4", form=form), form)
        assert (uci(the_game(text)), the_notes(text)) == ([uci_move], [])


def test_repair_lists_both_dialects_where_none_is_named() -> None:
    both = read(f"{THREE_AND_TWO}33=4", repair=True).candidates
    assert [uci(candidate.record) for candidate in both] == [["g6f6"], ["g7f7"]]
    assert "1997" in both[1].notes[-1].message


def test_a_game_that_only_the_other_dialect_can_read_says_so() -> None:
    text = f"{THREE_AND_TWO}1. 33.4 K6+1 2. 3-+1"  # in 2018 the third pawn has left, and the second cannot go ahead
    (fault,) = the_faults(text)
    assert fault.code == "cannot-go"
    assert "In the dialect of 1997 the whole game can be read" in fault.message
    assert uci(the_game(text, dialect="1997")) == ["g7f7", "f10f9", "g6g7"]


def test_coordinates_that_are_legal_from_0_and_from_1_are_ambiguous() -> None:
    fen = '[FEN "3k5/9/9/9/9/4R4/4R4/9/9/4K4 w - - 0 1"]\n'
    (fault,) = the_faults(f"{fen}e4f4")
    assert fault.code == "ambiguous-ranks"
    assert uci(the_game(f"{fen}e4f4", form="uci")) == ["e4f4"]
    assert uci(the_game(f"{fen}e4f4", form="ucci")) == ["e5f5"]
    assert [uci(candidate.record) for candidate in read(f"{fen}e4f4", repair=True).candidates] == [
        ["e5f5"],
        ["e4f4"],
    ]


@pytest.mark.parametrize("option", ["form", "dialect", "letters"])
def test_unknown_options_are_refused(option: str) -> None:
    with pytest.raises(UnknownOption):
        read(OPENING, **{option: "klingon"})
    if option != "dialect":
        with pytest.raises(UnknownOption):
            write(the_game(OPENING), "klingon" if option == "form" else "cn_simp", Options(letters="klingon"))


# ------------------------------------------------------------------------------------------------------------- repair


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        pytest.param("1. C2=5 H8+7 2. H2=3 R9=8", "H2+3", id="a sign changed"),
        pytest.param("1. C2=5 H8+7 2. H2+ R9=8", "H2+3", id="a sign lost"),
        pytest.param("1. C2=5 H8+7 2. H22+3 R9=8", "H2+3", id="a sign too many"),
        pytest.param("1. 炮二平五 马8进7 2. 马二平三 车9平8", "马二进三", id="Chinese"),
    ],
)
def test_repair_lists_what_differs_by_one_sign(text: str, read_as: str) -> None:
    found = read(text, repair=True).candidates
    edits = [candidate.edits for candidate in found]
    assert all(len(edit) == 1 and edit[0].line == 1 and edit[0].code == "misprint" for edit in edits)
    assert read_as in {edit[0].read_as for edit in edits}
    position = START.after(found[0].record.moves[0]).after(found[0].record.moves[1])
    assert all(position.is_legal(candidate.record.moves[2]) for candidate in found)
    assert len({candidate.record.moves for candidate in found}) == len(found)


def test_repair_of_a_right_text_is_that_text() -> None:
    (only,) = read(OPENING, repair=True).candidates
    assert (only.record, only.edits) == (the_game(OPENING), ())


def test_of_very_many_whole_games_twenty_are_listed_and_that_there_are_more_is_said() -> None:
    found = read(
        f"{OPENING} 4. X2+1 X8+1 5. X3+1 X7+1 6. X5+1 X3+1 7. X1+1 X1+1 8. X9+1 X9+1", repair=True
    ).candidates
    assert len(found) == 20
    assert {candidate.notes[-1].code for candidate in found} == {"search-cut"}
    assert {len(candidate.edits) for candidate in found} == {10}


@pytest.mark.parametrize(("form", "text"), [("cn", "1. C2=5"), ("wxf", "1. 炮二平五"), ("uci", "1. C2=5")])
def test_a_form_that_is_named_is_kept_to(form: str, text: str) -> None:
    assert the_faults(text, form=form, repair=True)[0].code == "unreadable-move"


def test_repair_gives_up_in_bounded_time() -> None:
    text = " ".join(f"{number}. R1+9 X9=9" for number in range(1, 500))
    begun = time.process_time()
    assert the_faults(text, repair=True)[0].code == "cannot-go"
    assert time.process_time() - begun < 20


# ---------------------------------------------------------------------------------------------- written and read again


@pytest.mark.parametrize("seed", range(30))
def test_random_games_are_read_back_in_every_form(seed: int) -> None:
    game = random_game(seed, 200)
    assert len(game.moves) > 20
    for form in FORMS:
        text = write(game, form)
        (only,) = xiangqi.read(normalised(text)).candidates
        assert (only.record, only.notes) == (game, ())
        assert write(only.record, form) == text
    for letters in SCHOOLS[1:]:
        text = write(game, "wxf1997", Options(letters=letters))
        assert the_game(text) == game


def test_a_thousand_moves_are_read_in_seconds() -> None:
    shuffle = ["H2+3 H8+7", "H3-2 H7-8"] * 500
    text = "\n".join(f"{number}. {moves}" for number, moves in enumerate(shuffle, 1))
    begun = time.process_time()
    game = the_game(text)
    assert len(game.moves) == 2_000
    assert len(steps(game)["plies"]) == 2_000
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    "piece", ["C2=5 ", "(", "{", "炮", "h2e2 ", '[A "', "1. ", "a: ", "position fen ", "\n"]
)
def test_a_long_paste_is_answered_in_seconds(piece: str) -> None:
    text = normalised(piece * (200_000 // len(piece)))
    begun = time.process_time()
    recognise(text)
    with pytest.raises(RecordError):
        xiangqi.read(text, repair=True)
    assert time.process_time() - begun < 10


def test_a_text_of_ten_million_signs_is_refused_at_once() -> None:
    text = normalised(f"{OPENING}\n" * 250_000)
    begun = time.process_time()
    with pytest.raises(RecordError) as refused:
        xiangqi.read(text, repair=True)
    assert refused.value.faults[0].code == "too-long"
    assert recognise(text) > 0.5
    assert time.process_time() - begun < 1


# --------------------------------------------------------------------------------------------------------------- fuzz

WHOLE = [PRINTED, *(write(random_game(3, 40), form) for form in FORMS)]
SIGNS = st.sampled_from(list('KAEHRCPNBGabchi0123456789+-=.炮二平五前后进退兵三{}();[]"\\ \n!*½…'))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A good text with some stretches lost, doubled or put in."""
    text = draw(st.sampled_from(WHOLE))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        put = draw(st.text(SIGNS, max_size=4) | st.just(text[start:end] * 2))
        text = text[:start] + put + text[end:]
    return text


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated() | st.text(SIGNS, max_size=80) | st.text(max_size=40))
def test_a_text_is_refused_in_its_place_or_reads_back_the_same_in_every_form(text: str) -> None:
    taken = normalised(text)
    assert 0 <= recognise(taken) <= 1
    try:
        reading = xiangqi.read(taken)
    except RecordError as refused:
        for fault in refused.faults:
            assert 1 <= fault.line <= len(taken.lines)
            assert 1 <= fault.column <= len(taken.lines[fault.line - 1]) + 1
        return
    game = reading.record
    for form in FORMS:
        written = write(game, form)
        again = xiangqi.read(normalised(written)).record
        assert again == game
        assert write(again, form) == written


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_each_candidate_of_a_repair_is_a_whole_legal_game(text: str) -> None:
    try:
        candidates = read(text, repair=True).candidates
    except RecordError:
        return
    assert len({candidate.record for candidate in candidates}) == len(candidates)
    for candidate in candidates:
        position = candidate.record.start
        for move in candidate.record.moves:
            assert position.is_legal(move)
            position = position.after(move)
        assert the_game(write(candidate.record)) == candidate.record
