"""Positions a second: every legal play of a roll, beside three other programs, in the same run.

    python -m bench.plays [legal_plays.jsonl]

Two lots of positions: awkward ones (bar, doubles, bearing off), and the first turns of games that open-spiel played at
random, for it can be set to no other position, and copies a game's whole history with every state. All must agree on
where the plays end before anything is timed. CPU time; in every round each program takes its turn; medians. For
open-spiel its list of actions alone is timed too: C++ numbers without positions, of a double only the first half.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspiel
from gvformat import legality

from engine.dice import Roll
from engine.plays import after, legal_plays, results, step_graph
from engine.position import BAR, CHECKERS, OFF, Position, Side

CASES = Path(__file__).parents[1] / "tests" / "data" / "legal_plays.jsonl"
ROUNDS, GAMES, SEED = 7, 120, 2019
HISTORY = 60  # dice and plays of open-spiel's games, at most

Boards = set[tuple[Side, Side]]


# ------------------------------------------------------------------------------------------------ the textbook way


def textbook(mine: Side, theirs: Side, high: int, low: int) -> Boards:
    """The positions after all legal plays: recursion over copied lists, both orders of the dice, a set of tuples."""
    if high == low:
        found = _textbook_walk(mine, theirs, (high,) * 4)
        return found[max(found)]
    first, second = _textbook_walk(mine, theirs, (high, low)), _textbook_walk(mine, theirs, (low, high))
    if 2 in first or 2 in second:
        return first.get(2, set()) | second.get(2, set())
    return first.get(1) or second.get(1) or first[0]


def _textbook_walk(mine: Side, theirs: Side, dice: tuple[int, ...]) -> dict[int, Boards]:
    """Positions by how many of the dice, in this order, have been played when nothing more can be."""
    found: dict[int, Boards] = {}
    double = len(dice) == 4  # then from high points to low: no order has to be tried twice

    def go(mine: list[int], theirs: list[int], used: int, highest: int) -> None:
        moved = False
        if used < len(dice):
            die, home = dice[used], not any(mine[7:])
            for start in (BAR,) if mine[BAR] else range(highest, 0, -1):
                if not mine[start]:
                    continue
                end = max(start - die, OFF)
                if end == OFF:
                    if not home or (start < die and any(mine[start + 1 : 7])):
                        continue
                elif theirs[BAR - end] > 1:
                    continue
                moved = True
                mine_then, theirs_then = mine[:], theirs[:]
                mine_then[start] -= 1
                mine_then[end] += 1
                if end and theirs[BAR - end]:
                    theirs_then[BAR - end] = 0
                    theirs_then[BAR] += 1
                go(mine_then, theirs_then, used + 1, start if double else BAR)
        if not moved:
            found.setdefault(used, set()).add((tuple(mine), tuple(theirs)))

    go(list(mine), list(theirs), 0, BAR)
    return found


# ------------------------------------------------------------------------------------------------------- open-spiel


def spiel_children(state: Any, *, double: bool) -> list[Any]:
    """The states after every legal play; it plays a double as two turns of two moves."""
    children = [state.child(action) for action in state.legal_actions()]
    if not double:
        return children
    player, ends = state.current_player(), []
    for child in children:
        if child.current_player() == player and not child.is_terminal():
            ends += [child.child(action) for action in child.legal_actions()]
        else:
            ends.append(child)
    return ends


def spiel_roll(state: Any) -> tuple[int, int]:
    dice = str(state).split("Dice: ")[1].split("\n")[0]
    return int(dice[0]), int(dice[1])


def spiel_position(state: Any, player: int) -> Position:
    """Its board as `player` sees it: player 0 goes up its 24 points, player 1 down; 100 is the bar."""

    def side(who: int) -> Side:
        counts = [0] * 26
        for index in range(24):
            counts[24 - index if who == 0 else index + 1] = state.board(who, index)
        counts[BAR] = state.board(who, 100)
        counts[OFF] = CHECKERS - sum(counts)
        return tuple(counts)

    return Position(side(player), side(1 - player))


def spiel_games(games: int) -> Iterable[Any]:
    """States with a roll to be played, from random games."""
    chance = random.Random(SEED)
    game = pyspiel.load_game("backgammon")
    for _ in range(games):
        state = game.new_initial_state()
        half_played = False
        while not state.is_terminal() and len(state.history()) < HISTORY:
            if state.is_chance_node():
                state.apply_action(chance.choice([action for action, _ in state.chance_outcomes()]))
                half_played = False
                continue
            if not half_played:
                yield state.clone()
            half_played = True
            state.apply_action(chance.choice(state.legal_actions()))


# ------------------------------------------------------------------------------------------------------- the bench


@dataclass(frozen=True)
class Case:
    """One position with its roll, in the form that each program takes; made beforehand, so nobody pays for it."""

    position: Position
    roll: Roll
    gammonview: tuple[list[int], list[int], int, int]
    spiel: Any


def case(position: Position, roll: Roll, spiel: Any = None) -> Case:
    theirs = [0, *reversed(position.theirs[1:BAR]), 0]  # gammonview numbers both sides as the mover does
    return Case(position, roll, (list(position.mine), theirs, roll.first, roll.second), spiel)


PROGRAMS: dict[str, Callable[[Case], object]] = {
    "nardy: plays": lambda c: legal_plays(c.position, c.roll),
    "nardy: resulting positions": lambda c: results(c.position, c.roll),
    "nardy: plays, and after() of each": lambda c: [
        after(c.position, play.moves) for play in legal_plays(c.position, c.roll)
    ],
    "nardy: step graph": lambda c: step_graph.__wrapped__(c.position, c.roll),  # not the remembered one
    "textbook: resulting positions": lambda c: textbook(
        c.position.mine, c.position.theirs, c.roll.high, c.roll.low
    ),
    "gammonview: plays": lambda c: legality.legal_plays(*c.gammonview),
    "open-spiel: actions alone": lambda c: c.spiel.legal_actions(),
    "open-spiel: resulting states": lambda c: spiel_children(c.spiel, double=c.roll.is_double),
}


def disagreement(c: Case) -> str | None:
    """What anybody answers differently, if so."""
    ours = {(p.mine, p.theirs) for p in results(c.position, c.roll)}
    plays = legal_plays(c.position, c.roll)
    answers: dict[str, object] = {
        "after()": {(p.mine, p.theirs) for p in (after(c.position, play.moves) for play in plays)},
        "textbook": textbook(c.position.mine, c.position.theirs, c.roll.high, c.roll.low),
        "gammonview": set(map(tuple, _gammonview_ends(c))),
    }
    if c.spiel:
        player = c.spiel.current_player()
        ends = [spiel_position(state, player) for state in spiel_children(c.spiel, double=c.roll.is_double)]
        answers["open-spiel"] = {(p.mine, p.theirs) for p in ends}
    expected: dict[str, object] = {"gammonview": {mine for mine, _ in ours}}
    differing = [name for name, answer in answers.items() if answer != expected.get(name, ours)]
    return f"{', '.join(differing)} on {c.position}, {c.roll}" if differing else None


def _gammonview_ends(c: Case) -> Iterable[list[int]]:
    """The mover's checkers after each of its plays, which are pairs of points without hits."""
    plays, _ = legality.legal_plays(*c.gammonview)
    for play in plays or [()]:
        mine = list(c.position.mine)
        for start, end in play:
            mine[start] -= 1
            mine[end] += 1
        yield mine


