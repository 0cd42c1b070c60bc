"""What servers over one PostgreSQL hear of each other: hints, soon, and none of one's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text

from app.store import Store, open_store
from app.store.database import CommandSeen
from engine.plays import Hop
from engine.turn import Seat, Turn
from tests.support.nodes import cut_off, until
from tests.support.stores import NOON, a_playing_match, append, finish, look, settings_of, two_players

A, B = Seat.A, Seat.B
ROUND_3_BLACK = Turn(3, black=True)
BAR_AND_OFF = (Hop(25, 22), Hop(4, 0))


class Node:
    """A server that writes down what it hears."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name
        self.changes: list[tuple[str, int | None]] = []
        self.drafts: list[tuple[str, Seat, Turn, tuple[Hop, ...]]] = []
        self.gaps = 0

    async def listen(self) -> None:
        def gap() -> None:
            self.gaps += 1

        await self.store.notices.listen(
            self.name,
            lambda match_id, version: self.changes.append((match_id, version)),
            lambda *draft: self.drafts.append(draft),
            gap,
        )


@pytest_asyncio.fixture
async def pair(migrated_postgres_url: str, tmp_path: Path) -> AsyncIterator[tuple[Node, Node]]:
    """Two servers on one PostgreSQL that listen to each other."""
    settings = settings_of(migrated_postgres_url, tmp_path)
    both = Node(await open_store(settings), "one"), Node(await open_store(settings), "two")
    for node in both:
        await node.listen()
    yield both
    for node in both:
        await node.store.close()


async def heard_all(node: Node, by: Node) -> None:
    """All that `by` has said until now has been heard by `node`."""
    await by.store.notices.changed("that-was-all")
    await until(lambda: ("that-was-all", None) in node.changes)
    node.changes.remove(("that-was-all", None))


# ------------------------------------------------------------------------------------------------------- what is said


async def test_the_other_server_hears_of_a_row_and_its_writer_does_not(pair: tuple[Node, Node]) -> None:
    one, two = pair
    match = await a_playing_match(one.store)
    await append(one.store, match, 0)
    await append(two.store, match, 1)
    await until(lambda: two.changes and one.changes)
    assert two.changes == [(match.id, 1)]
    assert one.changes == [(match.id, 2)]
    await heard_all(one, by=two)
    await heard_all(two, by=one)
    assert (len(one.changes), len(two.changes)) == (1, 1)


async def test_of_rows_committed_together_each_is_heard_of(pair: tuple[Node, Node]) -> None:
    one, two = pair
    players = await two_players(one.store)
    matches = [await a_playing_match(one.store, players) for _ in range(50)]
    await asyncio.gather(*(append(one.store, match, 0) for match in matches))
    await until(lambda: len(two.changes) == 50)
    assert sorted(two.changes) == sorted((match.id, 1) for match in matches)


async def test_the_last_row_of_a_match_is_heard_of(pair: tuple[Node, Node]) -> None:
    one, two = pair
    match = await a_playing_match(one.store)
    await finish(one.store, match, 3)
    await until(lambda: two.changes)
    assert two.changes == [(match.id, 1)]


async def test_of_what_is_refused_nothing_is_heard(pair: tuple[Node, Node]) -> None:
    one, two = pair
    match = await a_playing_match(one.store)
    await append(one.store, match, 0, "c")
    with pytest.raises(CommandSeen):
        await append(one.store, match, 1, "c")
    await heard_all(two, by=one)
    assert two.changes == [(match.id, 1)]


async def test_what_is_heard_of_is_stored(pair: tuple[Node, Node]) -> None:
    one, two = pair
    match = await a_playing_match(one.store)
    seen = []
    for version in range(10):
        await append(one.store, match, version)
        await until(lambda version=version: (match.id, version + 1) in two.changes)  # type: ignore[misc]
        seen.append((await two.store.matches.versions([match.id]))[match.id])
    assert seen == list(range(1, 11))


async def test_something_around_a_match_has_changed(pair: tuple[Node, Node]) -> None:
    one, two = pair
    await one.store.notices.changed("m-1")
    await until(lambda: two.changes)
    assert two.changes == [("m-1", None)]
    assert one.changes == []


