"""Many pairs at once.

    python -m bench.load [--pairs 500] [--seconds 30] [--postgres [URL]]

First an open loop: each pair is to make one play a second at times fixed beforehand, and a play's latency counts from
the time that it was meant for, so that a server which falls behind cannot hide it. Then saturation: every pair plays
as fast as it is answered. Nothing may be lost or doubled: what every match holds is compared with what was sent.
With `--profile FILE` the server runs under cProfile, which slows it down, and where its time went is shown.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import pstats
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import httpx2
import uvloop

from bench.wire import Pair, Server, a_server, databases, ms, pairs, postgres_argument

SATURATING = 100  # pairs that play as fast as they are answered


async def open_loop(playing: list[Pair], seconds: float) -> list[float]:
    """Seconds from the time that a play was meant for to the opponent's display having news of it."""
    chance, start = random.Random(2019), time.perf_counter() + 0.5
    offsets = [chance.random() for _ in playing]

    async def keep_playing(pair: Pair, offset: float) -> list[float]:
        took = []
        for second in range(int(seconds)):
            meant = start + offset + second
            await asyncio.sleep(max(0.0, meant - time.perf_counter()))
            arrived = await pair.play()
            if arrived is None:
                break
            took.append(arrived - meant)
        return took

    tasks = [keep_playing(pair, offset) for pair, offset in zip(playing, offsets, strict=True)]
    return [one for took in await asyncio.gather(*tasks) for one in took]


async def saturation(playing: list[Pair], seconds: float) -> tuple[int, float]:
    """How many plays were answered in how many seconds."""
    began = time.perf_counter()

    async def keep_playing(pair: Pair) -> int:
        made = 0
        while time.perf_counter() - began < seconds and await pair.play() is not None:
            made += 1
        return made

    made = sum(await asyncio.gather(*map(keep_playing, playing)))
    return made, time.perf_counter() - began


async def wrong(server: Server, playing: list[Pair]) -> list[str]:
    """The matches that do not hold exactly what was sent, each play once."""
    found = []
    async with httpx2.AsyncClient(base_url=server.url, timeout=60) as http:
        for pair in playing:
            view = (await http.get(f"/api/matches/{pair.match}/view")).json()
            held = sum((line[2] != "--") + (line[3] != "--") for line in view["record"])
            if view["stage"] != "over":
                held += sum(seat["state"] == "played" for seat in view["seats"].values())
            answered = pair.a.accepted + pair.b.accepted - 4  # two messages each for the dice
            if not held == answered == pair.plays or pair.a.refused or pair.b.refused:
                found.append(f"{pair.match}: sent {pair.plays}, answered {answered}, held {held}")
    return found


async def measure(
    name: str, url: str, folder: Path, number: int, seconds: float, profile: Path | None
) -> bool:
    """Both loads on a fresh server. True if every match holds what was sent."""
    async with a_server(url, folder, profile=profile) as server, pairs(server, number) as playing:
        cpu, began = server.cpu_s(), time.perf_counter()
        took = await open_loop(playing, seconds)
        used, lasted = server.cpu_s() - cpu, time.perf_counter() - began
        print(
            f"{name}: {number} pairs, one play a second each, {len(took)} plays: p50 {ms(took):.2f} ms, "
            f"p99 {ms(took, 0.99):.2f} ms, worst {max(took) * 1000:.0f} ms; the server used {used / lasted:.0%} of a "
            f"core, {used / len(took) * 1000:.2f} ms a play",
            flush=True,
        )
        cpu = server.cpu_s()
        made, lasted = await saturation(playing[:SATURATING], seconds / 3)
        used = server.cpu_s() - cpu
        print(
            f"{name}: as fast as {min(SATURATING, number)} pairs are answered: {made / lasted:.0f} plays a second, the "
            f"server at {used / lasted:.0%} of a core, {used / made * 1000:.2f} ms a play",
            flush=True,
        )
        faults = await wrong(server, playing)
        print(
            f"{name}: {len(playing)} matches compared, {len(faults)} wrong",
            *faults[:5],
            sep="\n  ",
            flush=True,
        )
    if profile is not None:
        pstats.Stats(str(profile)).sort_stats("tottime").print_stats(30)
    return not faults


def main() -> int:
    """SQLite, and PostgreSQL where a URL is given."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--pairs", type=int, default=500)
    arguments.add_argument("--seconds", type=float, default=30)
    postgres_argument(arguments)
    arguments.add_argument("--profile", type=Path)
    given = arguments.parse_args()
    gc.disable()  # else the clients hold up themselves what they measure
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with tempfile.TemporaryDirectory() as folder, databases(Path(folder), given.postgres) as found:
        good = [
            uvloop.run(measure(name, url, Path(folder), given.pairs, given.seconds, given.profile))
            for name, url in found
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
