"""The built-in player: what it plays, and that it looks at nothing but the board and the roll (§12.1)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.bot import Heuristic, worth
from engine.dice import Roll
from engine.match import MakePlay
from engine.plays import find_play, notation, results
from engine.position import BAR, CHECKERS, OFF, Position
from engine.turn import Seat, Seats
from engine.variant import SHORT
from engine.view import view_for
from tests.builders import DATA, A, B, Table, a_match, a_phase

COMPUTER = Heuristic()
START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"


def choice(table: Table, seat: Seat = A) -> str:
    """The computer's play in the open phase, in notation."""
    found = find_play(
        table.match.position_for(seat), table.roll, COMPUTER.choose(view_for(table.match, seat))
    )
    return notation(found.moves)


@pytest.mark.parametrize(
    ("position", "roll", "play"),
    [
        pytest.param(START, "3-1", "8/5 6/5", id="makes the 5-point"),
        pytest.param(START, "4-2", "8/4 6/4", id="makes the 4-point"),
        pytest.param(START, "6-1", "13/7 8/7", id="makes the bar-point"),
        pytest.param("3:2 4:2 | 1:2", "4-3", "4/off 3/off", id="bears off two where it can"),
        pytest.param("1:1 6:1 | 2:2", "5-1", "6/1 1/off", id="and one where it can only one"),
        pytest.param("6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 20:1 24:1", "3-1", "8/5* 6/5", id="hits with a point"),
        pytest.param("bar:2 6:13 | 1:2 2:2 3:2 4:2 5:2 6:5", "6-6", "", id="passes where it must"),
    ],
)
def test_plain_choices(position: str, roll: str, play: str) -> None:
    assert choice(a_phase("2W", roll, x=position)) == play


def test_black_plays_from_his_own_side() -> None:
    white_has_played_6_5 = "6:5 8:3 13:6 24:1 | 6:5 8:3 13:5 24:2"
    assert choice(a_phase("2K", "3-1", y=white_has_played_6_5)) == "8/5 6/5"


def test_every_choice_is_legal_and_whole_in_awkward_positions() -> None:
    lines = (DATA / "legal_plays.jsonl").read_text(encoding="utf-8").splitlines()
    for case in map(json.loads, lines[1::10]):
        position, roll = Position.from_signed(case["board"]), Roll(*case["roll"])
        if CHECKERS in (position.mine[OFF], position.theirs[OFF]):
            continue  # in no match is a play owed there
        view = view_for(a_phase("2W", str(roll), x=str(position)).match, A)
        find_play(position, roll, COMPUTER.choose(view))  # raises if it is not


def test_the_play_depends_on_the_board_and_the_roll_alone() -> None:
    view = view_for(a_match().play_until("3W").match, A)
    assert view.mine is not None
    elsewhere = replace(
        view,
        match="another",
        shown_at=0,
        record=(),
        parted=None,
        seats=Seats(view.seats.B, view.seats.A),
        mine=replace(view.mine, resign=None),
    )
    assert COMPUTER.choose(view) == COMPUTER.choose(view) == COMPUTER.choose(elsewhere)


def test_two_of_it_play_equal_games_and_draw() -> None:
    table = a_match()
    while table.match.score is None:
        for seat in (A, B):
            if table.match.is_phase_open and table.match.owes(seat):
                hops = COMPUTER.choose(view_for(table.match, seat))
                table.do(MakePlay(seat, table.turn, hops, table.at(0)))
    assert table.match.games.X == table.match.games.Y
    assert table.match.parted is None
    assert table.match.score.points == Seats(0, 0)


Player = Callable[[Position, Roll], Position]


def computer(position: Position, roll: Roll) -> Position:
    """The computer's choice, without the match around it."""
    return max(results(position, roll), key=lambda end: (worth(end), end.mine, end.theirs))


def wins(against: Player, games: int) -> int:
    """How many games the computer wins of so many, the opponent beginning every other one."""
    chance, won = random.Random(6), 0
    for game in range(games):
        position, computers_turn = Position(SHORT.start, SHORT.start), game % 2 == 0
        while True:
            roll = Roll(chance.randint(1, 6), chance.randint(1, 6))
            position = (computer if computers_turn else against)(position, roll)
            if position.mine[OFF] == CHECKERS:
                won += computers_turn
                break
            position, computers_turn = position.turned(), not computers_turn
    return won


def test_it_beats_one_who_plays_anything() -> None:
    chance = random.Random(7)
    assert wins(lambda position, roll: chance.choice(results(position, roll)), games=20) >= 19


def test_it_beats_one_who_hits_and_runs() -> None:
    def greedy(position: Position, roll: Roll) -> Position:
        return max(results(position, roll), key=lambda end: (end.theirs[BAR], -end.pips(), end.mine))

    assert wins(greedy, games=20) >= 15
