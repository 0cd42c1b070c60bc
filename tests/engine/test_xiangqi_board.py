"""The xiangqi board: how pieces go, check, the ends of games; judged by pyffish."""

import random

import pyffish
import pytest

from engine.records.xiangqi.board import START, START_FEN, BadFen, Ending, Move, Position, name
from tests.builders import data

CASES = data("records/xiangqi_cases.json")


def square(text: str) -> int:
    return 9 * (int(text[1:]) - 1) + "abcdefghi".index(text[0])


def moves_from(fen: str, start: str) -> set[str]:
    """Where the piece on a square may go."""
    return {name(move.end) for move in Position.from_fen(fen).legal_moves() if move.start == square(start)}


def uci(moves: list[Move]) -> list[str]:
    return sorted(name(move.start) + name(move.end) for move in moves)


def judged(fen: str) -> list[str]:
    """The legal moves by pyffish, which also takes generals that were left in check."""
    general = Position.from_fen(fen).cells.index("k" if " w " in fen else "K")
    return sorted(
        move for move in pyffish.legal_moves("xiangqi", fen, []) if not move.endswith(name(general))
    )


def perft(position: Position, depth: int) -> int:
    moves = position.legal_moves()
    return len(moves) if depth == 1 else sum(perft(position.after(move), depth - 1) for move in moves)


def judged_perft(fen: str, moves: list[str], depth: int) -> int:
    legal = pyffish.legal_moves("xiangqi", fen, moves)
    return len(legal) if depth == 1 else sum(judged_perft(fen, [*moves, m], depth - 1) for m in legal)


@pytest.mark.parametrize(("depth", "count"), [(1, 44), (2, 1_920), (3, 79_666)])
def test_the_opening_has_the_known_numbers_of_lines(depth: int, count: int) -> None:
    assert perft(START, depth) == count


@pytest.mark.parametrize(
    "fen",
    [
        pytest.param(
            "r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w - - 0 1", id="middle game"
        ),
        pytest.param("1cbak4/9/n2a5/2p1p3p/5cp2/2n2N3/6PCP/3AB4/2C6/3A1K1N1 w - - 0 1", id="cannons"),
        pytest.param("5a3/3k5/3aR4/9/5r3/5n3/9/3A1A3/5K3/2BC2B2 w - - 0 1", id="ending"),
        pytest.param("CRN1k1b2/3ca4/4ba3/9/2nr5/9/9/4B4/4A4/4KA3 w - - 0 1", id="pins"),
        pytest.param("R1N1k1b2/9/3aba3/9/2nr5/2B6/9/4B4/4A4/4KA3 w - - 0 1", id="black in check"),
    ],
)
def test_lines_of_other_positions_are_counted_as_by_pyffish(fen: str) -> None:
    assert perft(Position.from_fen(fen), 2) == judged_perft(fen, [], 2)


def test_legal_moves_of_random_games_are_those_of_pyffish() -> None:
    chance = random.Random(2024)
    seen = 0
    for game in range(20):
        position = START
        for ply in range(120):
            moves = position.legal_moves()
            if not moves:
                break
            move = chance.choice(moves)
            after = position.after(move)
            if ply % 5 == game % 5:
                assert uci(moves) == judged(position.fen), position.fen
                assert after.fen == pyffish.get_fen("xiangqi", position.fen, uci([move]))
                assert after.in_check() == pyffish.gives_check("xiangqi", position.fen, uci([move]))
                assert Position.from_fen(position.fen) == position
                seen += 1
            position = after
        assert (judged(position.fen) == []) == (position.ending() is not None)
    assert seen > 400


def test_legal_moves_of_the_worked_positions_are_those_of_pyffish() -> None:
    fens = {case["fen"] for part in ("cases", "accept", "reject") for case in CASES[part]}
    assert len(fens) > 20
    for fen in fens:
        assert uci(Position.from_fen(fen).legal_moves()) == judged(fen), fen


def test_every_move_between_two_squares_is_legal_or_not_as_listed() -> None:
    position = Position.from_fen("r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w - - 0 1")
    legal = set(position.legal_moves())
    for start in range(90):
        for end in range(90):
            assert position.is_legal(Move(start, end)) == (Move(start, end) in legal)