async def test_what_is_said_last_is_sent_before_the_store_is_closed(pair: tuple[Node, Node]) -> None:
    one, two = pair
    await one.store.notices.changed("m-1")
    one.store.notices.draft("m-1", A, Turn(1), ())
    one.store.notices.draft("m-1", A, Turn(1), BAR_AND_OFF)
    await one.store.notices.stop()
    await one.store.close()
    await until(lambda: len(two.drafts) == 2)
    assert two.drafts[-1] == ("m-1", A, Turn(1), BAR_AND_OFF)
    assert two.changes == [("m-1", None)]


async def test_after_a_stop_nothing_is_heard(pair: tuple[Node, Node]) -> None:
    one, two = pair
    await two.store.notices.stop()
    await one.store.notices.changed("m-1")
    await one.listen()  # it takes longer than to hear
    await asyncio.sleep(0.05)
    assert two.changes == []


async def test_what_is_not_understood_harms_nothing(
    pair: tuple[Node, Node], caplog: pytest.LogCaptureFixture
) -> None:
    one, two = pair
    said = [
        "",
        ":",
        "new:kind:of:notice:altogether",
        "m-1:seven",
        "m-1:C:3W:",
        "m-1:A:3W:24",
        "m-1:A:W:24/20",
    ]
    for notice in said:
        one.store._database.notify(notice)
    await look(one.store, lambda connection: connection.execute(text("SELECT pg_notify('nardy', '')")).all())
    await heard_all(two, by=one)
    assert two.drafts == []
    assert caplog.text.count("was not understood") >= 3


async def test_a_callback_that_fails_hears_the_next_one(pair: tuple[Node, Node]) -> None:
    one, two = pair
    heard: list[str] = []

    def fails(match_id: str, _version: int | None) -> None:
        heard.append(match_id)
        raise ZeroDivisionError

    await two.store.notices.stop()
    await two.store.notices.listen("two", fails, lambda *_: None, lambda: None)
    for match_id in ("m-1", "m-2"):
        await one.store.notices.changed(match_id)
    await until(lambda: heard == ["m-1", "m-2"])


# ------------------------------------------------------------------------------------------------------------- drafts


async def test_a_draft_is_heard_as_it_was_made(pair: tuple[Node, Node]) -> None:
    one, two = pair
    one.store.notices.draft("m-1", B, ROUND_3_BLACK, BAR_AND_OFF)
    two.store.notices.draft("m-1", A, Turn(1), ())
    await until(lambda: one.drafts and two.drafts)
    assert two.drafts == [("m-1", B, ROUND_3_BLACK, BAR_AND_OFF)]
    assert one.drafts == [("m-1", A, Turn(1), ())]


async def test_of_many_drafts_ten_a_second_and_the_last_are_heard(pair: tuple[Node, Node]) -> None:
    one, two = pair
    clock = asyncio.get_running_loop().time
    began, last = clock(), (Hop(24, 23),)
    while clock() < began + 0.45:
        last = (Hop(24, 23 if last[0].end == 22 else 22),)
        one.store.notices.draft("m-1", A, Turn(1), last)
        await asyncio.sleep(0.002)
    await asyncio.sleep(0.15)
    took = clock() - began
    await heard_all(two, by=one)
    assert 3 <= len(two.drafts) <= took / 0.1 + 1
    assert two.drafts[-1] == ("m-1", A, Turn(1), last)
    for seat in Seat:  # rested, and each seat has its own measure
        one.store.notices.draft("m-1", seat, Turn(2), ())
    one.store.notices.draft("m-2", A, Turn(2), ())
    await heard_all(two, by=one)
    assert len([draft for draft in two.drafts if draft[2] == Turn(2)]) == 3


async def test_drafts_are_stored_nowhere(pair: tuple[Node, Node]) -> None:
    one, two = pair
    match = await a_playing_match(one.store)
    one.store.notices.draft(match.id, A, Turn(1), BAR_AND_OFF)
    await until(lambda: two.drafts)
    assert await two.store.matches.events(match.id) == ()
    assert await two.store.matches.versions([match.id]) == {match.id: 0}


# --------------------------------------------------------------------------------------------------------- what is lost


