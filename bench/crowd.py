"""Many matches against the computer at once, while finished ones are analysed: how late the event loop is.

    python -m bench.crowd [--matches 200] [--seconds 30] [--think 2] [--level beginner] [--analysis expert]
                          [--postgres [URL]]

Everybody thinks for so many seconds on average, and begins another match when one is over. Meanwhile 100 matches wait
for their analysis; with `--analysis off` they go on waiting. Clients, server, computers and judges share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import hashlib
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import httpx2
import uvloop
from sqlalchemy import func, select

from app.settings import Settings
from app.store import open_store, upgrade
from app.store.tables import analyses, judged_phases
from bench.wire import (
    RULES,
    Player,
    Server,
    a_player,
    a_server,
    databases,
    post,
    postgres_argument,
    signed_in,
)
from tests.support.finished import a_whole_match, store_match

WAITING = 100
_SEED = "00" * 16


async def fill(settings: Settings) -> None:
    """So many finished matches, each waiting for its analysis."""
    await upgrade(settings)
    store = await open_store(settings)
    for _ in range(WAITING):
        await store_match(store, a_whole_match())
    await store.close()


async def judged(settings: Settings) -> tuple[int, int]:
    """How many matches are analysed by now, and of how many phases that is."""
    store = await open_store(settings)
    try:
        return await store._database.read(
            lambda connection: (
                connection.execute(
                    select(func.count()).select_from(analyses).where(analyses.c.state == "done")
                ).scalar_one(),
                connection.execute(
                    select(func.coalesce(func.sum(analyses.c.phases), 0)).where(analyses.c.state == "done")
                ).scalar_one()
                + connection.execute(select(func.count()).select_from(judged_phases)).scalar_one(),
            )
        )
    finally:
        await store.close()


class Guest:
    """Somebody who plays the computer, match after match."""

    def __init__(self, server: Server, name: str, level: str, think_s: float) -> None:
        self._server = server
        self._name = name
        self._level = level
        self._think_s = think_s
        self._chance = random.Random(name)
        self.plays = 0
        self.matches = 0
        self.is_seated = asyncio.Event()

    async def play_on(self) -> None:
        async with httpx2.AsyncClient(base_url=self._server.url, timeout=60) as http:
            cookie = await signed_in(http, self._name)
            while True:
                body = {"opponent": "computer", "level": self._level, "ruleset": RULES}
                made = await post(http, "/api/matches", cookie, body)
                async with a_player(self._server, made["id"], "A", cookie) as player:
                    await player.until(lambda v: True)
                    hash_ = hashlib.sha256(bytes.fromhex(_SEED)).hexdigest()
                    await player.ask("c", type="seed-commit", hash=hash_)
                    await player.ask("r", type="seed-reveal", seed=_SEED)
                    self.is_seated.set()
                    await self._play(player)
                self.matches += 1

    async def _play(self, player: Player) -> None:
        while player.view is None or player.view.stage != "over":
            player.news.clear()
            if player.owes:
                await asyncio.sleep(self._chance.expovariate(1 / self._think_s))
                await player.play()
                self.plays += 1
            await player.news.wait()


def share(delays: list[float], part: float) -> float:
    return sorted(delays)[min(len(delays) - 1, int(len(delays) * part))]


async def measure(name: str, url: str, folder: Path, given: argparse.Namespace) -> bool:
    """True if the loop is in time."""
    settings = Settings(database_url=url, data_dir=folder, secret_key="a key for this bench")
    await fill(settings)
    noted = folder / "delays"
    async with a_server(url, folder, delays=noted, analysis_level=given.analysis) as server:
        guests = [Guest(server, f"Bench {n}", given.level, given.think) for n in range(given.matches)]
        playing = []
        for guest in guests:
            playing.append(asyncio.create_task(guest.play_on()))
            await guest.is_seated.wait()
        plays, cpu, began = sum(guest.plays for guest in guests), server.cpu_s(), time.monotonic()
        matches_before, before = await judged(settings)
        await asyncio.wait(playing, timeout=given.seconds, return_when=asyncio.FIRST_COMPLETED)
        matches_after, after = await judged(settings)
        ended = time.monotonic()
        plays, lasted = sum(guest.plays for guest in guests) - plays, ended - began
        used = server.cpu_s() - cpu
        for task in playing:
            task.cancel()
        for wrong in await asyncio.gather(*playing, return_exceptions=True):
            if not isinstance(wrong, asyncio.CancelledError):
                raise RuntimeError("a guest could not play on") from (
                    wrong if isinstance(wrong, Exception) else None
                )
    lines = (line.split() for line in noted.read_text().splitlines())
    late = [float(ms) for at, ms in lines if began <= float(at) <= ended]
    print(
        f"{name}: {given.matches} matches against {given.level}, {plays / lasted:.0f} plays of people a second, the "
        f"server at {used / lasted:.0%} of a core; analysis {given.analysis}: {matches_after - matches_before} "
        f"matches, {(after - before) / lasted:.1f} phases a second",
        f"its loop was late by p50 {share(late, 0.5):.1f} ms, p99 {share(late, 0.99):.1f} ms, worst {max(late):.0f} ms",
        sep="\n  ",
        flush=True,
    )
    return share(late, 0.99) < 20


def main() -> int:
    """SQLite, and PostgreSQL where it is asked for."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--matches", type=int, default=200)
    arguments.add_argument("--seconds", type=float, default=30)
    arguments.add_argument("--think", type=float, default=2.0)
    arguments.add_argument("--level", default="beginner", choices=("beginner", "club", "expert", "master"))
    arguments.add_argument("--analysis", default="expert", choices=("off", "club", "expert", "master"))
    postgres_argument(arguments)
    given = arguments.parse_args()
    gc.disable()  # else the clients hold up themselves what they measure
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found = stack.enter_context(databases(folder, given.postgres))
        good = [uvloop.run(measure(name, url, folder, given)) for name, url in found]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
