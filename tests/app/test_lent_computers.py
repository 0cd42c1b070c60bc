"""Servers with different computers installed: whoever has one plays for it, and where none has it, that is said."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.engines.levels import Level, levels_here
from app.service.info import players_of
from app.settings import Settings
from app.store import Store
from app.store.matches import StoredMatch
from engine.bot import Heuristic
from engine.match import Left, PlayMade, Returned
from engine.ruleset import DEFAULT
from engine.turn import Seat, Seats
from tests.support.computers import only
from tests.support.nodes import is_server
from tests.support.server import QUICK, Display, LiveServer, Person, owes, person, running_server
from tests.support.stores import a_playing_match

BUILT_IN, CLUB, *_ = levels_here()
GONE = Level(
    "club", "bgsage club", "bgsage 1.0, 1ply, cubeless equity, 1"
)  # a release that nobody has any longer


@contextlib.asynccontextmanager
async def a_server(url: str, folder: Path, levels: Sequence[Level]) -> AsyncIterator[LiveServer]:
    async with running_server(url, folder, levels=levels) as server:
        yield server


async def a_match_with(server: LiveServer, anna: Person, level: Level, **changes: Any) -> StoredMatch:
    """A match of hers against this computer, which no server has in memory."""
    store: Store = server.services.matches._store
    made = await anna.post("/api/matches", {"opponent": "link"})
    maker = await store.matches.load(made["id"])
    assert maker is not None
    computer = await store.accounts.ensure_computer(level.name, level.version)
    return await a_playing_match(
        store,
        Seats(maker.maker, computer.id),
        ruleset=DEFAULT.changed({**QUICK, **changes}),
        computers=frozenset({Seat.B}),
        created_at=server.services.now(),
    )


async def begin(display: Display) -> None:
    await display.until(lambda: display.view)
    await display.commit_seed()
    await display.reveal_seed()
    await display.until_view(lambda v: v["stage"] == "playing", 25)


async def plays_of(server: LiveServer, match_id: str) -> Counter[tuple[str, str]]:
    """How often each seat has played in each turn, as it is stored."""
    rows = await server.services.matches._store.matches.events(match_id)
    assert [row.version for row in rows] == list(range(1, len(rows) + 1))
    made = (event for row in rows for event in row.events if isinstance(event, PlayMade))
    return Counter((event.seat.value, str(event.turn)) for event in made)


async def test_a_play_is_left_to_a_server_that_has_the_computer_and_made_once(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    """One server lacks it and has the match; two others have it, and neither has the match in memory."""
    url = migrated_postgres_url
    async with (
        a_server(url, tmp_path, [BUILT_IN]) as lacks,
        a_server(url, tmp_path, [BUILT_IN, CLUB]) as has,
        a_server(url, tmp_path, [CLUB]) as has_too,
        person(lacks, "Anna") as anna,
    ):
        match = await a_match_with(lacks, anna, CLUB)
        async with anna.display(match.id) as a:
            await begin(a)
            turn = a.view["turn"]
            await a.until_view(lambda v: v["seats"]["B"]["state"] != "thinking", 15)
            for _ in range(8):
                await a.until_view(lambda v: owes(v) or v["stage"] == "over", 20)
                turn = a.view["turn"]
                await a.play_something()
                await a.until_view(lambda v, turn=turn: v["turn"] != turn, 20)
            assert not a.info["computer_missing"]
            assert a.view["seats"]["B"]["connected"]
        found = await plays_of(lacks, match.id)
        assert set(found.values()) == {1}
        assert found["B", "1W"] == 1
        assert has.services.matches._rooms.keys() | has_too.services.matches._rooms.keys() >= {match.id}


async def test_a_server_that_dies_leaves_the_play_to_another_though_nobody_looks(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    """The computer owes a play, its server goes, and its opponent's browser does not come back."""
    url = migrated_postgres_url
    async with a_server(url, tmp_path, [BUILT_IN]) as stays, person(stays, "Anna") as anna:
        async with a_server(url, tmp_path, [BUILT_IN]) as lacks:
            match = await a_match_with(lacks, anna, CLUB)
            async with person(lacks, None) as there:
                there.http.cookies = anna.http.cookies
                async with there.display(match.id) as a:
                    await begin(a)
                    await a.play_something()
        assert match.id not in stays.services.matches._rooms
        async with a_server(url, tmp_path, [CLUB]) as has:
            async with asyncio.timeout(15):
                while (await plays_of(has, match.id))["B", "1W"] == 0:
                    await asyncio.sleep(0.1)


