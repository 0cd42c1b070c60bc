"""The whole way of one play beside its floor: from the sender's socket to the opponent's display.

One pair over real sockets on a server in a process of its own; the floor is a raw WebSocket echo and a raw commit of
the same run, interleaved with it. Run: `python -m bench.match [--plays N] [--postgres URL]`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import socket
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import httpx2
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

from app.settings import Settings
from app.store import upgrade
from tests.support.server import LiveServer, first_way, owes, seated

RULES = {"clock": {"type": "none"}, "time": {"mode": "off"}}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def a_server(database_url: str, folder: Path) -> AsyncIterator[LiveServer]:
    """`nardy serve` in a process of its own."""
    settings = Settings(database_url=database_url, data_dir=folder, secret_key="a key for this bench")
    await upgrade(settings)
    port = _free_port()
    more = {"DATABASE_URL": database_url, "DATA_DIR": str(folder), "PORT": str(port), "HOST": "127.0.0.1"}
    environment = {**os.environ, **more, "SECRET_KEY": settings.secret_key, "LOG_LEVEL": "warning"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app.cli", "serve", env=environment, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        async with httpx2.AsyncClient() as http, asyncio.timeout(30):
            while True:
                with contextlib.suppress(httpx2.HTTPError):
                    await http.get(f"http://127.0.0.1:{port}/healthz")
                    break
                await asyncio.sleep(0.05)
        yield LiveServer(f"http://127.0.0.1:{port}", None, settings)
    finally:
        process.terminate()
        await process.wait()


async def plays(server: LiveServer, wanted: int) -> list[float]:
    """Seconds from sending a play to the opponent's display having news of it."""
    took: list[float] = []
    while len(took) < wanted:
        async with seated(server, RULES) as (_, _, _, a, b):
            while a.view["stage"] != "over" and len(took) < wanted:
                for mover, other in ((a, b), (b, a)):
                    if not owes(mover.view):
                        continue
                    turn, frames = mover.view["turn"], len(other.frames)
                    way = first_way(mover.view["mine"]["steps"])
                    began = time.perf_counter()
                    await mover.send(type="play", id=f"p{turn}", turn=turn, moves=way)
                    await other.until(lambda other=other, frames=frames: len(other.frames) > frames)
                    took.append(time.perf_counter() - began)
                    await mover.until_view(lambda v, turn=turn: v["turn"] != turn or not owes(v))
                if not owes(a.view) and not owes(b.view):
                    await asyncio.sleep(0.002)
    return took


async def echoes(number: int) -> list[float]:
    """Seconds of a message's way to an echo and back."""

    async def echo(connection: object) -> None:
        async for message in connection:  # type: ignore[attr-defined]
            await connection.send(message)  # type: ignore[attr-defined]

    took = []
    async with serve(echo, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}", compression=None) as connection:
            for _ in range(number):
                began = time.perf_counter()
                await connection.send("x" * 120)
                await connection.recv()
                took.append(time.perf_counter() - began)
    return took


def sqlite_commits(folder: Path, number: int) -> list[float]:
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
    return took


async def postgres_commits(url: str, number: int) -> list[float]:
    """Seconds of one durable row."""
    took = []
    database = await asyncpg.connect("postgresql://" + url.partition("://")[2])
    await database.execute("CREATE TABLE IF NOT EXISTS bench_floor (id bigserial PRIMARY KEY, text text)")
    for _ in range(number):
        began = time.perf_counter()
        await database.execute("INSERT INTO bench_floor (text) VALUES ($1)", "x" * 300)
        took.append(time.perf_counter() - began)
    await database.close()
    return took


def _ms(seconds: list[float], share: float = 0.5) -> float:
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * share))] * 1000


async def measure(name: str, url: str, folder: Path, number: int) -> None:
    """Three rounds of all three, in turn."""
    way: list[float] = []
    floor: list[tuple[float, float]] = []
    async with a_server(url, folder) as server:
        await plays(server, 30)
        for _ in range(3):
            way += await plays(server, number // 3)
            echo = _ms(await echoes(300))
            commits = await postgres_commits(url, 300) if "postgres" in url else sqlite_commits(folder, 300)
            floor.append((echo, _ms(commits)))
    echo, commit = (statistics.median(values) for values in zip(*floor, strict=True))
    print(
        f"{name:11} play -> display p50 {_ms(way):6.2f} ms  p99 {_ms(way, 0.99):6.2f} ms   echo {echo:.2f} ms + "
        f"commit {commit:.2f} ms   ratio {_ms(way) / (echo + commit):.2f}   ({len(way)} plays)"
    )


def main() -> int:
    """Both databases; PostgreSQL only where a URL is given."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--plays", type=int, default=600)
    arguments.add_argument("--postgres", help="an empty database: postgresql://…")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        asyncio.run(measure("SQLite", f"sqlite:///{path / 'nardy.sqlite3'}", path, given.plays))
        if given.postgres:
            asyncio.run(measure("PostgreSQL", given.postgres, path, given.plays))
    return 0


if __name__ == "__main__":
    sys.exit(main())
