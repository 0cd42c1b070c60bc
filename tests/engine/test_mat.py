"""Backgammon's .mat: the pair as two games, judged by the programs that read it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from gvformat.mat import mat_to_data, parse_mat_file
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.gnubg import OURS as JUDGED
from bench.gnubg import our_file
from engine.plays import Hop, after
from engine.position import CHECKERS, OFF, Position
from engine.records import mat, objective
from engine.records.half import Half
from engine.records.mat import Mat, MatGame, Turn, mat_of, objective_of
from engine.records.objective.record import Record, record_of
from engine.records.objective.replay import Mismatch
from engine.records.text import NotInForm, RecordError, normalised, read_bytes
from engine.ruleset import Ruleset
from engine.turn import Seats
from engine.variant import SHORT
from tests.builders import DATA, A, B, a_roll, rules
from tests.support.recorded import ENDS, match_over

EXAMPLE = (DATA / "records" / "mat_example.mat").read_text(encoding="utf-8")
SAMPLE = (DATA / "records" / "objective_full_int.txt").read_text(encoding="utf-8")
GNUBG = DATA / "gnubg"
OURS = ["finished-1", "finished-2", "finished-3", "last-move-4", "resigned-5", "void-6"]


def examples(number: int) -> settings:
    """Not by the hour: a slow machine proves the same."""
    return settings(max_examples=number, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def stored(name: str) -> str:
    return (GNUBG / name).read_text(encoding="utf-8")


def read(text: str) -> Mat:
    return mat.read(normalised(text)).record


def faults(text: str) -> list[tuple[int, int, str, str]]:
    with pytest.raises(RecordError) as refused:
        mat.read(normalised(text))
    return [(fault.line, fault.column, fault.code, fault.text) for fault in refused.value.faults]


def record(seed: int, end: str = "finished", ruleset: Ruleset | None = None) -> Record:
    return record_of(match_over(seed, ruleset or rules(), end=end), Seats("Анна", "Boris"))


def positions(game: MatGame) -> list[Position]:
    """After every turn, as the left player sees it."""
    found = [SHORT.opening()]
    for turn in game.turns:
        position = found[-1]
        if turn.half is not None:
            before = position if turn.seat is A else position.turned()
            reached = after(before, turn.half.hops)
            position = reached if turn.seat is A else reached.turned()
        found.append(position)
    return found[1:]


# --------------------------------------------------------------------------------------------------------- writing


def test_the_example_is_written_from_the_record_to_the_letter_and_read_back() -> None:
    written = mat_of(objective.read(normalised(SAMPLE)).record)
    assert mat.write(written) == EXAMPLE
    reading = mat.read(normalised(EXAMPLE))
    assert (reading.record, reading.candidates[0].notes) == (written, ())


@examples(40)
@given(st.integers(0, 400), st.sampled_from(ENDS))
def test_both_games_of_any_match_are_there_turn_by_turn(seed: int, end: str) -> None:
    match = match_over(seed, end=end)
    file = mat_of(record_of(match, Seats("Анна", "Boris")))
    assert read(mat.write(file)) == file
    for game, in_file, white in zip(("X", "Y"), file.games, (A, B), strict=True):
        true = [getattr(phase.games, game) for phase in match.history]
        theirs = [position if white is A else position.turned() for position in positions(in_file)]
        assert theirs == true[: len(theirs)]
        assert [turn.seat for turn in in_file.turns[:2]] == [white, white.other][: len(in_file.turns)]
        missing = len(true) - len(theirs)
        is_white_off = bool(true) and true[-1].mine[OFF] == CHECKERS
        is_missed = bool(true) and match.history[-1].plays[white.other].kind == "missed"
        assert missing == (1 if is_white_off or is_missed else 0), "Black's last move alone is not there"
    assert file.games[1].score == (
        Seats(0, 0).with_(file.games[0].winner, file.games[0].points) if file.games[0].winner else Seats(0, 0)
    )


@examples(40)
@given(st.integers(0, 400), st.sampled_from(ENDS))
def test_only_a_finished_game_has_a_row_that_says_who_won(seed: int, end: str) -> None:
    match = match_over(seed, end=end)
    assert match.score is not None
    file = mat_of(record_of(match, Seats("Anna", "Boris")))
    for game, found in zip((match.score.games.X, match.score.games.Y), file.games, strict=True):
        won = game.winner if game.outcome in ("W", "K") else None
        assert found.winner is won
        assert found.points == ({"oin": 1, "mars": 2, "koks": 3}[game.loss_class or ""] if won else 0)
    rows = [line for line in mat.write(file).splitlines() if "Wins" in line]
    assert len(rows) == sum(game.winner is not None for game in file.games)
    for row, game in zip(rows, [game for game in file.games if game.winner], strict=True):
        assert row.index("Wins") == (6 if game.winner is A else 37)


def test_the_same_player_stands_in_the_left_column_of_both_games() -> None:
    lines = mat.write(mat_of(record(1))).splitlines()
    heads = [line for line in lines if "Анна" in line]
    assert [head.index("Boris") for head in heads] == [32, 32]
    x, y = (
        next(line for line in lines[at:] if line.startswith("  1)")) for at in (0, lines.index(" Game 2"))
    )
    assert x[5:8].rstrip(":").isdecimal()
    assert y[5:36].strip() == ""
    assert y[36:38].isdecimal()


def test_a_zip_has_a_file_for_each_game() -> None:
    both = mat_of(record(1))
    one, two = mat.split(both)
    for file, game in ((one, both.games[0]), (two, both.games[1])):
        again = read(mat.write(file))
        assert (again.games[0].turns, again.games[0].score) == (game.turns, Seats(0, 0))
        assert mat.write(file).count(" Game ") == 1


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Anna: the great", "Anna. the great"),
        ("two   spaces", "two spaces"),
        ("; comment", "comment"),
        ("line\nbreak", "line break"),
        ("\u200b", "Player 1"),
        ("", "Player 1"),
    ],
)
def test_a_name_cannot_break_the_columns(name: str, plain: str) -> None:
    file = mat_of(replace(record(1), tags=(("Player1", name), ("Player2", "B"))))
    assert (plain, "B") == (file.names.A, file.names.B)
    assert read(mat.write(file)).names == file.names


def test_a_turn_too_long_for_its_column_keeps_three_spaces() -> None:
    hops = tuple(Hop(start, start - 4) for start in (24, 23, 22, 21))
    wide = Turn(A, roll=a_roll("4-4"), half=Half("play", hops, (4,) * 4, frozenset({20, 19, 18, 17})))
    text = mat.write(Mat((), 0, Seats("A", "B"), (MatGame(Seats(0, 0), (wide, replace(wide, seat=B))),)))
    (row,) = (line for line in text.splitlines() if line.startswith("  1)"))
    assert row == "  1) 44: 24/20* 23/19* 22/18* 21/17*   44: 24/20* 23/19* 22/18* 21/17*"


def test_a_record_that_contradicts_itself_is_never_written() -> None:
    line = record(1).lines[3]
    broken = replace(record(1), lines=(*record(1).lines[:3], line, line, *record(1).lines[5:]))
    with pytest.raises(Mismatch):
        mat_of(broken)


def test_dice_that_are_not_known_cannot_be_written() -> None:
    whole = record(1)
    bare = replace(whole, lines=tuple(replace(line, roll=None) for line in whole.lines), tags=(), result=None)
    known = objective.read(normalised(objective.write(bare, "short"))).record
    if any(line.roll is None for line in known.lines):
        with pytest.raises(NotInForm):
            mat_of(known)
    else:
        assert mat_of(known).games == mat_of(whole).games


# ---------------------------------------------------------------------------------------------- what other programs say


@pytest.mark.parametrize("name", OURS)
def test_gnu_backgammon_imports_our_file_without_a_word_and_sees_the_same_moves(name: str) -> None:
    ours, theirs = read(stored(f"{name}.mat")), read(stored(f"{name}.back.mat"))
    assert json.loads(stored("complaints.json"))["complaints"][name] == []
    assert len(theirs.games) == 2
    for game, back in zip(ours.games, theirs.games, strict=True):
        assert [(turn.seat, turn.roll) for turn in back.turns] == [
            (turn.seat, turn.roll) for turn in game.turns
        ]
        assert positions(back) == positions(game)


def test_gnu_backgammon_does_complain_of_a_move_that_cannot_be_made() -> None:
    assert len(json.loads(stored("complaints.json"))["complaints"]["broken"]) > 1
    assert faults(stored("broken.mat"))[0][2] == "illegal-play"


def test_what_gnu_backgammon_has_judged_is_what_we_write_today() -> None:

    assert [name for name, *_ in JUDGED] == OURS
    for name, seed, end, names in JUDGED:
        assert our_file(seed, end, names) == stored(f"{name}.mat")


@pytest.mark.parametrize("name", ["match-5", "money"])
def test_games_that_gnu_backgammon_played_are_read_and_written_back_the_same(name: str) -> None:
    text = stored(f"gnubg-{name}.mat")
    reading = mat.read(read_bytes(text.encode()))
    assert reading.candidates[0].notes == ()
    file = reading.record
    assert len(file.games) >= 3
    assert (file.length, file.names) == (5 if name == "match-5" else 0, Seats("Alice", "Bob"))
    assert all(game.winner is not None for game in file.games[:-1])
    actions = {turn.action for game in file.games for turn in game.turns}
    assert actions >= {"plays", "doubles"}
    assert read(mat.write(file)) == file
    for game, following in zip(file.games, file.games[1:], strict=False):
        assert game.winner is not None
        assert following.score == game.score.with_(game.winner, game.score[game.winner] + game.points)


@pytest.mark.parametrize("name", [*OURS[:1], *OURS[2:]])
def test_gammonview_reads_our_file_to_the_same_positions(name: str) -> None:
    text = stored(f"{name}.mat")
    theirs = mat_to_data(parse_mat_file(text))
    for game, found in zip(read(text).games, theirs["games"], strict=True):
        moves = [move for move in found["moves"] if move["kind"] == "checker"]
        assert [sorted(move["dice"]) for move in moves] == [
            sorted((turn.roll.first, turn.roll.second)) for turn in game.turns if turn.roll
        ]
        assert [move["board_after"] for move in moves] == [position.signed() for position in positions(game)]


# --------------------------------------------------------------------------------------------------------- reading


def test_two_games_on_the_same_dice_are_an_objective_match_again() -> None:
    """Where both games were broken off: nothing is missing, for no side had finished."""
    true = record(5, "resigned")
    found = objective_of(read(mat.write(mat_of(true))))
    whole = [line for line in true.lines if "missed" not in (line.halves.A.kind, line.halves.B.kind)]
    assert [(line.roll, line.halves.A.play, line.halves.B.play) for line in found.lines] == [
        (line.roll, line.halves.A.play, line.halves.B.play) for line in whole
    ]
    assert (found.tag("Player1"), found.result) == ("Анна", None)


def test_blacks_last_move_is_in_no_file_and_is_not_made_up() -> None:
    with pytest.raises(NotInForm) as refused:
        objective_of(read(EXAMPLE))
    assert refused.value.params["missing"] == "last-move"
    with pytest.raises(NotInForm) as refused:
        objective_of(read(stored("gnubg-match-5.mat")))
    assert refused.value.params["missing"] == "pair"


OTHERWISE = [
    pytest.param("25/24 24/20", "bar/24 24/20", id="the bar by its word"),
    pytest.param("4/0 2/0", "4/off 2/off", id="off by its word"),
    pytest.param("6/2 6/2 6/2", "6/2(3)", id="a number of checkers"),
    pytest.param("13/10 10/8", "13/8", id="both dice in one move"),
    pytest.param("13/10 10/8", "13/10/8", id="several points"),
    pytest.param("24/22 18/16 16/14 4/2", "4/2 18/16 24/22 16/14", id="another order"),
    pytest.param("24/18* 6/4 ", "24/18 6/4  ", id="no star"),
    pytest.param(" 0 point match", '; [Site "here"]\n\n 0 point match', id="comments"),
    pytest.param("\n", "\r\n", id="CRLF"),
    pytest.param("      Wins 1 point", "      Wins 1 point and the match", id="a longer last row"),
    pytest.param("  1) 32: 13/10 10/8                 43:", "  1) 23: 13/10 10/8   43:", id="other columns"),
]


@pytest.mark.parametrize(("usual", "written"), OTHERWISE)
def test_what_other_programs_write_otherwise_is_read_as_the_same_games(usual: str, written: str) -> None:
    changed = EXAMPLE.replace(usual, written)
    assert changed != EXAMPLE
    there, here = read(changed), read(EXAMPLE)
    assert [positions(game) for game in there.games] == [positions(game) for game in here.games]


FAULTS = [
    pytest.param(" 0 point match\n", "", (1, 1, "no-length", ""), id="no length"),
    pytest.param(" Game 2", " Game 3", (37, 7, "game-number", "3"), id="a game left out"),
    pytest.param(
        " Anna : 0                       Boris : 0",
        " Anna   Boris",
        (4, 2, "names", "Anna   Boris"),
        id="no score",
    ),
    pytest.param(
        " Anna : 1 ",
        " Boris : 1 ",
        (38, 2, "names", "Boris : 1                       Boris : 0"),
        id="columns",
    ),
    pytest.param("  3) 53:", "  4) 53:", (7, 3, "row-number", "4"), id="a row left out"),
    pytest.param("  3) 53:", "  3) 57:", (7, 6, "row", "57: 8/3 6/3"), id="a seven"),
    pytest.param("53: 8/3 6/3", "53: 8/3 7/4", (7, 6, "illegal-play", "53: 8/3 7/4"), id="an illegal play"),
    pytest.param("53: 8/3 6/3", "53: 8/3 6/x", (7, 14, "move", "6/x"), id="no move"),
    pytest.param("53: 8/3 6/3", "53: 8/0/3 6/3", (7, 10, "move", "8/0/3"), id="over the edge"),
    pytest.param("53: 8/3 6/3", "53: 8/3* 6/3", (7, 6, "no-hit", "53: 8/3* 6/3"), id="hits nobody"),
    pytest.param("53: 8/3 6/3 ", "            ", (7, 37, "turn-order", "61: 13/7 8/7"), id="a turn left out"),
    pytest.param("53: 8/3 6/3", "Takes      ", (7, 6, "turn-order", "Takes"), id="takes nothing"),
    pytest.param("53: 8/3 6/3", "Doubles    ", (7, 6, "cube", "Doubles"), id="doubles to nothing"),
    pytest.param(
        "      Wins 1 point", " " * 37 + "Wins 1 point", (34, 38, "wins", "Wins 1 point"), id="the loser wins"
    ),
    pytest.param(
        "      Wins 1 point", "      Anna wins", (34, 7, "unknown-line", "Anna wins"), id="no such row"
    ),
    pytest.param("      Wins 1 point", " 30) 21: 3/1", (34, 6, "turn-order", "21: 3/1"), id="after the end"),
]


@pytest.mark.parametrize(("usual", "written", "fault"), FAULTS)
def test_a_fault_is_told_with_its_place(usual: str, written: str, fault: tuple[int, int, str, str]) -> None:
    changed = EXAMPLE.replace(usual, written, 1)
    assert changed != EXAMPLE
    assert faults(changed)[0] == fault


def test_after_a_fault_the_next_game_is_read_again() -> None:
    changed = EXAMPLE.replace("53: 8/3 6/3", "53: 8/3 7/4", 1).replace("61: 13/7 6/5", "61: 13/7 6/4", 1)
    assert [fault[:3] for fault in faults(changed)] == [(7, 6, "illegal-play"), (42, 6, "illegal-play")]


def test_it_is_recognised_and_nothing_else_is() -> None:
    assert mat.recognise(normalised(EXAMPLE)) == 1
    assert mat.recognise(normalised(stored("gnubg-money.mat"))) == 1
    assert mat.recognise(normalised(EXAMPLE.split("\n", 2)[2])) > 0.8
    for other in (SAMPLE, "1) L51 L53\n", "炮二平五 马8进7\n", "", "C2=5 H8+7\n"):
        assert mat.recognise(normalised(other)) < 0.3
    assert objective.recognise(normalised(EXAMPLE)) < 0.3


def test_the_steps_show_the_board_after_every_turn() -> None:
    file = read(EXAMPLE)
    told = json.loads(json.dumps(mat.steps(file)))
    for game, steps in zip(file.games, told["games"], strict=True):
        boards = [(step["board"]["left"], step["board"]["right"]) for step in steps["steps"]]
        assert boards == [(list(position.mine), list(position.theirs)) for position in positions(game)]


# ---------------------------------------------------------------------------------------------------------- repair


def edits(text: str) -> list[list[tuple[int, int, str, str]]]:
    reading = mat.read(normalised(text), repair=True)
    return [[(e.line, e.column, e.text, e.read_as) for e in one.edits] for one in reading.candidates]


@pytest.mark.parametrize(
    ("usual", "written", "edit"),
    [
        pytest.param("53: 8/3 6/3", "53: 8/3 7/4", (7, 6, "53: 8/3 7/4", "53: 8/3 6/3"), id="a point"),
        pytest.param("53: 8/3 6/3", "54: 8/3 6/3", (7, 6, "54: 8/3 6/3", "53: 8/3 6/3"), id="a die"),
        pytest.param("53: 8/3 6/3", "53: 8/3 6/x", (7, 6, "53: 8/3 6/x", "53: 8/3 6/3"), id="unreadable"),
        pytest.param(
            "52: 8/3 8/6", "52: 8/3 6/4", (13, 6, "52: 8/3 6/4", "52: 8/3 8/6"), id="shows only later"
        ),
    ],
)
def test_a_misprint_is_found_again(usual: str, written: str, edit: tuple[int, int, str, str]) -> None:
    changed = EXAMPLE.replace(usual, written, 1)
    assert changed != EXAMPLE
    found = mat.read(normalised(changed), repair=True)
    assert [edit] in edits(changed)
    right = found.candidates[edits(changed).index([edit])].record
    assert right == read(EXAMPLE)


def test_what_is_right_has_no_repair_and_what_is_far_from_right_neither() -> None:
    assert edits(EXAMPLE) == [[]]
    with pytest.raises(RecordError):
        mat.read(normalised(stored("broken.mat")), repair=True)


# ------------------------------------------------------------------------------------------------------------ fuzz


def survives(text: str) -> None:
    """Either it is refused with located faults, or what was read is written and read the same."""
    try:
        file, wrong = read(text), ()
    except RecordError as refused:
        file, wrong = None, refused.faults
    if file is None:
        assert wrong
        assert all(fault.line >= 1 and fault.column >= 1 for fault in wrong)
        return
    written = mat.write(file)
    assert read(written) == file
    assert mat.write(read(written)) == written


PIECES = st.sampled_from(
    [
        " 0 point match\n",
        " Game 1\n",
        " A : 0   B : 0\n",
        "  1) 31: 8/5 6/5",
        "   42: 8/4 6/4\n",
        "Doubles => 2",
        " Takes\n",
        "Drops",
        "Wins 2 points\n",
        ";",
        "(2)",
        "*",
        "/",
        "\n",
        " ",
        "9",
        ")",
        ":",
        "25/",
        "bar",
        "\r",
        "é",
        "   ",
    ]
)


@examples(200)
@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=200))
def test_random_text_never_crashes_the_reader(text: str) -> None:
    survives(normalised(text).text)


@examples(150)
@given(
    st.sampled_from([EXAMPLE, stored("gnubg-match-5.mat"), stored("finished-2.mat")]),
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 4), PIECES), min_size=1, max_size=3),
)
def test_a_mutated_file_is_refused_or_reads_back_the_same(
    text: str, changes: list[tuple[int, int, str]]
) -> None:
    for place, length, piece in changes:
        place %= len(text)
        text = text[:place] + piece + text[place + length :]
    survives(normalised(text).text)


def test_files_of_one_game_each_are_joined_again() -> None:
    whole = mat.read(normalised((DATA / "records" / "mat_example.mat").read_text("utf-8"))).record
    assert mat.joined(mat.split(whole)) == whole
    with pytest.raises(ValueError, match="different matches"):
        mat.joined((whole, replace(whole, names=Seats("Anna", "Vera"))))


def test_a_game_that_was_broken_off_may_share_its_last_row_with_the_next() -> None:
    """GNU Backgammon 1.07 exports such a match so."""
    text = (
        " 0 point match\n\n Game 1\n Anna : 0          Boris : 0\n"
        "  1) 41: 24/23 24/20             52: 24/22 13/8 \n"
        "  2) 21: 23/21 8/7                Game 2\n Anna : 0          Boris : 0\n"
        "  1)                             41: 24/23 24/20 \n"
    )
    reading = mat.read(normalised(text))
    assert [len(game.turns) for game in reading.record.games] == [3, 1]
    (note,) = reading.candidates[0].notes
    assert (note.line, note.column, note.code, note.text) == (6, 35, "game-in-row", "Game 2")
    wrong = text.replace("Game 2", "Game 3")
    with pytest.raises(RecordError) as refused:
        mat.read(normalised(wrong))
    fault = refused.value.faults[0]
    assert (fault.line, fault.column, fault.code, fault.expected) == (6, 40, "game-number", "2")
