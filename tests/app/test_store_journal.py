"""The journal: each row once, each match in order, nothing lost that was acknowledged."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import threading
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import text

from app.settings import Settings
from app.store import Store, open_store
from app.store.database import CommandSeen, NoAnswer, StoreClosed, VersionTaken
from app.store.sqlite import SqliteDatabase
from engine.match import replay
from tests.builders import a_match
from tests.support.stores import (
    LEFT,
    NOON,
    SECRET,
    a_new_match,
    a_playing_match,
    append,
    finish,
    look,
    two_players,
)


async def versions(store: Store, match_id: str) -> list[int]:
    return [row.version for row in await store.matches.events(match_id)]


async def test_what_was_appended_is_read_in_order(store: Store) -> None:
    match = await a_playing_match(store)
    played = a_match().play_until("3W")
    for version, event in enumerate(played.events):
        await store.journal.append(
            match.id,
            after=version,
            command_id=f"c{version}" if version % 2 else None,
            at=NOON + version,
            events=(event, *LEFT),
            deadline=NOON + 1000 + version,
        )
    rows = await store.matches.events(match.id)
    last = len(played.events)
    assert [row.version for row in rows] == list(range(1, last + 1))
    assert [row.events for row in rows] == [(event, *LEFT) for event in played.events]
    assert [row.command_id for row in rows][:2] == [None, "c1"]
    assert rows[1].at == NOON + 1
    assert await store.matches.events(match.id, after_version=last - 1) == rows[-1:]
    stored = await store.matches.load(match.id)
    assert stored is not None
    assert (stored.version, stored.deadline) == (last, NOON + 1000 + last - 1)


async def test_a_match_is_rebuilt_from_its_journal(store: Store) -> None:
    stored = await a_playing_match(store, id="m-0001", created_at=1_000_000, server_seed=bytes(range(32)))
    played = a_match().play_until("5K")
    for version, event in enumerate(played.events):
        await store.journal.append(
            stored.id, after=version, command_id=None, at=NOON, events=(event,), deadline=None
        )
    rows = await store.matches.events(stored.id)
    assert replay(stored.start(), (event for row in rows for event in row.events)) == played.match


async def test_only_one_can_write_a_version(store: Store, other_node: Store) -> None:
    match = await a_playing_match(store)
    nodes = [store, other_node] * 10
    done = await asyncio.gather(
        *(append(node, match, 0, f"c{i}") for i, node in enumerate(nodes)), return_exceptions=True
    )
    assert done.count(None) == 1
    assert sum(isinstance(outcome, VersionTaken) for outcome in done) == len(nodes) - 1
    assert await versions(store, match.id) == [1]
    winner = done.index(None)
    assert await other_node.matches.answer_of(match.id, f"c{winner}") == 1
    assert await other_node.matches.answer_of(match.id, "c99") is None


@pytest.mark.parametrize("after", [0, 2, 7])
async def test_a_version_that_is_not_the_next_is_refused(store: Store, after: int) -> None:
    match = await a_playing_match(store)
    await append(store, match, 0)
    with pytest.raises(VersionTaken):
        await append(store, match, after)
    assert await versions(store, match.id) == [1]


async def test_nothing_is_written_of_a_match_that_is_not_played(store: Store) -> None:
    players = await two_players(store)
    waiting = await store.matches.create(a_new_match(players.A))
    with pytest.raises(VersionTaken):
        await append(store, waiting, 0)
    over = await finish(store, await a_playing_match(store, players), 3)
    with pytest.raises(VersionTaken):
        await append(store, over, 1)
    with pytest.raises(VersionTaken):
        await store.journal.append("nobody", after=0, command_id="c", at=1, events=LEFT, deadline=None)


async def test_a_command_is_stored_once(store: Store, other_node: Store) -> None:
    match = await a_playing_match(store)
    await append(store, match, 0, "c1")
    await append(store, match, 1, "c2")
    for node in (store, other_node):
        for after in (0, 1, 2):
            with pytest.raises(CommandSeen) as seen:
                await append(node, match, after, "c1")
            assert seen.value.version == 1
    assert await versions(store, match.id) == [1, 2]
    other = await a_playing_match(store)
    await append(store, other, 0, "c1")  # the same id in another match is another command


async def test_the_same_command_sent_many_times_at_once(store: Store, other_node: Store) -> None:
    """CASES D2"""
    match = await a_playing_match(store)
    sent = (append((store, other_node)[i % 2], match, 0, "once") for i in range(20))
    done = await asyncio.gather(*sent, return_exceptions=True)
    assert done.count(None) == 1
    # To whoever was told that the version is taken, the command is known: never a play lost, never made twice.
    assert all(isinstance(outcome, CommandSeen | VersionTaken) for outcome in done if outcome is not None)
    assert await store.matches.answer_of(match.id, "once") == 1


async def test_a_poisoned_append_harms_no_stranger(store: Store) -> None:
    players = await two_players(store)
    matches = [await a_playing_match(store, players) for _ in range(30)]
    poisoned = store.journal.append(
        matches[7].id, after=0, command_id=None, at=2**70, events=LEFT, deadline=None
    )
    done = await asyncio.gather(
        *(append(store, match, 0, "c") for match in matches[:7]),
        poisoned,
        *(append(store, match, 0, "c") for match in matches[8:]),
        return_exceptions=True,
    )
    poison = done.pop(7)
    assert isinstance(poison, Exception)
    assert not isinstance(poison, NoAnswer)
    assert done == [None] * 29
    assert await versions(store, matches[7].id) == []
    assert all([await versions(store, match.id) == [1] for match in matches[:7] + matches[8:]])
    await append(store, matches[7], 0)


async def test_a_refused_append_harms_no_stranger(store: Store) -> None:
    players = await two_players(store)
    matches = [await a_playing_match(store, players) for _ in range(10)]
    await append(store, matches[3], 0, "c")
    done = await asyncio.gather(*(append(store, match, 0, "c") for match in matches), return_exceptions=True)
    assert isinstance(done.pop(3), CommandSeen)
    assert done == [None] * 9


async def test_what_waits_is_committed_together(store: Store) -> None:
    players = await two_players(store)
    matches = [await a_playing_match(store, players) for _ in range(40)]
    commits: list[str] = []
    if isinstance(store._database, SqliteDatabase):
        database, begun, go_on = store._database, threading.Event(), threading.Event()
        blocked = asyncio.ensure_future(database.write(lambda _: (begun.set(), go_on.wait(10))))
        await asyncio.to_thread(begun.wait, 10)
        database._raw.set_trace_callback(commits.append)
        waiting = asyncio.gather(*(append(store, match, 0) for match in matches))
        await asyncio.sleep(0.05)
        go_on.set()
        await asyncio.gather(waiting, blocked)
        database._raw.set_trace_callback(None)
        assert commits.count("COMMIT") <= 2  # the one that blocked, and all others
    else:
        await asyncio.gather(*(append(store, match, 0) for match in matches))
        transactions = text("SELECT count(DISTINCT xmin::text) FROM journal")
        assert await look(store, lambda connection: connection.execute(transactions).scalar_one()) == 1
    assert all([await versions(store, match.id) == [1] for match in matches])


async def test_one_match_may_wait_twice_in_one_batch(store: Store) -> None:
    match = await a_playing_match(store)
    await asyncio.gather(*(append(store, match, after) for after in range(20)))
    assert await versions(store, match.id) == list(range(1, 21))


async def test_an_append_goes_on_when_nobody_waits_any_more(store: Store) -> None:
    match = await a_playing_match(store)
    for after, ends in ((0, False), (1, True)):
        waiting = asyncio.ensure_future(
            finish(store, match, 3, after=1) if ends else append(store, match, after)
        )
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        expected = list(range(1, after + 2))
        for _ in range(500):
            if await versions(store, match.id) == expected:
                break
            await asyncio.sleep(0.01)
        assert await versions(store, match.id) == expected


async def test_what_waits_is_written_before_the_store_closes(store: Store, store_settings: Settings) -> None:
    match = await a_playing_match(store)
    closing = await open_store(store_settings)
    waiting = asyncio.gather(*(append(closing, match, after) for after in range(50)))
    await asyncio.sleep(0)
    await closing.close()
    await waiting
    assert await versions(store, match.id) == list(range(1, 51))
    with pytest.raises(StoreClosed):
        await append(closing, match, 50)
    with pytest.raises(StoreClosed):
        await closing.matches.load(match.id)
    await closing.close()


CHILD = """
import asyncio, sys
from pathlib import Path
from app.store import open_store
from tests.support.stores import a_playing_match, append, settings_of