def measured(cases: Sequence[Case], names: Sequence[str]) -> dict[str, float]:
    """Positions a second of CPU time, the median over the rounds."""
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(ROUNDS):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            program = PROGRAMS[name]
            start = time.process_time()
            for c in cases:
                program(c)
            seconds[name].append(time.process_time() - start)
    return {name: len(cases) / statistics.median(taken) for name, taken in seconds.items()}


def read(path: Path) -> list[Case]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [line for line in map(json.loads, lines) if "board" in line]
    return [case(Position.from_signed(line["board"]), Roll(*line["roll"])) for line in found]


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.plays", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("cases", nargs="?", type=Path, default=CASES, help="lines of board and roll")
    awkward = read(parser.parse_args().cases)
    played = []
    for state in spiel_games(GAMES):
        position = spiel_position(state, state.current_player())
        played.append(case(position, Roll(*spiel_roll(state)), state))
    wrong = [found for found in map(disagreement, awkward + played) if found]
    print(
        f"{len(awkward) + len(played)} positions, {len(wrong)} on which anybody disagrees",
        *wrong[:5],
        sep="\n",
    )
    ahead = True
    for title, cases in (("awkward positions", awkward), ("first turns of random games", played)):
        names = [name for name in PROGRAMS if cases[0].spiel or not name.startswith("open-spiel")]
        speeds = measured(cases, names)
        ours = speeds["nardy: resulting positions"]
        print(f"\n{title} ({len(cases)})\n{'':36}{'positions/s':>12}{'ours, with results, is':>26}")
        for name, speed in speeds.items():
            times = "" if name.startswith("nardy") else f"{ours / speed:.2f} times as fast"
            print(f"{name:36}{speed:12,.0f}{times:>26}")
            ahead = ahead and (not times or "alone" in name or ours > speed)
    return 0 if ahead and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
