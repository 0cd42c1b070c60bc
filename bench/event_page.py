"""What the page of an event costs the server: everybody looks on, and something changes.

A Swiss of so many entrants in its fifth round. Each entrant's page asks for the event and its standing, as pages do
after a change; the answers are made by the whole application, without sockets.
`python -m bench.event_page [--entrants 200]`.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from app.settings import Settings
from app.store import open_store
from engine.competition import commands as c
from tests.support.competing import Hand
from tests.support.server import LiveServer, running_server


async def prepared(url: str, folder: Path, entrants: int) -> tuple[str, str, list[str]]:
    """The event, who made it, and its players."""
    store = await open_store(
        Settings(database_url=url, data_dir=folder / "data", secret_key="a key for tests only")
    )
    try:
        hand = Hand(store)
        hand.now = time.time_ns() // 1_000_000
        players = await hand.announce(entrants, stages=[{"kind": "swiss", "rounds": 7}])
        await hand.service.start(hand.id, actor=hand.boss)
        for _ in range(4):
            await hand.play_round()
        await hand.open_round()
        return hand.id, hand.boss, players
    finally:
        await store.close()


class Viewer:
    """An open page of somebody's."""

    def __init__(self, server: LiveServer, account: str, event: str) -> None:
        self._app = server.app
        cookie = f"nardy={server.services.sessions._serializer.dumps(account)}"
        self._headers = [(b"host", b"bench"), (b"cookie", cookie.encode())]
        self._event = event

    async def get(self, path: str) -> bytes:
        """The body of an answer."""
        where, _, query = f"/api/competitions/{self._event}{path}".partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": where,
            "raw_path": where.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": self._headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "app": self._app,
        }
        parts: list[bytes] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                assert message["status"] == 200, message
            parts.append(message.get("body", b""))

        await self._app(scope, receive, send)
        return b"".join(parts)

    async def look(self) -> float:
        """All that a page asks for after a change: how long it took (ms)."""
        began = time.perf_counter()
        await self.get("")
        await self.get("/standings?stage=1")
        return (time.perf_counter() - began) * 1000


async def measure(entrants: int) -> None:
    """One event, looked at by all its entrants."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'bench.sqlite3'}"
        event, boss, players = await prepared(url, folder, entrants)
        async with running_server(url, folder / "data") as server:
            viewers = [Viewer(server, player, event) for player in players]
            competitions = server.services.competitions
            await asyncio.sleep(8)  # the boards of the round are made
            size = len(await viewers[0].get(""))

            async def alone() -> float:
                began = time.perf_counter()
                await viewers[0].get("")
                return (time.perf_counter() - began) * 1000

            async def change(n: int) -> None:
                await competitions.act(event, lambda at: c.Penalise(1, boss, f"bench {n}", at, 1), actor=boss)

            print(f"{entrants} entrants, {size / 1024:.0f} KiB")
            views = [await alone() for _ in range(30)]
            print(f"one view, nothing changed: {statistics.median(views):.1f} ms")
            first = []
            for n in range(5):
                await change(n)
                first.append(await alone())
            print(f"the first view after a change: {statistics.median(first):.1f} ms")
            for n in range(3):
                await change(n + 10)
                began, busy = time.perf_counter(), time.process_time()
                took = await asyncio.gather(*(viewer.look() for viewer in viewers))
                total, busy = time.perf_counter() - began, time.process_time() - busy
                print(
                    f"{len(viewers)} pages after one change: {total:.2f} s, {busy:.2f} s of CPU; "
                    f"a page p50 {statistics.median(took):.0f} ms, worst {max(took):.0f} ms"
                )


def main() -> None:
    """The figures of one machine and one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entrants", type=int, default=200)
    asyncio.run(measure(parser.parse_args().entrants))


if __name__ == "__main__":
    main()
