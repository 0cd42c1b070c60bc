"""Computers against each other in paired matches: `python -m bench.computer 20 expert master`.

An entrant is a level, or a level and what it maximises: `club:points` against `club:equity`. Both seats play the same
dice, as in every match. Prints settled points a match with their standard error, and what a play takes.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time

from app.engines.levels import LEVELS, computer_of
from app.engines.sage import EQUITY, POINTS, Sage
from engine.bot import Solver, task_of
from engine.match import MakePlay, Match, Tick, new_match, next_deadline, unfold
from engine.ruleset import PRESETS
from engine.turn import Seat, Seats
from engine.view import view_for

_SCALES = {"equity": EQUITY, "points": POINTS}


def entrant(text: str) -> Solver:
    level, _, scale = text.partition(":")
    return Sage(text, LEVELS.index(level), scale=_SCALES[scale]) if scale else computer_of(level)


def played(number: int, players: Seats[Solver], took: dict[Seat, list[float]]) -> Match:
    """One match from its first roll to its score; its dice are those of its number."""
    seed = hashlib.sha256(f"bench {number}".encode()).digest()
    match = new_match(f"bench-{number}", PRESETS["objective"].ruleset, seed, 0, computers=Seat)
    at = 0
    while match.score is None:
        for seat in [seat for seat in Seat if _plays(match, seat)]:
            assert match.turn is not None
            at = max(at, match.shown_at)
            task = task_of(view_for(match, seat))
            began = time.perf_counter()
            hops = players[seat].best(task)
            took[seat].append(time.perf_counter() - began)
            _, match = unfold(match, MakePlay(seat, match.turn, hops, at))
        due = next_deadline(match)
        if due is not None and not any(_plays(match, seat) for seat in Seat):  # a pass, or the seeds
            at = max(at, due)
            _, match = unfold(match, Tick(at))
    return match


def _plays(match: Match, seat: Seat) -> bool:
    """Whether this seat owes a play, and has one."""
    return match.turn is not None and match.owes(seat) and match.can_move(seat)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("matches", type=int)
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of the first match")
    asked = parser.parse_args()
    players = Seats(entrant(asked.a), entrant(asked.b))
    took: dict[Seat, list[float]] = {Seat.A: [], Seat.B: []}
    points, classic, wins = [], [], [0, 0, 0]
    for number in range(asked.first, asked.first + asked.matches):
        score = played(number, players, took).score
        assert score is not None
        points.append(score.points.A)
        classic.append(sum(_classic(game) for game in (score.games.X, score.games.Y)))
        wins[(score.points.A < 0) + 2 * (score.points.A == 0)] += 1
    print(f"{asked.a} – {asked.b}: {asked.matches} matches, won {wins[0]}, lost {wins[1]}, drawn {wins[2]}")
    for name, values in (("points", points), ("finished games, 1/2/3", classic)):
        error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
        print(f"{name}: {statistics.mean(values):+.2f} ± {error:.2f} a match")
    for seat, name in ((Seat.A, asked.a), (Seat.B, asked.b)):
        times = sorted(took[seat])
        print(
            f"{name}: {1000 * statistics.mean(times):.1f} ms a play, median {1000 * times[len(times) // 2]:.1f}, "
            f"p99 {1000 * times[len(times) * 99 // 100]:.1f}, {len(times) / asked.matches:.0f} plays a match"
        )


def _classic(game: object) -> int:
    """What a finished game counts for A, in 1/2/3."""
    loss_class, winner = game.loss_class, game.winner  # type: ignore[attr-defined]
    if winner is None or loss_class is None:
        return 0
    worth = {"oin": 1, "mars": 2, "koks": 3}[loss_class]
    return worth if winner is Seat.A else -worth


if __name__ == "__main__":
    main()
