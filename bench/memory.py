"""What a display and a live match weigh, and whether finished matches leave anything behind.

    python -m bench.memory [--matches 500] [--postgres [URL]]

The resident memory of a server in a process of its own, step by step. The last steps play whole lots of matches to
their end, one lot after the other: A gives up in the second round. What a later lot adds is what stays for good.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import resource
import sys
import tempfile
from pathlib import Path

import uvloop

from bench.wire import Pair, Server, a_player, a_server, databases, pairs, postgres_argument

LOTS = 4


async def to_the_end(pair: Pair) -> None:
    """One round is played, and in the next A gives up."""
    while not pair.is_over:
        view = pair.a.view
        assert view is not None
        if view.turn in ("1W", "1K") or not pair.a.owes:
            await pair.play()
            continue
        assert view.mine is not None
        assert view.mine.resign is not None
        await pair.a.ask("up", type="resign", turn=view.turn, points=view.mine.resign.points)
        await asyncio.gather(*(player.until(lambda v: v.stage == "over") for player in (pair.a, pair.b)))


async def weight(server: Server) -> int:
    """Bytes, once things have come to rest."""
    await asyncio.sleep(2.0)
    return server.memory()


async def measure(name: str, url: str, folder: Path, number: int) -> None:
    """One server from its start to its end."""
    async with a_server(url, folder) as server:
        async with pairs(server, number) as warm:
            await asyncio.gather(*map(to_the_end, warm))
        empty = await weight(server)
        print(f"{name}: empty again after {number} matches {empty / 2**20:.1f} MiB", flush=True)
        async with pairs(server, number) as playing:
            full = await weight(server)
            print(
                f"  a live match with both its displays: {(full - empty) / number / 1024:.1f} KiB", flush=True
            )
            async with contextlib.AsyncExitStack() as stack:
                for pair in playing:
                    await stack.enter_async_context(a_player(server, pair.match, None, ""))
                watched = await weight(server)
                print(f"  an idle display: {(watched - full) / number / 1024:.1f} KiB", flush=True)
            await asyncio.gather(*map(to_the_end, playing))
        before = await weight(server)
        print(f"  {number} of them finished: {before / 2**20:.1f} MiB", flush=True)
        for _ in range(LOTS):
            async with pairs(server, number) as playing:
                await asyncio.gather(*map(to_the_end, playing))
            after = await weight(server)
            grown = (after - before) / number / 1024
            print(f"  {number} more: {after / 2**20:.1f} MiB, {grown:+.2f} KiB a match", flush=True)
            before = after


def main() -> int:
    """SQLite, and PostgreSQL where a URL is given."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--matches", type=int, default=500)
    postgres_argument(arguments)
    given = arguments.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with tempfile.TemporaryDirectory() as folder, databases(Path(folder), given.postgres) as found:
        for name, url in found:
            uvloop.run(measure(name, url, Path(folder), given.matches))
    return 0


if __name__ == "__main__":
    sys.exit(main())