@pytest.mark.parametrize(
    ("fen", "start", "ends"),
    [
        pytest.param("4k4/9/9/9/9/9/9/9/4P4/3K5 w", "e2", {"e3"}, id="a pawn at home goes ahead only"),
        pytest.param("3k5/9/9/9/4P4/9/9/9/9/4K4 w", "e6", {"d6", "e7", "f6"}, id="over the river sideways too"),
        pytest.param("4P4/9/3k5/9/9/9/9/9/9/4K4 w", "e10", {"d10", "f10"}, id="a pawn on the last rank"),
        pytest.param("3k5/9/9/9/9/4p4/9/9/9/5K3 b", "e5", {"d5", "e4", "f5"}, id="Black's go down"),
        pytest.param("3k5/9/9/9/9/9/4P4/4N4/9/4K4 w", "e3", {"c2", "c4", "d1", "f1", "g2", "g4"}, id="a horse's leg"),
        pytest.param("3k5/9/9/9/9/2B6/3P5/9/9/4K4 w", "c5", {"a3"}, id="an elephant's eye, and the river"),
        pytest.param("3k5/9/9/9/9/9/9/9/4A4/4K4 w", "e2", {"d1", "d3", "f1", "f3"}, id="an adviser in its palace"),
        pytest.param("3k5/9/9/9/9/9/9/9/9/5K3 w", "f1", {"e1", "f2"}, id="a general in its palace"),
        pytest.param("4k4/9/9/9/9/9/9/9/9/3K5 w", "d1", {"d2"}, id="generals never face each other"),
        pytest.param("4k4/9/9/9/9/4R4/9/9/9/4K4 w", "e5", {"e2", "e3", "e4", "e6", "e7", "e8", "e9"}, id="a screen"),
        pytest.param("3k5/9/9/9/4r4/9/4A4/9/9/4K4 w", "e1", {"e2", "f1"}, id="no file of the other general"),
        pytest.param(
            "3k5/9/9/9/C1p1n2r1/9/p8/9/9/4K4 w", "a6", {"a5", "a7", "a8", "a9", "a10", "b6", "e6"}, id="a cannon"
        ),
        pytest.param("3k5/9/9/9/9/9/9/4c4/4A4/4K4 w", "e2", {"d1", "d3", "f1", "f3"}, id="no screen, no check"),
    ],
)  # fmt: skip
def test_pieces_go_as_they_do(fen: str, start: str, ends: set[str]) -> None:
    assert moves_from(fen, start) == ends


@pytest.mark.parametrize(
    ("fen", "ending"),
    [
        pytest.param(START_FEN, None, id="the opening"),
        pytest.param(
            "3ak3C/2N1aR3/9/p7p/1n7/9/P3P1P1n/1c4c2/4AK3/2BA2B2 b - - 2 37", Ending.CHECKMATE, id="mate"
        ),
        pytest.param("3k5/9/3P5/9/9/9/9/9/9/4K4 b", Ending.STALEMATE, id="no move, but no check"),
        pytest.param("4k4/9/9/9/9/4r4/9/3A1A3/9/4K4 w", None, id="check that can be met"),
    ],
)
def test_a_side_without_a_legal_move_has_lost(fen: str, ending: Ending | None) -> None:
    position = Position.from_fen(fen)
    assert position.ending() is ending
    assert (position.legal_moves() == []) == (ending is not None)


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        pytest.param("", "A FEN is", id="nothing"),
        pytest.param("9/9/9/9", "ten ranks", id="four ranks"),
        pytest.param(START_FEN.replace("9/1c5c1", "8/1c5c1"), "Rank 9 has nine points", id="eight points"),
        pytest.param(START_FEN.replace("rnb", "rnx"), "Rank 10 is made of", id="no piece"),
        pytest.param(START_FEN.replace(" w", " x"), "The side to move", id="no side"),
        pytest.param(START_FEN.replace("- - 0", "KQ - 0"), "two hyphens", id="castling rights"),
        pytest.param(START_FEN.replace("0 1", "0 one"), "two counters", id="a number in words"),
        pytest.param(
            START_FEN.replace("4k4", "9").replace("RNBAKABNR", "RNBA1ABNR"), "general", id="no general"
        ),
        pytest.param("4k4/9/9/9/9/9/9/9/9/K8 w", "palace", id="a general out of its palace"),
        pytest.param("4k4/9/9/9/RRR6/9/9/9/9/3K5 w", "at most 2", id="three chariots"),
    ],
)
def test_what_is_no_position_is_refused(fen: str, words: str) -> None:
    with pytest.raises(BadFen, match=words):
        Position.from_fen(fen)


def test_a_fen_may_leave_out_counters_and_name_horses_and_elephants_in_english() -> None:
    assert Position.from_fen(START_FEN.split()[0]) == START
    english = START_FEN.replace("n", "h").replace("b", "e").replace("N", "H").replace("B", "E")
    assert Position.from_fen(english.replace(" w", " r")) == START
