"""How promptly the phases of a qualifying open, by the number of entrants (§12.1).

Entrants without sockets on one server; each plays as soon as he can. What is measured: from the last play of a phase
to the next roll at the last display, and the whole round. `python -m bench.in_step --entrants 64 200`.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from app.engines.levels import levels_here
from app.settings import Settings
from engine.bot import Heuristic
from engine.view import View
from tests.support.competing import Player, a_server, announce, first_way, until_state, wall_clock


class Watched(Player):
    """Notes when each turn reached him, and when he could play no more in it."""

    shown: dict[str, float]
    closed: dict[str, float]

    def note(self, view: View) -> None:
        now = time.perf_counter()
        if view.turn:
            self.shown.setdefault(view.turn, now)
        if view.waits and view.turn:
            self.closed.setdefault(view.turn, now)


async def measure(entrants: int, level: str, database: str) -> None:
    """One round of so many."""
    loop = asyncio.get_running_loop()
    delays: list[float] = []

    async def watch_loop() -> None:
        while True:
            began = loop.time()
            await asyncio.sleep(0.01)
            delays.append((loop.time() - began - 0.01) * 1000)

    with tempfile.TemporaryDirectory() as folder:
        url = database or f"sqlite:///{folder}/bench.sqlite3"
        settings = Settings(database_url=url, data_dir=Path(folder), secret_key="for a bench")
        levels = [one for one in levels_here() if one.key == level]
        async with a_server(settings, "bench", wall_clock, levels=levels) as server:
            event, plain = await announce(
                server,
                entrants,
                wall_clock(),
                stages=[{"kind": "qualifying", "matches": 1, "computer": level}],
            )
            players = []
            for number, one in enumerate(plain):
                player = Watched(one.account, one.name, first_way if number % 3 else Heuristic().choose)
                player.shown, player.closed = {}, {}
                players.append(player)
            watching = asyncio.create_task(watch_loop())
            began, cpu = time.perf_counter(), time.process_time()
            await asyncio.gather(*(player.take_part(server, event) for player in players))
            played = time.perf_counter() - began
            await until_state(server, event, "finished")
            watching.cancel()
            waits = by_turn(players)
            cpu_s = time.process_time() - cpu
            print(
                f"{entrants} entrants, {level}: {len(waits)} phases in {played:.1f} s ({cpu_s:.1f} s of CPU, with the "
                f"entrants); last play → all have the next "
                f"roll p50 {statistics.median(waits):.0f} ms, p90 {sorted(waits)[int(0.9 * len(waits))]:.0f} ms; "
                f"loop delay p99 {sorted(delays)[int(0.99 * len(delays))]:.0f} ms; "
                f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"
            )


def by_turn(players: list[Watched]) -> list[float]:
    """For each phase, ms from the last entrant's end of the one before to the last display of it."""
    closed: dict[str, float] = defaultdict(float)
    shown: dict[str, float] = defaultdict(float)
    for player in players:
        for turn, at in player.closed.items():
            closed[turn] = max(closed[turn], at)
        for turn, at in player.shown.items():
            shown[turn] = max(shown[turn], at)
    turns = sorted(shown, key=lambda turn: (int(turn[:-1]), turn[-1] == "K"))
    return [(shown[after] - closed[before]) * 1000 for before, after in pairwise(turns) if before in closed]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entrants", type=int, nargs="+", default=[64])
    parser.add_argument("--level", default="beginner")
    parser.add_argument("--database", default="", help="a PostgreSQL database; else SQLite in a new folder")
    given = parser.parse_args()
    for entrants in given.entrants:
        asyncio.run(measure(entrants, given.level, given.database))
    return 0


if __name__ == "__main__":
    sys.exit(main())
