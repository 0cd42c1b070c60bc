"""The database is away for some seconds while the servers live: nobody loses by it (§8.5)."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import WebSocketException

from app.settings import Settings
from engine.match import TimeGivenBack
from tests.support.races import history_of
from tests.support.relay import a_relay
from tests.support.server import LiveServer, Person, first_way, owes, person, running_server, seated, up_to_b
from tests.support.stubborn import message_of

BANK_MS = 1_500
CLOCK = {"clock": {"type": "simple", "bank_ms": BANK_MS, "delay_ms": 0}, "grace_s": 0, "absence_s": 60}
Outage = Callable[[], contextlib.AbstractAsyncContextManager[None]]


@contextlib.asynccontextmanager
async def _a_server(
    settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[LiveServer, Outage]]:
    """A server, and how its database is away for a while: PostgreSQL is stopped, or the file is held by another."""
    file = settings.sqlite_file
    if file is not None:
        monkeypatch.setattr("app.store.sqlite._PATIENCE_S", 0.3)

        @contextlib.asynccontextmanager
        async def held() -> AsyncIterator[None]:
            other = sqlite3.connect(file, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")
            other.close()

        async with running_server(settings.database_url, folder / "data") as server:
            yield server, held
        return

    async with a_relay(settings.database_url, folder / "relay") as relay:

        @contextlib.asynccontextmanager
        async def stopped() -> AsyncIterator[None]:
            await relay.cut()
            yield
            await relay.open()

        async with running_server(relay.url, folder / "data") as server:
            yield server, stopped


async def _given_back(server: LiveServer, match_id: str) -> int:
    rows = await server.services.matches._store.matches.events(match_id)
    return sum(event.ms for row in rows for event in row.events if isinstance(event, TimeGivenBack))


async def test_a_flag_that_fell_due_while_the_database_was_away_waits_for_the_player(
    store_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CASES D9, E1: he could not have played, so the time is given back, and then he plays."""
    async with (
        _a_server(store_settings, tmp_path, monkeypatch) as (server, outage),
        up_to_b(server, CLOCK) as up,
    ):
        match_id, _, boris, a, b = up
        began, zero = time.monotonic(), b.view["seats"]["B"]["flag_at"]
        async with outage():
            await asyncio.sleep(5.0)
        away_ms = (time.monotonic() - began) * 1000
        async with boris.display(match_id) as again:  # at once, as a page does: the first to be heard of
            view = await again.until_view(
                lambda v: v["seats"]["B"]["flag_at"] != zero or v["stage"] == "over", 15
            )
            assert view["result"] is None
            moved = view["seats"]["B"]["flag_at"] - zero
            assert 3_000 < moved < away_ms + 2_500
            assert (await again.play(first_way(view["mine"]["steps"]), "1K"))["type"] == "accepted"
            view = await again.until_view(lambda v: v["turn"] != "1K")
            assert view["seats"]["B"]["charged_ms"] < BANK_MS
        await a.until_view(lambda v: v["turn"] != "1K")
        assert await _given_back(server, match_id) >= moved


