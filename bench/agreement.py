"""Two judges before the same decisions of real play: how far do they agree?

    python -m bench.agreement FILE --level expert --plies 2     our judge against gnubg
    python -m bench.agreement --pick 100 --each 2 > FILE        the decisions, from matches between players of all kinds

A decision is one that a player had: two plays or more, and nobody bears off his last checker by any of them, since what
the last move is worth (§4.3) is certain by the rules, and gnubg does not know it. Each judge says the best play, and
what the play made lost; then each is asked what the other's best play would lose. Plays are those of our own rules.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from app.engines.judge import LEVELS, judge_of
from bench.judges import Gnubg
from bench.objectivity import Player, play
from engine.analysis import Half, Judge, Played, turn_judged
from engine.dice import Roll
from engine.match import Made, PhasePlayed
from engine.plays import legal_plays, results
from engine.position import CHECKERS, OFF, Position
from engine.scoring import Outcome
from engine.turn import FIRST_TURN, Games, Phase, Seat, Seats, game_of
from engine.variant import SHORT

PLAYERS = ("beginner", "beginner+0.05", "club", "club+0.03", "club+0.08", "expert")
NEAR = 0.005  # points: plays no further apart are as good as each other


@dataclass(frozen=True)
class Decision:
    """A position seen by the side that plays, its roll, the play made and who made it."""

    position: str
    roll: str
    play: str
    by: str


@dataclass(frozen=True)
class Agreement:
    """Two judges before one decision. Losses in points."""

    same: bool  # the best play
    best_loses: float  # what the other judge thinks that the first one's best play loses
    others_best_loses: float  # and the first one of the other's
    difference: float  # between what the play made lost, by the first and by the other


def picked(matches: int, each: int, seed: str = "decisions") -> Iterator[Decision]:
    """So many decisions of each of so many matches, drawn by lot."""
    chance = Random(seed)
    for number in range(matches):
        names = chance.sample(PLAYERS, 2)
        match, _ = play(Seats(*map(Player.parse, names)), f"{seed}|{number}")
        yield from chance.sample(list(_decisions(match, names)), each)


def _decisions(match: Played, names: Sequence[str]) -> Iterator[Decision]:
    for index, phase in enumerate(match.phases):
        for seat, name in zip(Seat, names, strict=True):
            game = match.games_before(index)[game_of(seat, phase.turn.phase)]
            position = game.turned() if phase.turn.phase is Phase.K else game
            ends = results(position, phase.roll)
            over = any(CHECKERS in (end.mine[OFF], end.theirs[OFF]) for end in ends)
            if len(ends) > 1 and not over:
                roll = f"{phase.roll.first}-{phase.roll.second}"
                yield Decision(str(position), roll, phase.plays[seat].text, name)


def compared(decision: Decision, ours: Judge, other: Judge) -> Agreement:
    """What two judges say to one decision."""
    made = decision.play
    best = _best(_judged(decision, (made, made), ours).A, made)
    by_other = _judged(decision, (made, best), other)
    others_best = _best(by_other.A, made)
    by_ours = _judged(decision, (made, others_best), ours)
    return Agreement(best == others_best, by_other.B.loss, by_ours.B.loss, by_ours.A.loss - by_other.A.loss)


def _best(half: Half, made: str) -> str:
    return half.better[0].play if half.better else made


def _judged(decision: Decision, texts: tuple[str, str], judge: Judge) -> Seats[Half]:
    """Two plays of one decision, as the two halves of a phase are judged."""
    position = Position.parse(decision.position)
    first, second = map(int, decision.roll.split("-"))
    roll = Roll(first, second)
    ends = zip(legal_plays(position, roll), results(position, roll), strict=True)
    plays = {str(legal): (legal.moves, end) for legal, end in ends}
    (moves_a, end_a), (moves_b, end_b) = (plays[text] for text in texts)
    turned = position.turned()  # Black is to play, and A is Black on board Y
    made = Seats(Made.of("play", moves_a, 0), Made.of("play", moves_b, 0))
    before = PhasePlayed(FIRST_TURN, roll, made, Games(turned, turned))
    after = PhasePlayed(FIRST_TURN.next(), roll, made, Games(end_b.turned(), end_a.turned()))
    return turn_judged(Played(SHORT, False, (before, after), Outcome.FINISHED, None, None), 1, judge).halves


def read(file: Path) -> list[Decision]:
    """The decisions of a file, a line each."""
    return [Decision(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--level", choices=LEVELS, default="expert")
    parser.add_argument("--plies", type=int, default=2, help="of gnubg: 0 is its network alone")
    parser.add_argument("--pick", type=int, help="print decisions of so many matches")
    parser.add_argument("--each", type=int, default=2, help="so many of each")
    asked = parser.parse_args()
    if asked.pick:
        for decision in picked(asked.pick, asked.each):
            print(json.dumps(asdict(decision)))
        return
    if asked.file is None:
        sys.exit("a file of decisions, or --pick")
    ours, other = judge_of(asked.level), Judge(Gnubg(), Gnubg(asked.plies) if asked.plies else None)
    found = [compared(decision, ours, other) for decision in read(asked.file)]
    print(f"{len(found)} decisions, {', '.join(ours.names)} against {', '.join(other.names)}")
    shares = {
        "the same best play": [one.same for one in found],
        f"best play within {NEAR} by gnubg": [one.best_loses <= NEAR for one in found],
        f"gnubg's best within {NEAR} by ours": [one.others_best_loses <= NEAR for one in found],
    }
    for text, values in shares.items():
        share = statistics.mean(values)
        print(f"{text:32} {100 * share:.1f} % ± {100 * (share * (1 - share) / len(found)) ** 0.5:.1f}")
    differences = [one.difference for one in found]
    mean, size = statistics.mean(differences), statistics.mean(map(abs, differences))
    print(f"difference of the losses: mean {mean:+.4f}, mean size {size:.4f}")


if __name__ == "__main__":
    main()
