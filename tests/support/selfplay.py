"""Whole matches between two functions, for those who analyse them: no seeds, clocks or commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from engine.analysis import Analysis, Conceded, Judge, Played, analysed, work
from engine.dice import Roll
from engine.match import Made, PhasePlayed, ends_after
from engine.plays import legal_plays, results
from engine.position import OFF, Position
from engine.scoring import Outcome
from engine.turn import FIRST_TURN, Games, Phase, Seat, Seats, Turn, game_of
from engine.variant import SHORT, Variant
from tests.builders import A, B, pos

Player = Callable[[Position, Sequence[Position], Random], int]


def leading(position: Position, ends: Sequence[Position], chance: Random) -> int:
    """Most off, then fewest checkers on the low points."""
    return max(range(len(ends)), key=lambda i: (ends[i].mine[OFF], -sum(ends[i].mine[1:4]), ends[i].mine))


def careless(position: Position, ends: Sequence[Position], chance: Random) -> int:
    """One time in three anything."""
    return chance.randrange(len(ends)) if chance.random() < 1 / 3 else leading(position, ends, chance)


def variant_from(text: str) -> Variant:
    """Short nardy that begins with these checkers on either side."""
    return replace(SHORT, start=pos(f"{text} | {text}").mine)


def self_play(players: Seats[Player], dice: Random, variant: Variant = SHORT, most: int = 200) -> Played:
    """A match between two functions, up to so many phases; each seat has its own chance."""
    chance = Seats(Random(dice.random()), Random(dice.random()))
    games, phases, parted = Games(variant.opening(), variant.opening()), [], None
    turn: Turn | None = FIRST_TURN
    while turn is not None and len(phases) < most:
        roll = Roll(dice.randint(1, 6), dice.randint(1, 6))
        while turn == FIRST_TURN and roll.is_double:
            roll = Roll(dice.randint(1, 6), dice.randint(1, 6))
        made = {}
        for seat in Seat:
            game = game_of(seat, turn.phase)
            before = games[game].turned() if turn.phase is Phase.K else games[game]
            ends, plays = results(before, roll), legal_plays(before, roll)
            chosen = players[seat](before, ends, chance[seat])
            moves = plays[chosen].moves
            made[seat] = Made.of("play" if moves else "pass", moves, 0)
            games = games.with_(game, ends[chosen].turned() if turn.phase is Phase.K else ends[chosen])
        phases.append(PhasePlayed(turn, roll, Seats(made[A], made[B]), games))
        parted = turn.round if parted is None and games.X != games.Y else parted
        turn = None if ends_after(turn, games) else turn.next()
    return Played(variant, False, tuple(phases), Outcome.FINISHED, None, parted)


def swapped(match: Played) -> Played:
    """The same with the players exchanged: B sits in A's seat, and so on."""
    conceded = match.conceded and Conceded(match.conceded.game.other, -match.conceded.points_for_A)
    phases = tuple(
        replace(
            phase,
            plays=Seats(phase.plays.B, phase.plays.A),
            games=Games(phase.games.Y, phase.games.X),
        )
        for phase in match.phases
    )
    return replace(match, phases=phases, conceded=conceded)


def whole(match: Played, judge: Judge) -> Analysis:
    return analysed(match, list(work(match, judge)))


MIDDLE = variant_from("13:2 8:2 6:3")  # half the checkers, in contact
