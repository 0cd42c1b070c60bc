"""The whole way of one play beside its floor: from the sender's socket to the opponent's display.

One pair over real sockets on a server in a process of its own; the floor is a raw WebSocket echo, between two processes
too, and a raw commit of the same run, interleaved with it. Before each of the three there is the same pause: a server
with one pair is idle most of the time, and how long it was decides how soon it wakes.
Run: `python -m bench.match [--plays N] [--pause MS] [--postgres [URL]]`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

import asyncpg
import uvloop
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from bench.wire import Server, a_server, databases, ms, pairs, postgres_argument

ROUNDS = 6


async def plays(server: Server, wanted: int, pause_s: float) -> list[float]:
    """Seconds from sending a play to the opponent's display having news of it."""
    took: list[float] = []
    while len(took) < wanted:
        async with pairs(server, 1) as [pair]:
            while len(took) < wanted and await pair.ready():
                began = time.perf_counter()
                arrived = await pair.play()
                took.append((arrived or time.perf_counter()) - began)
                await asyncio.sleep(pause_s)  # what follows from a play is not the next one's burden
    return took


async def echoes(number: int, pause_s: float) -> list[float]:
    """Seconds of a message's way to an echo, in a process of its own as the server is, and back."""
    took = []
    program = "import bench.match; bench.match.serve_echo()"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        port = int(await process.stdout.readline())
        async with connect(f"ws://127.0.0.1:{port}", compression=None) as connection:
            for _ in range(number):
                began = time.perf_counter()
                await connection.send("x" * 120)
                await connection.recv()
                took.append(time.perf_counter() - began)
                await asyncio.sleep(pause_s)
    finally:
        process.kill()
        await process.wait()
    return took


def serve_echo() -> None:
    """Says back whatever it is told, on a port that it prints, until it is killed."""

    async def echo(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async def main() -> None:
        async with serve(echo, "127.0.0.1", 0, compression=None) as server:
            print(next(iter(server.sockets)).getsockname()[1], flush=True)
            await asyncio.get_running_loop().create_future()

    uvloop.run(main())


async def sqlite_commits(folder: Path, number: int, pause_s: float) -> list[float]:
    """Seconds of one durable row: WAL, synchronous FULL."""
    took = []
    with contextlib.closing(sqlite3.connect(folder / "floor.sqlite3", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        database.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, text TEXT)")
        for _ in range(number):
            began = time.perf_counter()
            database.execute("BEGIN IMMEDIATE")
            database.execute("INSERT INTO rows (text) VALUES (?)", ("x" * 300,))
            database.execute("COMMIT")
            took.append(time.perf_counter() - began)
            await asyncio.sleep(pause_s)
    return took


async def postgres_commits(url: str, number: int, pause_s: float) -> list[float]:
    """Seconds of one durable row."""
    took = []
    database = await asyncpg.connect("postgresql://" + url.partition("://")[2])
    await database.execute("CREATE TABLE IF NOT EXISTS bench_floor (id bigserial PRIMARY KEY, text text)")
    for _ in range(number):
        began = time.perf_counter()
        await database.execute("INSERT INTO bench_floor (text) VALUES ($1)", "x" * 300)
        took.append(time.perf_counter() - began)
        await asyncio.sleep(pause_s)
    await database.close()
    return took


async def measure(name: str, url: str, folder: Path, number: int, pause_s: float) -> None:
    """Rounds of all three, in turn."""
    way: list[float] = []
    floor: list[tuple[float, float]] = []
    async with a_server(url, folder) as server:
        await plays(server, 30, 0.003)
        for _ in range(ROUNDS):
            way += await plays(server, number // ROUNDS, pause_s)
            echo = ms(await echoes(100, pause_s))
            on_disk = (
                postgres_commits(url, 100, pause_s)
                if "postgres" in url
                else sqlite_commits(folder, 100, pause_s)
            )
            floor.append((echo, ms(await on_disk)))
    echo, commit = (statistics.median(values) for values in zip(*floor, strict=True))
    print(
        f"{name:11} play -> display p50 {ms(way):6.2f} ms  p99 {ms(way, 0.99):6.2f} ms   echo {echo:.2f} ms + "
        f"commit {commit:.2f} ms   ratio {ms(way) / (echo + commit):.2f}   ({len(way)} plays)"
    )


def main() -> int:
    """Both databases; PostgreSQL only where a URL is given."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--plays", type=int, default=600)
    arguments.add_argument("--pause", type=float, default=20.0, help="ms between two")
    postgres_argument(arguments)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, databases(Path(folder), given.postgres) as found:
        for name, url in found:
            uvloop.run(measure(name, url, Path(folder), given.plays, given.pause / 1000))
    return 0


if __name__ == "__main__":
    sys.exit(main())
