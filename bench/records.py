"""Random games of xiangqi, written and read back in every form: `python -m bench.records [--games 1000] [--plies 200]`.

Every game must come back with the same moves and without a note, in every form, dialect and school of letters, and its
text must be written again to the letter; else it says which did not and exits with 1. CPU time.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator

from engine.records.family import USUAL, Options
from engine.records.text import normalised
from engine.records.xiangqi import FORMS, Game, read, write
from engine.records.xiangqi.board import START


def random_game(chance: random.Random, plies: int) -> Game:
    position, moves = START, []
    while len(moves) < plies and (legal := position.legal_moves()):
        moves.append(chance.choice(legal))
        position = position.after(moves[-1])
    ended = position.ending() is not None
    return Game(tuple(moves), ("0-1" if position.red else "1-0") if ended else "*")


def ways() -> Iterator[tuple[str, str, Options]]:
    """A name, the form and the options of everything that can be written."""
    for form in FORMS:
        yield form, form, USUAL
    for letters in ("cci", "general"):
        for form in ("wxf2018", "wxf1997"):
            yield f"{form}, letters of {letters}", form, Options(letters=letters)


def main() -> int:
    """Exit 1 if any game came back otherwise."""
    parser = argparse.ArgumentParser(prog="bench.records", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--games", type=int, default=1_000)
    parser.add_argument("--plies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2018)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    begun = time.process_time()
    games = [random_game(chance, given.plies) for _ in range(given.games)]
    made = time.process_time() - begun
    plies = sum(len(game.moves) for game in games)
    print(f"{len(games)} games, {plies} plies; all legal moves of a position {made / plies * 1e6:.0f} µs")
    print(f"{'':32}{'writing':>12}{'reading':>12}   games that differ")
    differ: dict[str, int] = defaultdict(int)
    for name, form, options in ways():
        writing = reading = 0.0
        for game in games:
            at = time.process_time()
            text = write(game, form, options)
            between = time.process_time()
            (only,) = read(normalised(text)).candidates
            reading += time.process_time() - between
            writing += between - at
            same = only.record == game and not only.notes and write(only.record, form, options) == text
            differ[name] += not same
        print(f"{name:32}{writing / plies * 1e6:9.0f} µs{reading / plies * 1e6:9.0f} µs{differ[name]:12}")
    return min(sum(differ.values()), 1)


if __name__ == "__main__":
    sys.exit(main())
