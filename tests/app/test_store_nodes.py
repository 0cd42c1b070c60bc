"""Servers over one database: which live, since when there was none, and who is connected to whom."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import insert, select, text, update

from app.settings import Settings
from app.store import Store, open_store
from app.store import nodes as nodes_module
from app.store.tables import idempotency, nodes
from engine.turn import Seat
from tests.support.nodes import connected, cut_off, is_server
from tests.support.stores import (
    NOON,
    SECRET,
    a_new_match,
    a_playing_match,
    look,
    settings_of,
    two_players,
)

A, B = Seat.A, Seat.B


@pytest_asyncio.fixture
async def three(migrated_postgres_url: str, tmp_path: Path) -> AsyncIterator[list[Store]]:
    """Three servers on one PostgreSQL, which have not joined yet."""
    settings = settings_of(migrated_postgres_url, tmp_path)
    async with AsyncExitStack() as stack:
        opened = [await open_store(settings) for _ in range(3)]
        for store in opened:
            stack.push_async_callback(store.close)
        yield opened


async def joined(*stores: Store) -> None:
    """They serve, called by their numbers: "0", "1" …"""
    for i, store in enumerate(stores):
        await store.nodes.join(str(i), NOON)
        await store.nodes.sweep(str(i))


# ----------------------------------------------------------------------------------------------- since when none lived


async def test_of_a_new_database_nothing_is_known(store: Store) -> None:
    assert await store.nodes.join("one", NOON) is None


async def test_after_a_stop_it_is_known_when_the_server_stopped(
    store: Store, store_settings: Settings
) -> None:
    await store.nodes.join("one", NOON)
    await store.nodes.beat("one", NOON + 1_000)
    await store.nodes.leave("one", NOON + 1_500)
    await store.close()
    again = await open_store(store_settings)
    assert await again.nodes.join("two", NOON + 60_000) == NOON + 1_500
    await again.close()


async def test_after_a_crash_the_last_heartbeat_counts(store: Store, store_settings: Settings) -> None:
    await store.nodes.join("one", NOON)
    await store.nodes.beat("one", NOON + 1_000)
    await store.nodes.beat("one", NOON + 2_000)
    await store.close()
    again = await open_store(store_settings)
    assert await again.nodes.join("two", NOON + 60_000) == NOON + 2_000
    await again.nodes.sweep("two")
    await again.close()
    third = await open_store(store_settings)
    assert await third.nodes.join("three", NOON + 90_000) == NOON + 60_000
    await third.close()


async def test_while_a_server_lives_there_is_no_downtime(three: list[Store]) -> None:
    one, two, _ = three
    assert await one.nodes.join("one", NOON) is None
    assert await two.nodes.join("two", NOON + 60_000) is None
    await one.nodes.leave("one", NOON + 61_000)
    assert await one.nodes.join("three", NOON + 90_000) is None


async def test_of_servers_that_start_at_once_one_gives_the_downtime_back(three: list[Store]) -> None:
    await joined(three[0])
    await three[0].nodes.leave("0", NOON + 5)
    starts = {
        asyncio.ensure_future(store.nodes.join(f"again {i}", NOON + 99)): (store, f"again {i}")
        for i, store in enumerate(three)
    }
    done, waiting = await asyncio.wait(starts, return_when=asyncio.FIRST_COMPLETED)
    assert [start.result() for start in done] == [NOON + 5]
    await asyncio.sleep(0.2)
    assert not any(start.done() for start in waiting)  # until it has been given back, nobody else plays on
    store, name = starts[done.pop()]
    await store.nodes.sweep(name)
    assert await asyncio.gather(*waiting) == [None, None]


async def test_who_dies_over_giving_back_is_followed_by_another(three: list[Store]) -> None:
    one, two, three_ = three
    await joined(one)
    await one.nodes.leave("0", NOON + 5)
    assert await one.nodes.join("one", NOON + 99) == NOON + 5
    waiting = asyncio.ensure_future(two.nodes.join("two", NOON + 100))
    await asyncio.sleep(0.1)
    await one.close()
    assert await waiting == NOON + 5
    await two.nodes.sweep("two")
    assert await three_.nodes.join("three", NOON + 101) is None


async def test_nobody_waits_for_ever(three: list[Store], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes_module, "_PATIENCE_S", 0.1)
    await joined(three[0])
    await three[0].nodes.leave("0", NOON + 5)
    assert await three[0].nodes.join("one", NOON + 99) == NOON + 5
    assert await three[1].nodes.join("two", NOON + 99) is None


async def test_what_is_a_week_old_is_forgotten(store: Store, other_node: Store) -> None:
    match = await a_playing_match(store)
    await store.matches.create(a_new_match(match.maker), key="k")
    old = [{"id": name, "state": "serving", "heartbeat": NOON} for name in ("gone", "gone with a display")]
    await store.nodes.join("one", NOON)
    await store._database.write(lambda connection: connection.execute(insert(nodes), old))
    await store.nodes.seat_connected(match.id, A, "gone with a display")
    await other_node.nodes.join("new", NOON + 8 * 86_400_000)
    names = await look(store, lambda connection: set(connection.execute(select(nodes.c.id)).scalars()))
    # A server that lives is not forgotten; on SQLite, others are dead.
    assert names == {"gone with a display", "new"} | ({"one"} if is_server(store) else set())
    assert await look(store, lambda connection: connection.execute(select(idempotency)).all()) == []


# ------------------------------------------------------------------------------------------------------ displays


async def test_a_seat_without_a_display(store: Store) -> None:
    match = await a_playing_match(store)
    await joined(store)
    for _ in range(2):
        await store.nodes.seat_connected(match.id, A, "0")
    await store.nodes.seat_connected(match.id, B, "0")
    assert await connected(store) == {(match.id, A, "0"), (match.id, B, "0")}
    assert await store.nodes.seat_disconnected(match.id, A, "0")
    assert await store.nodes.seat_disconnected(match.id, A, "0")  # it still has none
    assert await connected(store) == {(match.id, B, "0")}
    assert await store.nodes.sweep("0") == ()


async def test_a_seat_with_displays_at_two_servers(three: list[Store]) -> None:
    one, two, _ = three
    match = await a_playing_match(one)
    await joined(one, two)
    await one.nodes.seat_connected(match.id, A, "0")
    await two.nodes.seat_connected(match.id, A, "1")
    assert not await one.nodes.seat_disconnected(match.id, A, "0")
    assert await two.nodes.seat_disconnected(match.id, A, "1")


async def test_of_servers_that_lose_the_same_seat_at_once_one_is_the_last(three: list[Store]) -> None:
    match = await a_playing_match(three[0])
    await joined(*three)
    for _ in range(20):
        for i, store in enumerate(three):
            await store.nodes.seat_connected(match.id, A, str(i))
        lost = (store.nodes.seat_disconnected(match.id, A, str(i)) for i, store in enumerate(three))
        assert sorted(await asyncio.gather(*lost)) == [False, False, True]


async def test_after_a_crash_the_next_start_sweeps(store: Store, store_settings: Settings) -> None:
    match = await a_playing_match(store)
    await joined(store)
    await store.nodes.seat_connected(match.id, A, "0")
    await store.nodes.seat_connected(match.id, B, "0")
    await store.close()
    again = await open_store(store_settings)
    await again.nodes.join("again", NOON + 9)
    await again.nodes.seat_connected(match.id, B, "again")
    assert await again.nodes.sweep("again") == ((match.id, A),)
    assert await again.nodes.sweep("again") == ()
    assert await connected(again) == {(match.id, B, "again")}
    await again.close()


async def test_the_displays_of_a_server_that_stops_are_swept(three: list[Store]) -> None:
    one, two, _ = three
    match = await a_playing_match(one)
    await joined(one, two)
    for seat in Seat:
        await one.nodes.seat_connected(match.id, seat, "0")
    await two.nodes.seat_connected(match.id, B, "1")
    assert await two.nodes.sweep("1") == ()
    await one.nodes.leave("0", NOON + 5)
    assert await two.nodes.sweep("1") == ((match.id, A),)
    assert await connected(two) == {(match.id, B, "1")}


async def test_of_servers_that_sweep_at_once_each_seat_is_told_to_one(
    three: list[Store], migrated_postgres_url: str, tmp_path: Path
) -> None:
    players = await two_players(three[0])
    matches = [await a_playing_match(three[0], players) for _ in range(12)]
    await joined(*three)
    for round_ in range(5):
        dying = [await open_store(settings_of(migrated_postgres_url, tmp_path)) for _ in range(2)]
        for i, store in enumerate(dying):
            await store.nodes.join(f"{round_}.{i}", NOON)
            for match in matches[4 * i : 4 * i + 8]:  # the middle ones have a display at both
                await store.nodes.seat_connected(match.id, A, f"{round_}.{i}")
        await asyncio.gather(*(store.close() for store in dying))
        swept: list[tuple[str, Seat]] = []

        async def sweep(i: int, swept: list[tuple[str, Seat]] = swept) -> None:
            while len(swept) < len(matches):
                swept += await three[i].nodes.sweep(str(i))

        async with asyncio.timeout(10):
            await asyncio.gather(*(sweep(i) for i in range(3)))
        assert sorted(swept) == sorted((match.id, A) for match in matches)
        assert await connected(three[0]) == set()


async def test_a_seat_lost_while_it_is_swept_elsewhere_is_told_once(
    three: list[Store], migrated_postgres_url: str, tmp_path: Path
) -> None:
    match = await a_playing_match(three[0])
    await joined(three[0], three[1])
    for i in range(15):
        dying = await open_store(settings_of(migrated_postgres_url, tmp_path))
        await dying.nodes.join(f"dying {i}", NOON)
        await dying.nodes.seat_connected(match.id, A, f"dying {i}")
        await three[0].nodes.seat_connected(match.id, A, "0")
        await dying.close()
        last, told = await asyncio.gather(
            three[0].nodes.seat_disconnected(match.id, A, "0"), three[1].nodes.sweep("1")
        )
        while await connected(three[0]):
            told += await three[1].nodes.sweep("1")
        assert [(match.id, A)] * last + list(told) == [(match.id, A)]


# ------------------------------------------------------------------------------------------------- life and death

CHILD = f"""
import asyncio, sys
from pathlib import Path
from app.settings import Settings
from app.store import open_store
from engine.turn import Seat

