"""Simultaneous plays of both players, counted: `python -m bench.races [--times 1000] [--postgres URL]`.

On SQLite at one server; on PostgreSQL each player at his own server, and then with every play sent to both servers.
Both plays are stored, each phase gets one roll, versions are consecutive, or it says what is wrong and exits with 1.
The database of the URL is one that may be filled; without it a throw-away server is started.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
import time
from pathlib import Path

from app.settings import Settings
from app.store import open_store, upgrade
from tests.support.postgres import running_postgres
from tests.support.races import race
from tests.support.stores import settings_of


async def _raced(settings: Settings, servers: int, times: int, *, at_all: bool) -> str:
    await upgrade(settings)
    async with contextlib.AsyncExitStack() as stack:
        stores = []
        for _ in range(servers):
            stores.append(await open_store(settings))
            stack.push_async_callback(stores[-1].close)
        began = time.perf_counter()
        done, matches = await race(stores, times, at_all=at_all)
        took = time.perf_counter() - began
    return f"{done} simultaneous plays of both in {matches} matches, {took:.1f} s: one history each"


def main() -> int:
    """Exit 1 if anything was lost, doubled or out of order."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--times", type=int, default=1_000)
    arguments.add_argument("--postgres", metavar="URL", help="a database that may be filled")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        embedded = settings_of(f"sqlite:///{folder}/nardy.sqlite3", Path(folder))
        url = given.postgres
        if url is None:
            server = stack.enter_context(running_postgres())
            url = stack.enter_context(server.fresh())
        shared = settings_of(url, Path(folder))
        for name, settings, servers, at_all in (
            ("SQLite, one server", embedded, 1, False),
            ("PostgreSQL, two servers", shared, 2, False),
            ("PostgreSQL, every play sent to both servers", shared, 2, True),
        ):
            try:
                said = asyncio.run(_raced(settings, servers, given.times, at_all=at_all))
            except (AssertionError, TimeoutError) as wrong:
                print(f"{name}: {wrong!r}")
                return 1
            print(f"{name}: {said}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
