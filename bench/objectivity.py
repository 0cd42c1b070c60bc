"""What the format and the objective result do for finding the better of two players, measured with computers.

    python -m bench.objectivity A B [--judge gnubg] [--matches 200] [--processes 1] [--file results.jsonl]

A and B are players: `beginner` (the built-in one), `club` (bgsage's network), `expert` (one look-ahead), with noise if
wanted: `club+0.05` errs as if every play's equity were seen with an error of so many points. Judges: bench/judges.py;
the first one's luck is what the means of points are freed of. Nothing else is by chance but the dice; each match has
its own, from the seed and its number, so a run can be broken off and taken up again: what the file holds is not played
twice. docs/OBJECTIVITY.md says what is measured, and how.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from random import Random
from typing import Any

from bench.figures import BASES, CREDITS, Run, kept, show
from bench.judges import JUDGES, sage
from engine.analysis import CLOSE, CLOSEST, Judge, Played, analysed, work
from engine.bot import worth
from engine.dice import Roll
from engine.match import Made, PhasePlayed, ends_after
from engine.plays import legal_plays, results
from engine.position import CHECKERS, OFF, Position
from engine.ruleset import DEFAULT, Ruleset
from engine.scoring import Outcome, game_outcome, points_of, settle
from engine.turn import FIRST_TURN, Color, Game, Games, Phase, Seat, Seats, Turn, game_of, player_of
from engine.variant import SHORT

LONGEST = 400  # rounds; no game has come near it
assert SHORT.rules is not None
# Several judges ask where the same rolls could have led
REMEMBERED = replace(SHORT, rules=replace(SHORT.rules, results=lru_cache(maxsize=4096)(results)))


# ---------------------------------------------------------------------------------------------------- the players


OWN_JUDGE = {"beginner": "heuristic", "club": "network", "expert": "network"}  # the same program


@dataclass(frozen=True)
class Player:
    """A level, and how badly it sees (points of equity, standard deviation)."""

    level: str
    noise: float

    @classmethod
    def parse(cls, text: str) -> Player:
        level, _, noise = text.partition("+")
        if level not in OWN_JUDGE:
            raise argparse.ArgumentTypeError(f"a player is one of {', '.join(OWN_JUDGE)}, perhaps +noise")
        try:
            return cls(level, float(noise or 0))
        except ValueError:
            raise argparse.ArgumentTypeError(f"{noise} is no amount of noise") from None

    def choose(self, ends: Sequence[Position], chance: Random) -> int:
        """The place of the play that looks best."""
        if len(ends) == 1:
            return 0
        for place, end in enumerate(ends):
            if end.mine[OFF] == CHECKERS:
                return place
        seen = [value + chance.gauss(0, self.noise) if self.noise else value for value in self._worth(ends)]
        return max(range(len(ends)), key=lambda place: (seen[place], ends[place].mine))

    def _worth(self, ends: Sequence[Position]) -> list[float]:
        if self.level == "beginner":
            return [worth(end) / 1000 for end in ends]
        quick = _equities(1, ends)
        if self.level == "club":
            return quick
        ranked = sorted(range(len(ends)), key=lambda place: -quick[place])
        near = [place for place in ranked[:CLOSEST] if quick[ranked[0]] - quick[place] <= CLOSE]
        deep = dict(zip(near, _equities(2, [ends[place] for place in near]), strict=True))
        return [deep.get(place, -math.inf) for place in range(len(ends))]


def _equities(plies: int, ends: Sequence[Position]) -> list[float]:
    """Seen by the side that has just played; White may be off and Black about to make the last move."""
    open_ = [end for end in ends if end.theirs[OFF] < CHECKERS]
    known = dict(zip(open_, sage(plies).chances(open_), strict=True))
    return [known[end].equity if end in known else -float(end.pips()) for end in ends]


# ---------------------------------------------------------------------------------------------------- one match


def play(players: Seats[Player], seed: str) -> tuple[Played, Games[Position]]:
    """A match by the rules, and both games played out to their own ends on the same dice that go on."""
    dice = Random(f"{seed}|dice")
    chance = Seats(Random(f"{seed}|A"), Random(f"{seed}|B"))
    games = Games(SHORT.opening(), SHORT.opening())
    phases: list[PhasePlayed] = []
    over: set[Game] = set()
    parted, match, turn = None, None, FIRST_TURN
    while True:
        roll = Roll(dice.randint(1, 6), dice.randint(1, 6))
        while turn == FIRST_TURN and roll.is_double:
            roll = Roll(dice.randint(1, 6), dice.randint(1, 6))
        made = []
        for seat in Seat:
            game = game_of(seat, turn.phase)
            if game in over:
                continue
            moves, games = _half(players[seat], chance[seat], games, game, turn, roll)
            made.append(moves)
        if match is None:
            phases.append(PhasePlayed(turn, roll, Seats(*made), games))
            parted = turn.round if parted is None and games.X != games.Y else parted
            if ends_after(turn, games):
                match = Played(REMEMBERED, False, tuple(phases), Outcome.FINISHED, None, parted)
        if turn.phase is Phase.K:  # a game is over at a round's end, and not before (§4.2)
            over = {game for game in Game if game_outcome(games[game]) != "-"}
        if len(over) == len(Game):
            assert match is not None
            return match, games
        turn = turn.next()
        assert turn.round < LONGEST


def _half(
    player: Player, chance: Random, games: Games[Position], game: Game, turn: Turn, roll: Roll
) -> tuple[Made, Games[Position]]:
    is_black = turn.phase is Phase.K
    before = games[game].turned() if is_black else games[game]
    ends = results(before, roll)
    place = player.choose(ends, chance)
    moves = legal_plays(before, roll)[place].moves
    after = ends[place]
    return Made.of("play" if moves else "pass", moves, 0), games.with_(
        game, after.turned() if is_black else after
    )


RULESETS = {
    (basis, credit): DEFAULT.changed(
        {
            "scoring": basis,
            "time": {"mode": "off"},
            "unfinished": {"mode": "lead" if credit == "with credit" else "none"},
        }
    )
    for basis in BASES
    for credit in CREDITS
}


def _points(ruleset: Ruleset, game: Game, position: Position) -> int:
    """A finished game for A."""
    outcome = game_outcome(position)
    if outcome == "T":
        return 0
    loser = position.theirs if outcome == "W" else position.mine
    points = points_of(ruleset, loser, SHORT.loss_class(loser))
    winner = player_of(game, Color.WHITE if outcome == "W" else Color.BLACK)
    return points if winner is Seat.A else -points


def measured(number: int, seed: str, a: Player, b: Player, judges: Sequence[str]) -> dict[str, Any]:
    """All that one match says, as a line of the file. Amounts are for A."""
    match, ends = play(Seats(a, b), f"{seed}|{number}")
    last = match.phases[-1].games
    found = {}
    for name in judges:
        judge = Judge(JUDGES[name]())
        analysis = analysed(match, list(work(match, judge)))
        rates = [analysis.players[seat].error_rate for seat in Seat]
        found[name] = [analysis.result_for_A, analysis.objective_for_A, *rates]
    outcomes = [game_outcome(last[game]) for game in Game]
    return {
        "match": number,
        "stopped": {
            f"{basis}, {credit}": settle(ruleset, last, Seats(0, 0)).net_for_A
            for (basis, credit), ruleset in RULESETS.items()
        },
        "played_out": {
            basis: [_points(RULESETS[basis, "without"], game, ends[game]) for game in Game] for basis in BASES
        },
        "judged": found,
        "both": "-" not in outcomes,
        "tied": "T" in outcomes,
        "parted": match.parted,
        "rounds": match.rounds,
    }


# ------------------------------------------------------------------------------------------------------- the run


def main() -> int:
    """Plays what is missing, writes it to the file as it comes, and prints the table of all."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("a", type=Player.parse)
    arguments.add_argument("b", type=Player.parse)
    arguments.add_argument(
        "--judge", action="append", choices=JUDGES, help="may be given more than once (gnubg)"
    )
    arguments.add_argument("--matches", type=int, default=200)
    arguments.add_argument("--processes", type=int, default=1)
    arguments.add_argument("--seed", default="2019")
    arguments.add_argument("--file", type=Path, help="where results are kept, a line a match")
    given = arguments.parse_args()
    judges = given.judge or ["gnubg"]
    for player in (given.a, given.b):
        if player.noise == 0 and OWN_JUDGE[player.level] in judges:
            print(f"beware: {player.level} is judged by its own kind", file=sys.stderr)
    settings = {
        "a": f"{given.a.level}+{given.a.noise}",
        "b": f"{given.b.level}+{given.b.noise}",
        "judges": judges,
        "seed": given.seed,
        "bgsage": sage(1).version,
        "gnubg-nn": metadata.version("gnubg-nn"),
    }
    done = kept(given.file, settings)
    missing = [number for number in range(given.matches) if number not in done]
    if given.file:  # written anew, so that no broken line is in the way of the next
        given.file.write_text(
            "".join(f"{json.dumps(line)}\n" for line in (settings, *done.values())), "utf-8"
        )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    pool = ProcessPoolExecutor(given.processes, multiprocessing.get_context("spawn"))
    try:
        tasks = [pool.submit(measured, number, given.seed, given.a, given.b, judges) for number in missing]
        for task in as_completed(tasks):
            line = task.result()
            done[line["match"]] = line
            if given.file:
                with given.file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(line) + "\n")
    except KeyboardInterrupt:
        print("broken off; what is in the file will not be played again", file=sys.stderr)
        return 130
    finally:
        pool.shutdown(cancel_futures=True)
    show(Run([done[number] for number in sorted(done) if number < given.matches], judges))
    return 0


if __name__ == "__main__":
    sys.exit(main())