async def test_a_computer_that_no_server_has_is_said_to_be_missing_and_comes_back(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    """Its absence is like a player's (§8.3): it counts only while it owes a play, and ends when a server has it."""
    url = migrated_postgres_url
    async with a_server(url, tmp_path, [BUILT_IN]) as lacks, person(lacks, "Anna") as anna:
        match = await a_match_with(lacks, anna, CLUB)
        async with anna.display(match.id) as a, person(lacks, None) as visitor:
            await begin(a)
            assert a.info["computer_missing"], "from the first moment"
            assert (await visitor.get(f"/api/matches/{match.id}"))["computer_missing"]
            assert a.view["seats"]["B"]["connected"], "a moment is no absence"
            view = await a.until_view(lambda v: not v["seats"]["B"]["connected"], 15)
            assert view["seats"]["B"]["away_until"] is not None
            await a.play_something()
            async with a_server(url, tmp_path, [BUILT_IN, CLUB]):
                await a.until_view(lambda v: v["turn"] == "1K", 20)
                assert a.view["seats"]["B"]["connected"]
                assert a.view["seats"]["B"]["away_until"] is None
                await a.until(lambda: not a.info["computer_missing"], 15)
        rows = await lacks.services.matches._store.matches.events(match.id)
        gone = [event for row in rows for event in row.events if isinstance(event, Left | Returned)]
        of_b = [type(event) for event in gone if event.seat is Seat.B]
        assert of_b == [Left, Returned]
        assert set((await plays_of(lacks, match.id)).values()) == {1}


async def test_a_computer_that_stays_away_has_left_the_match(
    store_settings: Settings, tmp_path: Path
) -> None:
    """§8.1, §8.3: one game conceded, at its price. No rating moves: it is a computer."""
    url = store_settings.database_url
    levels = levels_here()
    async with person_and_match(url, tmp_path, levels) as (match_id, cookies):
        pass
    async with a_server(url, tmp_path, [BUILT_IN]) as lacks, person(lacks, None) as anna:
        anna.http.cookies = cookies
        async with anna.display(match_id) as a:
            await a.until(lambda: a.view)
            if owes(a.view):
                await a.play_something()
            await a.until_view(lambda v: v["stage"] == "over", 30)
            result = a.view["result"]
            assert (result["outcome"], result["by"], result["winner"]) == ("abandoned", "B", "A")
            assert result["points"]["A"] > 0
            assert result["rated"] is False
            assert a.info["ratings"] is None


@contextlib.asynccontextmanager
async def person_and_match(url: str, folder: Path, levels: Sequence[Level]) -> AsyncIterator[tuple[str, Any]]:
    """A match that has left its first phase behind, and the cookies of its player; then its server is gone."""
    async with a_server(url, folder, levels) as server, person(server, "Anna") as anna:
        match = await a_match_with(server, anna, CLUB, absence_s=4)
        async with anna.display(match.id) as a:
            await begin(a)
            while a.view["turn"] in ("1W", "1K"):
                await a.until_view(lambda v: owes(v) or v["turn"] == "2W", 20)
                if owes(a.view):
                    await a.play_something()
        cookies = anna.http.cookies
        matches = server.services.matches
        matches.computers._levels.pop(CLUB.key)  # what it thinks about now is never sent
    yield match.id, cookies


async def test_before_the_first_phase_is_played_such_a_match_is_aborted(
    store_settings: Settings, tmp_path: Path
) -> None:
    """§8.4"""
    async with (
        a_server(store_settings.database_url, tmp_path, [BUILT_IN]) as lacks,
        person(lacks, "Anna") as anna,
    ):
        match = await a_match_with(lacks, anna, GONE, absence_s=3)
        async with anna.display(match.id) as a:
            await begin(a)
            await a.play_something()
            await a.until_view(lambda v: v["stage"] == "over", 30)
            assert a.view["result"]["outcome"] == "aborted"
            assert a.view["dice"]["seed"]


async def test_without_a_clock_nobody_is_waited_for_by_the_second(
    store_settings: Settings, tmp_path: Path
) -> None:
    """§8.6: void after a day; the page says that the computer is missing, and asks nobody to hurry."""
    async with (
        a_server(store_settings.database_url, tmp_path, [BUILT_IN]) as lacks,
        person(lacks, "Anna") as anna,
    ):
        untimed = {"clock": {"type": "none"}, "time": {"mode": "off"}, "rated": False, "absence_s": 1}
        match = await a_match_with(lacks, anna, GONE, **untimed)
        async with anna.display(match.id) as a:
            await begin(a)
            await a.play_something()
            await a.until_view(lambda v: not v["seats"]["B"]["connected"], 15)
            await asyncio.sleep(2)
            assert a.view["stage"] == "playing"
            assert a.view["seats"]["B"]["away_until"] is None
            assert a.info["computer_missing"]


# --------------------------------------------------------------------------------------------------- as it is stored


async def test_it_is_stored_since_when_a_computer_has_something_to_play(store: Store) -> None:
    players = Seats(
        (await store.accounts.create_guest("Anna", 0)).id,
        (await store.accounts.ensure_computer(CLUB.name, CLUB.version)).id,
    )
    match = await a_playing_match(store, players, computers=frozenset({Seat.B}))
    me, other = {(CLUB.name, CLUB.version)}, {(CLUB.name, "0"), (BUILT_IN.name, BUILT_IN.version)}

    async def wait_since(at: int | None, after: int) -> None:
        await store.journal.append(
            match.id, after=after, command_id=None, at=5, events=(), deadline=None, computer_since=at
        )

    assert await store.matches.awaiting(me, 10_000, 10) == ()
    await wait_since(500, 0)
    assert await store.matches.awaiting(me, 499, 10) == ()
    assert await store.matches.awaiting(me, 500, 10) == (match.id,)
    assert await store.matches.awaiting(other, 500, 10) == ()
    assert await store.matches.awaiting(other | me, 500, 10) == (match.id,)
    await wait_since(None, 1)
    assert await store.matches.awaiting(me, 10_000, 10) == ()


async def test_servers_say_which_computers_they_have(store: Store, other_node: Store) -> None:
    club, built_in = (CLUB.name, CLUB.version), (BUILT_IN.name, BUILT_IN.version)
    await store.nodes.join("one", 0, {club, built_in})
    assert await store.nodes.computers("one") == set(), "of others"
    await store.nodes.sweep("one")
    if not is_server(store):
        return  # there is no other one
    await other_node.nodes.join("two", 0, {built_in})
    assert await store.nodes.computers("one") == {built_in}
    assert await other_node.nodes.computers("two") == {club, built_in}
    await other_node.nodes.leave("two", 0)
    assert await store.nodes.computers("one") == set()


@pytest.mark.parametrize(
    ("elsewhere", "missing"),
    [
        pytest.param(set(), True, id="nobody has it"),
        pytest.param({("bgsage club", "0")}, True, id="another release is another player"),
        pytest.param({(GONE.name, GONE.version)}, False, id="another server has it"),
    ],
)
async def test_a_computer_is_missing_where_no_server_has_it(
    store: Store, elsewhere: set[tuple[str, str]], missing: bool
) -> None:
    computers = only(Heuristic())
    computers.elsewhere = frozenset(elsewhere)
    players = Seats(
        (await store.accounts.create_guest("Anna", 0)).id,
        (await store.accounts.ensure_computer(GONE.name, GONE.version)).id,
    )
    match = await a_playing_match(store, players, computers=frozenset({Seat.B}))
    assert computers.is_missing_at(match, await players_of(store, [match], 0)) is missing