async def test_after_a_lost_connection_a_server_knows_that_it_may_have_missed_something(
    pair: tuple[Node, Node],
) -> None:
    one, two = pair
    match = await a_playing_match(one.store)
    for times in range(1, 4):
        await cut_off(two.store)
        await append(one.store, match, times - 1)
        await until(lambda times=times: two.gaps == times)  # type: ignore[misc]
        versions = await two.store.matches.versions([match.id])
        assert versions[match.id] == times  # by now: told, or found by comparing
    await append(one.store, match, 3)
    await until(lambda: (match.id, 4) in two.changes)
    assert one.gaps == 0


async def test_the_lock_and_the_ear_come_back_together(pair: tuple[Node, Node]) -> None:
    one, two = pair
    for node in pair:
        await node.store.nodes.join(node.name, NOON)
    await cut_off(one.store)
    await until(lambda: one.gaps)
    await two.store.notices.changed("m-1")
    await until(lambda: one.changes)
    await two.store.nodes.leave("two", NOON + 5)
    assert await two.store.nodes.join("two again", NOON + 9) is None  # one lives
    await one.store.notices.stop()
    await two.store.nodes.leave("two again", NOON + 10)
    assert await two.store.nodes.join("two once more", NOON + 11) is None  # still


async def test_who_only_listens_holds_nothing(pair: tuple[Node, Node]) -> None:
    one, two = pair
    await one.store.nodes.join("one", NOON)
    await one.store.nodes.leave("one", NOON + 5)
    assert await two.store.nodes.join("two", NOON + 9) == NOON + 5
    await two.store.notices.changed("m-1")
    await until(lambda: one.changes)


async def test_a_notice_outlives_the_writers_connection(pair: tuple[Node, Node]) -> None:
    one, two = pair
    match = await a_playing_match(one.store)
    await append(one.store, match, 0)
    for version in range(1, 6):
        await until(lambda version=version: (match.id, version) in two.changes)  # type: ignore[misc]
        writer: Any = one.store._database
        pid = writer._connection.get_server_pid()
        await look(
            two.store,
            lambda connection, pid=pid: connection.execute(text(f"SELECT pg_terminate_backend({pid})")).all(),
        )
        if version % 2:
            await append(one.store, match, version)
        else:
            await one.store.notices.changed(match.id)
            await append(one.store, match, version)
    await until(lambda: (match.id, 6) in two.changes)
    assert two.changes.count((match.id, None)) == 2


async def test_the_line_is_looked_at_even_when_it_is_silent(
    pair: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that leads nowhere any longer, without having been closed."""
    monkeypatch.setattr("app.store.line._PING_S", 0.05)
    one, two = pair
    await two.store.notices.stop()
    await two.listen()
    line: Any = two.store._database
    driver = (await line._line._connection.get_raw_connection()).driver_connection
    monkeypatch.setattr(type(driver), "fetchval", _never, raising=True)
    await until(lambda: two.gaps)
    monkeypatch.undo()
    await one.store.notices.changed("m-1")
    await until(lambda: two.changes)


async def _never(*_: object, **__: object) -> None:
    raise TimeoutError


# -------------------------------------------------------------------------------------------------- one server alone


async def test_a_server_alone_says_and_hears_nothing_and_works_the_same(store: Store) -> None:
    node = Node(store, "one")
    await node.listen()
    match = await a_playing_match(store)
    await append(store, match, 0)
    await store.notices.changed(match.id)
    store.notices.draft(match.id, A, Turn(1), BAR_AND_OFF)
    await asyncio.sleep(0.05)
    await store.notices.stop()
    assert (node.changes, node.drafts, node.gaps) == ([], [], 0)


async def test_versions_of_the_matches_that_a_server_shows(store: Store) -> None:
    players = await two_players(store)
    matches = [await a_playing_match(store, players) for _ in range(3)]
    await append(store, matches[1], 0)
    await append(store, matches[1], 1)
    of = [match.id for match in matches]
    assert await store.matches.versions([*of, "nobody"]) == dict(zip(of, [0, 2, 0], strict=True))
    assert await store.matches.versions([]) == {}
    many = [f"nobody-{i}" for i in range(2_500)]
    assert await store.matches.versions([*many, *of]) == dict(zip(of, [0, 2, 0], strict=True))