async def main(url, folder, match_id):
    store = await open_store(Settings(database_url=url, data_dir=Path(folder), secret_key={SECRET!r}))
    await store.nodes.join("child", {NOON})
    await store.nodes.seat_connected(match_id, Seat.A, "child")
    print("connected", flush=True)
    await asyncio.sleep(60)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_server_that_is_killed_is_swept_within_a_second(
    three: list[Store], migrated_postgres_url: str, tmp_path: Path
) -> None:
    match = await a_playing_match(three[0])
    await joined(three[0])
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CHILD, migrated_postgres_url, str(tmp_path), match.id),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert child.stdout is not None
    assert await asyncio.wait_for(child.stdout.readline(), 30) == b"connected\n"
    assert await three[0].nodes.sweep("0") == ()
    child.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    swept: tuple[tuple[str, Seat], ...] = ()
    while not swept and time.monotonic() < killed + 1:
        swept = await three[0].nodes.sweep("0")
    assert swept == ((match.id, A),)
    await child.wait()


async def test_a_server_that_was_thought_dead_comes_back(three: list[Store]) -> None:
    one, two, third = three
    match = await a_playing_match(one)
    await joined(one, two)
    await one.nodes.seat_connected(match.id, A, "0")
    await one.nodes.seat_connected(match.id, B, "0")
    await cut_off(one)
    swept: tuple[tuple[str, Seat], ...] = ()
    for _ in range(50):  # it may be back before anybody has looked
        swept += await two.nodes.sweep("1")
    assert set(swept) <= {(match.id, A), (match.id, B)}
    assert len(set(swept)) == len(swept)
    async with asyncio.timeout(5):
        while len(await connected(one)) < 2:
            pass
    for _ in range(5):
        assert await two.nodes.sweep("1") == ()
    await two.nodes.leave("1", NOON + 5)
    assert await third.nodes.join("2", NOON + 9) is None  # it lives
    assert await one.nodes.seat_disconnected(match.id, A, "0")
    assert await connected(one) == {(match.id, B, "0")}


