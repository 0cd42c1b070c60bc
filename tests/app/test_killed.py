"""A server that is killed loses nothing it has acknowledged, and flags fall with nobody there."""

from __future__ import annotations

import asyncio
import random
import signal
from pathlib import Path

import pytest

from app.settings import Settings
from app.store import open_store
from tests.support.forks import forks
from tests.support.process import a_process, free_port
from tests.support.server import LiveServer, first_way, owes, person, running_server, seated
from tests.support.stubborn import Stubborn, check_history, pairs


async def test_a_play_that_was_acknowledged_survives_kill_9(store_settings: Settings) -> None:
    """CASES D9"""
    port = free_port()
    server = LiveServer(f"http://127.0.0.1:{port}", None, store_settings)
    async with a_process(store_settings, port) as process:
        async with seated(server) as (match_id, anna, boris, a, _b):
            moves = first_way(a.view["mine"]["steps"])
            answer = await a.play(moves, "1W", id="acked")
            process.send_signal(signal.SIGKILL)
            assert answer["type"] == "accepted"
            cookies, roll = (anna.http.cookies, boris.http.cookies), a.view["roll"]
        await process.wait()
    await asyncio.sleep(1.0)
    async with a_process(store_settings, port), person(server, None) as anna, person(server, None) as boris:
        anna.http.cookies, boris.http.cookies = cookies
        async with anna.display(match_id) as a, boris.display(match_id) as b:
            view = await b.until_view(lambda v: v["seats"]["A"]["connected"])
            assert view["roll"] == roll
            assert view["seats"]["A"]["state"] == "played"
            thinking = view["seats"]["B"]["flag_at"] - view["shown_at"]
            assert thinking == 252_000, "the clock starts with the dice, and downtime has moved both alike"
            assert (await a.play(moves, "1W", id="acked"))["type"] == "accepted", (
                "asked again, answered as before"
            )
            assert owes(b.view)
            await b.play_something()
            await a.until_view(lambda v: v["turn"] == "1K")


KILLS = 16


async def test_killed_at_any_moment_nothing_is_lost(store_settings: Settings) -> None:
    """CASES D9, D3. Matches are played on over kill after kill; a play without an answer is sent again with its id."""
    chance, kills, everyone = random.Random(20190601), 0, list[Stubborn]()
    port = free_port()
    async with forks(store_settings, port) as server:
        await server.start()
        here = LiveServer(server.url, None, store_settings)
        while kills < KILLS:
            async with pairs(here, 3) as players, asyncio.timeout(60):
                everyone += players
                playing = [asyncio.create_task(player.play_on()) for player in players]
                while kills < KILLS and not all(player.is_over for player in players):
                    await asyncio.sleep(chance.uniform(0.02, 0.3))
                    assert await server.kill() == -signal.SIGKILL
                    kills += 1
                    await server.start()
                for player in players:
                    player.has_had_enough = True
                await asyncio.gather(*playing)
        assert await server.kill(signal.SIGTERM) == 0
    store = await open_store(store_settings)
    assert await check_history(store, everyone) > 100
    await store.close()
    assert sum(player.lost for player in everyone) >= KILLS
    assert not any(player.waiting for player in everyone)


async def test_downtime_is_nobodys_thinking(store_settings: Settings, tmp_path: Path) -> None:
    """CASES D9: it is not charged."""
    url = store_settings.database_url
    async with running_server(url, tmp_path / "data") as server:
        async with seated(server) as (match_id, anna, _, a, _b):
            before, cookies = a.view, anna.http.cookies
    await asyncio.sleep(1.5)
    async with running_server(url, tmp_path / "data") as server, person(server, None) as anna:
        anna.http.cookies = cookies
        after = await anna.get(f"/api/matches/{match_id}/view")
        moved = after["shown_at"] - before["shown_at"]
        assert moved >= 1_400, "the dice count as shown that much later"
        assert after["seats"]["A"]["flag_at"] - before["seats"]["A"]["flag_at"] == moved
        assert after["seats"]["A"]["bank_ms"] == before["seats"]["A"]["bank_ms"]


QUICK_CLOCK = {"clock": {"bank_ms": 1500, "delay_ms": 0}, "grace_s": 1, "absence_s": 60}


async def test_a_flag_falls_with_no_browser_connected(store_settings: Settings, tmp_path: Path) -> None:
    """CASES E1"""
    async with running_server(store_settings.database_url, tmp_path / "data") as server:
        async with seated(server, QUICK_CLOCK) as (match_id, anna, _, a, b):
            await a.play_something()
            await b.play_something()
            view = await a.until_view(lambda v: v["turn"] == "1K" and owes(v))
            await b.until_view(lambda v: v["turn"] == "1K" and owes(v))
            await a.play_something()
            zero = view["seats"]["B"]["flag_at"]
            cookies = anna.http.cookies
        async with person(server, None) as anna:
            anna.http.cookies = cookies
            async with asyncio.timeout(8):
                while (over := await anna.get(f"/api/matches/{match_id}/view"))["stage"] != "over":
                    assert all(seat["bank_ms"] >= 0 for seat in over["seats"].values())
                    await asyncio.sleep(0.05)
            assert over["result"]["outcome"] == "time"
            assert over["result"]["by"] == "B"
            info = await anna.get(f"/api/matches/{match_id}")
            assert 0 <= info["finished_at"] - zero <= 3_500, (
                "zero, one grace of a second, a second for the lag"
            )


async def test_both_gone_ends_by_itself(store_settings: Settings, tmp_path: Path) -> None:
    """CASES F4. A deterministic result, and the match leaves the lists."""
    rules = {"grace_s": 0, "absence_s": 1}
    async with running_server(store_settings.database_url, tmp_path / "data") as server:
        async with seated(server, rules) as (match_id, anna, _, a, b):
            await a.play_something()
            await b.play_something()
            await a.until_view(lambda v: v["turn"] == "1K")
            cookies = anna.http.cookies
            await a.connection.close()
            await asyncio.sleep(0.1)
            await b.connection.close()
        async with person(server, None) as anna:
            anna.http.cookies = cookies
            async with asyncio.timeout(8):
                while (over := await anna.get(f"/api/matches/{match_id}/view"))["stage"] != "over":
                    await asyncio.sleep(0.05)
            assert (over["result"]["outcome"], over["result"]["by"]) == ("abandoned", "A")
            assert (await anna.get("/api/lobby"))["mine"] == []


@pytest.mark.parametrize("field", ["at", "now", "thought_ms", "clock"])
async def test_a_time_from_the_browser_is_no_time(server: LiveServer, field: str) -> None:
    """CASES E4. A message with a time in it is refused; nothing else is asked of the browser."""
    async with seated(server) as (_, _, _, a, _b):
        before = a.view
        answer = await a.ask(type="play", turn="1W", moves=first_way(a.view["mine"]["steps"]), **{field: 1})
        assert answer["problem"]["code"] == "bad-message"
        assert a.view == before
