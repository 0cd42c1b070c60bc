"""The strong computer players: legal in every case, and a pure function of position and roll (§12.1)."""

from __future__ import annotations

import importlib.metadata
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from app.engines.levels import LEVELS, computer_of, level_named, levels_here
from app.engines.network import installed
from app.engines.sage import EQUITY, POINTS, Sage
from engine.bot import Solver, task_for
from engine.dice import Roll
from engine.errors import BadPosition, BadRoll
from engine.plays import after, find_play, notation
from engine.position import CHECKERS, OFF, Position
from engine.turn import Seats
from engine.view import view_for
from tests.builders import DATA, A, B, a_match, a_phase, a_roll, pos

if installed() is None:
    raise RuntimeError("The strong players are tested with bgsage: pip install -r requirements/engines.txt")

ROOT = Path(__file__).parents[2]
START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"
STRONG = LEVELS[1:]


@cache
def computer(level: str) -> Solver:
    return computer_of(level)


def play(level: str, position: str, roll: str) -> str:
    """Its play, in notation."""
    task = task_for(pos(position), a_roll(roll))
    return notation(find_play(task.position, a_roll(roll), computer(level).best(task)).moves)


def some_cases(number: int, seed: int = 1) -> list[tuple[Position, Roll]]:
    """Positions from play and awkward ones, in which a play is owed."""
    lines = (DATA / "legal_plays.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    found = []
    for case in map(json.loads, random.Random(seed).sample(lines, number)):
        position = Position.from_signed(case["board"])
        if CHECKERS not in (position.mine[OFF], position.theirs[OFF]):
            found.append((position, Roll(*case["roll"])))
    return found


@pytest.mark.parametrize("level", STRONG)
@pytest.mark.parametrize(
    ("position", "roll", "wanted"),
    [
        pytest.param(START, "3-1", "8/5 6/5", id="makes the 5-point"),
        pytest.param(START, "6-1", "13/7 8/7", id="makes the bar-point"),
        pytest.param("3:2 4:2 | 1:2", "4-3", "4/off 3/off", id="bears off two where it can"),
        pytest.param("bar:2 6:13 | 1:2 2:2 3:2 4:2 5:2 6:5", "6-6", "", id="passes where it must"),
        pytest.param("1:1 | 3:15", "5-4", "1/off", id="bears off the last checker"),
    ],
)
def test_plain_choices(level: str, position: str, roll: str, wanted: str) -> None:
    assert play(level, position, roll) == wanted


@pytest.mark.parametrize(("level", "cases"), [("club", 600), ("expert", 40), ("master", 4)])
def test_every_choice_is_legal_and_whole(level: str, cases: int) -> None:
    for position, roll in some_cases(cases):
        find_play(position, roll, computer(level).best(task_for(position, roll)))  # raises if it is not


# ------------------------------------------------------------------------------------- what bgsage is not asked for


def test_bgsage_gives_the_unchanged_board_for_no_play_and_we_pass() -> None:
    import bgsage

    shut_out = pos("bar:2 6:13 | 1:2 2:2 3:2 4:2 5:2 6:5")
    assert bgsage.possible_moves(shut_out.signed(), 6, 6) == [shut_out.signed()]
    for level in STRONG:
        assert computer(level).best(task_for(shut_out, Roll(6, 6))) == ()


def test_bgsage_may_stop_after_one_die_and_we_play_both() -> None:
    import bgsage

    last_checker = pos("6:1 | 20:1 1:14")  # 6/off is one die; 6/5* 5/off plays both, and hits
    one_die, both = pos("| 20:1 1:14"), pos("| bar:1 1:14")
    assert bgsage.possible_moves(last_checker.signed(), 6, 1) == [one_die.signed(), both.signed()]
    for level in STRONG:
        hops = computer(level).best(task_for(last_checker, Roll(6, 1)))
        assert after(last_checker, hops) == both


@pytest.mark.parametrize(
    "position",
    [
        pytest.param(Position((0, 16, *(0,) * 24), (15, *(0,) * 25)), id="sixteen checkers"),
        pytest.param(Position((14, 2, -1, *(0,) * 23), (15, *(0,) * 25)), id="fewer than none"),
        pytest.param(Position((13, 2, *(0,) * 24), (13, *(0,) * 23, 2, 0)), id="both on one point"),
        pytest.param(
            replace(
                pos("bar:1 1:2 2:2 3:2 4:2 5:2 6:2 | 1:2 2:2 3:2 4:2 5:2 6:2"), mine=(0, 2, 2, 2, 2, 2, 2)
            ),
            id="no whole side",
        ),
    ],
)
def test_impossible_boards_are_refused_before_bgsage_sees_them(position: Position) -> None:
    with pytest.raises((BadPosition, ValueError)):
        computer("club").best(task_for(pos(START), Roll(3, 1))._replace(position=position))


def test_impossible_dice_are_refused() -> None:
    with pytest.raises(BadRoll):
        task_for(pos(START), Roll(7, 1))


@pytest.mark.parametrize(
    ("level", "plies", "number"), [("club", 1, 200), ("expert", 2, 40), ("master", 3, 3)]
)
def test_it_plays_as_well_as_bgsage_s_own_search(level: str, plies: int, number: int) -> None:
    """The same plays, but where two are worth the same to a hair."""
    import bgsage

    own = bgsage.BgBotAnalyzer(eval_level=f"{plies}ply", cubeful=False)
    for position, roll in some_cases(number, seed=5):
        listed = own.checker_play(position.signed(), roll.first, roll.second).moves
        played = after(position, computer(level).best(task_for(position, roll))).signed()
        [ours] = [move for move in listed if move.board == played]
        assert listed[0].equity - ours.equity < 1e-6


# ------------------------------------------------------------------------------------------------- a pure function


def test_equal_boards_and_rolls_get_equal_plays_whichever_colour_or_game() -> None:
    for level in STRONG:
        white = a_phase("2W", "4-2", x=START, y=START)
        black = a_phase("2K", "4-2", x=START, y=START)
        choices = {
            computer(level).choose(view_for(table.match, seat)) for table in (white, black) for seat in (A, B)
        }
        assert len(choices) == 1


def test_the_play_depends_on_the_board_and_the_roll_alone() -> None:
    view = view_for(a_match().play_until("3W").match, A)
    assert view.mine is not None
    elsewhere = replace(
        view,
        match="another",
        shown_at=0,
        record=(),
        seats=Seats(view.seats.B, view.seats.A),
        mine=replace(view.mine, resign=None),
    )
    assert computer("expert").choose(view) == computer("expert").choose(elsewhere)


@pytest.mark.parametrize(("level", "number"), [("club", 120), ("expert", 24), ("master", 3)])
def test_the_same_answer_in_every_order_and_thread(level: str, number: int) -> None:
    tasks = [task_for(*case) for case in some_cases(number, seed=3)]
    first = list(map(computer(level).best, tasks))
    backwards = [computer(level).best(task) for task in reversed(tasks)][::-1]
    with ThreadPoolExecutor(3) as threads:
        at_once = list(threads.map(computer_of(level).best, tasks))
    assert first == backwards == at_once


def test_the_same_answer_in_another_process() -> None:
    program = (
        "from app.engines.levels import computer_of\n"
        "from engine.bot import task_for\n"
        "from tests.app.test_sage import some_cases\n"
        "print([tuple(map(tuple, computer_of('expert').best(task_for(*case)))) for case in some_cases(12, seed=4)])"
    )
    other = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [tuple(map(tuple, computer("expert").best(task_for(*case)))) for case in some_cases(12, seed=4)]
    assert other.stdout.strip() == str(here)


def test_it_thinks_in_one_thread() -> None:
    program = (
        "import os\n"
        "from app.engines.levels import computer_of\n"
        "from engine.bot import task_for\n"
        "from tests.app.test_sage import some_cases\n"
        "from tests.support.processes import threads_of\n"
        "threads = lambda: threads_of(os.getpid())\n"
        "player, before = computer_of('master'), threads()\n"
        "[player.best(task_for(*case)) for case in some_cases(2)]\n"
        "print(threads() - before)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "0"


# ------------------------------------------------------------------------------------------ names, scales, absence


def test_name_and_version_say_engine_level_and_exact_release() -> None:
    levels = levels_here()
    assert tuple(level.key for level in levels) == LEVELS
    for level in levels:
        known = computer(level.key)
        assert (known.name, known.version) == (level.name, level.version)
        assert level_named(level.name) == level.key
    release = importlib.metadata.version("bgsage")
    assert [level.version for level in levels[1:]] == [
        f"bgsage {release}, {plies}ply, cubeless equity, 1" for plies in (1, 2, 3)
    ]
    assert level_named("Anna") is None


def test_equity_is_the_usual_one_and_points_weigh_classes_as_matches_do() -> None:
    chances = (0.6, 0.2, 0.05, 0.1, 0.02)
    assert EQUITY.score(chances) == pytest.approx(2 * 0.6 - 1 + 0.2 - 0.1 + 0.05 - 0.02)
    assert 14.5 * POINTS.score((1, 0, 0, 0, 0)) == pytest.approx(14.5)
    assert 14.5 * POINTS.score((1, 1, 0, 0, 0)) == pytest.approx(56)
    assert 14.5 * POINTS.score((0, 0, 0, 1, 1)) == pytest.approx(-88)
    assert Sage("other", 1, scale=POINTS).version != Sage("other", 1).version


@pytest.mark.parametrize("missing", ["bgsage", "bgbot_cpp"])
def test_without_bgsage_there_is_the_built_in_player_alone(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert [level.key for level in levels_here()] == ["beginner"]
    assert level_named("bgsage master") == "master", "a match may have been begun elsewhere"