async def test_a_display_that_goes_while_the_lock_is_lost_does_not_come_back(three: list[Store]) -> None:
    one, two, _ = three
    matches = [await a_playing_match(one) for _ in range(2)]
    await joined(one, two)
    for match in matches:
        await one.nodes.seat_connected(match.id, A, "0")
    for _ in range(5):
        await cut_off(one)
        went = asyncio.ensure_future(one.nodes.seat_disconnected(matches[0].id, A, "0"))
        assert await went
        await asyncio.sleep(0.3)
        assert await connected(one) == {(matches[1].id, A, "0")}
        await one.nodes.seat_connected(matches[0].id, A, "0")


async def test_servers_that_all_lose_the_database_do_not_sweep_each_other(three: list[Store]) -> None:
    match = await a_playing_match(three[0])
    await joined(*three)
    for i, store in enumerate(three):
        await store.nodes.seat_connected(match.id, A, str(i))
    await cut_off(*three)
    alive = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2")
    async with asyncio.timeout(5):
        while True:
            for i, store in enumerate(three):
                assert await store.nodes.sweep(str(i)) == ()
            if await look(three[0], lambda connection: connection.execute(alive).scalar_one()) == 3:
                break
    assert len(await connected(three[0])) == 3


async def test_two_rows_never_share_a_lock(three: list[Store]) -> None:
    """A number is given once, also after its row is gone."""
    await joined(*three)
    numbers = await look(
        three[0], lambda connection: connection.execute(select(nodes.c.number)).scalars().all()
    )
    assert len(set(numbers)) == 3
    await three[2].nodes.leave("2", NOON)
    old = update(nodes).where(nodes.c.id == "2").values(heartbeat=1)
    await three[0]._database.write(lambda connection: connection.execute(old))
    await three[2].nodes.join("new", NOON)
    newest = select(nodes.c.number).where(nodes.c.id == "new")
    assert await look(three[0], lambda connection: connection.execute(newest).scalar_one()) > max(numbers)