async def main() -> None:
    store = await open_store(settings_of(sys.argv[1], Path(sys.argv[2])))
    matches = [await a_playing_match(store, id=f"m{i}", code=None) for i in range(8)]

    async def play(match) -> None:
        for after in range(100_000):
            await append(store, match, after, f"c{after}")
            print(match.id, after + 1, flush=True)

    await asyncio.gather(*map(play, matches))

asyncio.run(main())
"""


async def test_a_killed_server_loses_nothing_that_it_acknowledged(store_settings: Settings) -> None:
    folder = Path(__file__).parents[2]
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        CHILD,
        store_settings.database_url,
        str(store_settings.data_dir),
        stdout=asyncio.subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )
    assert child.stdout is not None
    said = [await child.stdout.readline() for _ in range(400)]
    child.kill()
    said += (await child.communicate())[0].splitlines()
    acknowledged: dict[str, int] = {}
    for line in said:
        if len(line.split()) == 2:  # the last may have been cut off
            match_id, version = line.decode().split()
            acknowledged[match_id] = max(acknowledged.get(match_id, 0), int(version))
    assert len(acknowledged) == 8
    store = await open_store(store_settings)
    try:
        for match_id, version in acknowledged.items():
            match = await store.matches.load(match_id)
            assert match is not None
            stored = await versions(store, match_id)
            assert stored == list(range(1, match.version + 1))
            assert version <= match.version <= version + 1  # written, but not yet acknowledged
            await append(store, match, match.version)
    finally:
        await store.close()


async def test_sqlite_syncs_every_commit_to_disk(sqlite_url: str, tmp_path: Path) -> None:
    store = await open_store(Settings(database_url=sqlite_url, data_dir=tmp_path, secret_key=SECRET))
    try:
        pragma = {}
        for name in ("journal_mode", "synchronous", "foreign_keys"):
            asked = f"PRAGMA {name}"
            pragma[name] = await store._database.write(lambda c, q=asked: c.exec_driver_sql(q).scalar())
        assert pragma == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    finally:
        await store.close()


async def test_while_another_program_holds_the_file_nothing_is_written(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.sqlite._PATIENCE_S", 0.05)
    settings = Settings(database_url=sqlite_url, data_dir=tmp_path, secret_key=SECRET)
    store = await open_store(settings)
    assert settings.sqlite_file is not None
    holder = sqlite3.connect(settings.sqlite_file, isolation_level=None)
    try:
        players = await two_players(store)
        matches = [await a_playing_match(store, players) for _ in range(50)]
        holder.execute("BEGIN IMMEDIATE")
        appends = (append(store, match, 0, "c") for match in matches)
        async with asyncio.timeout(2):  # not one patience for each
            done = await asyncio.gather(*appends, return_exceptions=True)
        assert {type(outcome) for outcome in done} == {sqlite3.OperationalError}
        assert await store.matches.load(matches[0].id) == matches[0]  # reading goes on
        holder.execute("ROLLBACK")
        await asyncio.gather(*(append(store, match, 0, "c") for match in matches))
    finally:
        holder.close()
        await store.close()


async def test_after_a_lost_connection_the_journal_goes_on(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    store = await open_store(
        Settings(database_url=migrated_postgres_url, data_dir=tmp_path, secret_key=SECRET)
    )
    killer = await asyncpg.connect(migrated_postgres_url)
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    try:
        players = await two_players(store)
        matches = [await a_playing_match(store, players) for _ in range(8)]

        async def play(index: int) -> None:
            for after in range(60):
                await append(store, matches[index], after, f"c{after}")

        playing = asyncio.gather(*map(play, range(8)))
        for _ in range(5):
            await asyncio.sleep(0.02)
            await killer.execute(kill)
        await playing
        for match in matches:
            assert await versions(store, match.id) == list(range(1, 61))
        await killer.execute(kill)
        assert (await finish(store, matches[0], 5, after=60)).state == "over"
    finally:
        await killer.close()
        await store.close()


async def test_a_stored_row_is_known_again_when_the_answer_was_lost(
    migrated_postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CASES D3. The commit went through, the connection broke before its answer came."""
    store = await open_store(
        Settings(database_url=migrated_postgres_url, data_dir=tmp_path, secret_key=SECRET)
    )
    try:
        match = await a_playing_match(store)
        other = await a_playing_match(store)
        real, broken = store._database._committed, []  # type: ignore[attr-defined]

        async def answer_lost(appends: list[object]) -> object:
            outcome = await real(appends)
            if len(broken) < 2:
                broken.append(appends)
                raise asyncpg.ConnectionDoesNotExistError("the answer was lost")
            return outcome

        monkeypatch.setattr(store._database, "_committed", answer_lost)
        await append(store, match, 0)  # alone
        await asyncio.gather(append(store, match, 1, "c"), append(store, other, 0))  # and in company
        assert len(broken) == 2
        assert await versions(store, match.id) == [1, 2]
        with pytest.raises(VersionTaken):
            await store.journal.append(match.id, after=1, command_id="d", at=NOON, events=LEFT, deadline=None)
    finally:
        await store.close()


async def test_due_are_matches_whose_deadline_has_passed(store: Store) -> None:
    players = await two_players(store)
    late, soon, free = [await a_playing_match(store, players) for _ in range(3)]
    for match, deadline in ((late, NOON + 1), (soon, NOON + 2), (free, None)):
        await store.journal.append(
            match.id, after=0, command_id=None, at=NOON, events=LEFT, deadline=deadline
        )
    assert await store.matches.due(NOON, 10) == ()
    assert await store.matches.due(NOON + 1, 10) == (late.id,)
    assert await store.matches.due(NOON + 5, 10) == (late.id, soon.id)
    assert await store.matches.due(NOON + 5, 1) == (late.id,)
    await finish(store, late, 0, after=1)
    assert await store.matches.due(NOON + 5, 10) == (soon.id,)
    assert set(await store.matches.unfinished_ids()) == {soon.id, free.id}
