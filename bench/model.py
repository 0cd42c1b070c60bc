"""Thousands of seeds of the simulated world of tests/support/simulation, each a whole match under crashes.

Run: `python -m bench.model [--seeds N] [--from SEED] [--no-twins]`. A failing seed is printed with what is wrong and
the command that replays it; with one seed, the story of the run is printed too.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.support.simulation.twins import differences
from tests.support.simulation.world import World, run


def problems_of(seed: int, *, twins: bool) -> tuple[World, list[str]]:
    """A run, and all that is wrong with it; its twin only if nothing else is."""
    world = run(seed)
    problems = list(world.problems)
    if twins and not problems:
        problems += differences(world)
    return world, problems


def main() -> int:
    """Exit 1 if any seed fails."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", type=int, default=2_000)
    arguments.add_argument("--from", type=int, default=0, dest="first")
    arguments.add_argument("--no-twins", action="store_true", help="without the second run of each seed")
    given = arguments.parse_args()
    began, failed, ends, simulated = time.perf_counter(), 0, Counter[str](), 0.0
    for seed in range(given.first, given.first + given.seeds):
        world, problems = problems_of(seed, twins=not given.no_twins)
        ends.update(row.outcome for row in world.results())
        simulated += world.loop.time()
        if problems:
            failed += 1
            print(f"seed {seed} fails; replay: python -m bench.model --from {seed} --seeds 1")
            print(*(f"    {problem}" for problem in problems), sep="\n", flush=True)
        if given.seeds == 1:
            print(*world.story(), sep="\n")
    took = time.perf_counter() - began
    print(
        f"{given.seeds} seeds in {took:.0f} s, {given.seeds / took:.1f} a second; {failed} failed; "
        f"{simulated / 3600:.1f} h of play; ends: {dict(ends.most_common())}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