async def test_servers_that_were_all_without_the_database_give_the_same_time_back_once(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    """CASES D9: each of them knows of it, and finds what the other has given back already."""
    async with a_relay(migrated_postgres_url, tmp_path / "relay") as relay:
        async with (
            running_server(relay.url, tmp_path / "one") as one,
            running_server(relay.url, tmp_path / "two") as two,
            up_to_b(one, CLOCK) as (match_id, _, boris, a, b),
            person(two, None) as elsewhere,
        ):
            elsewhere.http.cookies = boris.http.cookies
            async with elsewhere.display(match_id) as away:
                await away.until(lambda: away.view)
                began, zero = time.monotonic(), b.view["seats"]["B"]["flag_at"]
                await relay.cut()
                await asyncio.sleep(4.5)
                await relay.open()
                back_ms = (time.monotonic() - began) * 1000
                view = await a.until_view(lambda v: v["stage"] == "over", 20)
                assert (view["result"]["outcome"], view["result"]["by"]) == ("time", "B")
            found = await history_of(one.services.matches._store, match_id)
            given = await _given_back(one, match_id)
            assert 2_500 < given < back_ms + 2_500
            assert found.ended is not None
            assert found.ended.at == zero + given


async def test_who_does_not_play_after_an_outage_loses_on_time_all_the_same(
    store_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CASES D9, E1: the flag falls once, by the time that was given back later, and with no browser connected."""
    async with (
        _a_server(store_settings, tmp_path, monkeypatch) as (server, outage),
        up_to_b(server, CLOCK) as up,
    ):
        match_id, _, boris, a, b = up
        zero = b.view["seats"]["B"]["flag_at"]
        async with outage():
            await b.connection.close()
            await asyncio.sleep(4.5)
        view = await a.until_view(lambda v: v["stage"] == "over", 20)
        assert (view["result"]["outcome"], view["result"]["by"]) == ("time", "B")
        found = await history_of(server.services.matches._store, match_id)
        assert found.ended is not None
        assert found.ended.at == zero + await _given_back(server, match_id)
        assert await _given_back(server, match_id) > 2_500
        info = await boris.get(f"/api/matches/{match_id}")
        assert info["finished_at"] >= found.ended.at


async def test_plays_made_while_the_database_was_away_are_stored_and_the_new_dice_cost_nothing_before_they_are_seen(
    store_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CASES D3, D9, §7.1: a phase that nobody could be shown is not thought about."""
    async with _a_server(store_settings, tmp_path, monkeypatch) as (server, outage):
        async with seated(server) as (match_id, anna, boris, a, b):
            ways = [first_way(display.view["mine"]["steps"]) for display in (a, b)]
            async with outage():
                for display, way in zip((a, b), ways, strict=True):
                    await display.send(type="play", id="away", turn="1W", moves=way)
                await asyncio.sleep(4.5)
            back = time.time() * 1000
            for who, way in zip((anna, boris), ways, strict=True):
                await _played(who, match_id, way)
            view = await anna.get(f"/api/matches/{match_id}/view")
            for _ in range(200):  # what was not answered is given back within a few seconds
                if view["shown_at"] > back - 1_000:
                    break
                await asyncio.sleep(0.05)
                view = await anna.get(f"/api/matches/{match_id}/view")
            assert view["shown_at"] > back - 1_000, (
                f"{back - view['shown_at']} ms of thinking before it was seen"
            )
            assert view["turn"] != "1W"
            store = server.services.matches._store
            rows = await store.matches.events(match_id)
            assert sum((row.command_id or "").split(":")[1:2] == ["away"] for row in rows) == 2
            await history_of(store, match_id)


async def _played(who: Person, match_id: str, way: Any) -> None:
    """A page comes back, until what it sends again with its id is answered."""
    for _ in range(20):
        with contextlib.suppress(OSError, TimeoutError, Exception):
            async with who.display(match_id) as again:
                await again.until(lambda: again.view)
                assert (await again.play(way, "1W", id="away"))["type"] == "accepted"
                return
        await asyncio.sleep(0.2)
    raise AssertionError("it was never answered")


async def test_a_server_that_alone_is_without_the_database_loses_nothing_and_misses_nothing(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    """CASES D9: the other goes on, and what was sent to the one is stored once it can be."""
    async with a_relay(migrated_postgres_url, tmp_path / "relay") as relay:
        async with (
            running_server(relay.url, tmp_path / "one") as one,
            running_server(migrated_postgres_url, tmp_path / "two") as two,
            seated(one) as (match_id, anna, boris, a, _),
            person(two, None) as elsewhere,
        ):
            elsewhere.http.cookies = boris.http.cookies
            async with elsewhere.display(match_id) as b:
                await b.until_view(owes)
                await relay.cut()
                moves = first_way(a.view["mine"]["steps"])
                await a.send(type="play", id="once", turn="1W", moves=moves)
                assert (await b.play(first_way(b.view["mine"]["steps"]), "1W"))["type"] == "accepted"
                await asyncio.sleep(4.0)
                assert b.view["turn"] == "1W"
                await relay.open()
                async with asyncio.timeout(20):
                    while True:
                        with contextlib.suppress(AssertionError, OSError, TimeoutError, WebSocketException):
                            async with anna.display(match_id) as again:  # as a page does, until it is heard
                                assert (await again.play(moves, "1W", id="once"))["type"] == "accepted"
                                view = await again.until_view(lambda v: v["turn"] == "1K")
                                break
                        await asyncio.sleep(0.2)
                assert await b.until_view(lambda v: v["turn"] == "1K" and v["roll"] == view["roll"], 10)
            rows = await two.services.matches._store.matches.events(match_id, 0)
            commands = [message_of(row.command_id) for row in rows if row.command_id]
            assert commands.count("A:once") == 1
            assert len(commands) == len(set(commands))
            assert [row.version for row in rows] == list(range(1, len(rows) + 1))
