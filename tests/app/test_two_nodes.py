"""Two servers over one PostgreSQL: one history, one roll a phase, displays alike wherever they are."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio

from tests.support.nodes import until
from tests.support.organising import an_owner
from tests.support.races import history_of
from tests.support.server import (
    QUICK,
    Display,
    LiveServer,
    Person,
    first_way,
    owes,
    person,
    play_to_the_end,
    running_server,
)


@dataclass
class Apart:
    """Anna at one server, Boris at the other."""

    match_id: str
    one: LiveServer
    two: LiveServer
    anna: Person
    boris: Person
    a: Display
    b: Display


@contextlib.asynccontextmanager
async def at(server: LiveServer, who: Person) -> AsyncIterator[Person]:
    """The same person, talking to this server."""
    async with person(server, None) as elsewhere:
        elsewhere.http.cookies = who.http.cookies
        yield elsewhere


@pytest_asyncio.fixture
async def apart(migrated_postgres_url: str, tmp_path: Path) -> AsyncIterator[Apart]:
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        one = await enter(running_server(migrated_postgres_url, tmp_path / "one"))
        two = await enter(running_server(migrated_postgres_url, tmp_path / "two"))
        anna = await enter(person(one, "Anna"))
        boris = await enter(person(two, "Boris"))
        made = await anna.post("/api/matches", {"ruleset": QUICK})
        a = await enter(anna.display(made["id"]))
        await a.until(lambda: a.info)
        await boris.post(f"/api/invites/{made['code']}/join")
        b = await enter(boris.display(made["id"]))
        await a.until(lambda: a.view, patience=10)
        await b.until(lambda: b.view)
        await asyncio.gather(a.commit_seed(), b.commit_seed())
        await asyncio.gather(a.reveal_seed(), b.reveal_seed())
        for display in (a, b):
            await display.until_view(lambda v: v["stage"] == "playing", 10)
        yield Apart(made["id"], one, two, anna, boris, a, b)


async def test_a_whole_match_across_two_servers(apart: Apart) -> None:
    async with person(apart.two, None) as visitor, visitor.display(apart.match_id) as x:
        await play_to_the_end(apart.a, apart.b, patience=90)
        await x.until_view(lambda v: v["stage"] == "over", 10)
        assert apart.a.view["result"] == apart.b.view["result"] == x.view["result"]
    rows = await apart.one.services.matches._store.matches.events(apart.match_id)
    assert [row.version for row in rows] == list(range(1, len(rows) + 1))
    opened = [event.turn for row in rows for event in row.events if type(event).__name__ == "PhaseOpened"]
    assert opened == sorted(set(opened))


async def test_a_draft_is_seen_on_the_other_server_by_one_who_has_played(apart: Apart) -> None:
    await apart.a.play_something()
    await apart.b.until_view(lambda v: v["seats"]["A"]["state"] == "played")
    way = first_way(apart.b.view["mine"]["steps"])
    await apart.b.send(type="draft", turn="1W", moves=way[:1])
    view = await apart.a.until_view(lambda v: v["theirs"] and v["theirs"]["draft"])
    assert [move[:2] for move in view["theirs"]["draft"]] == way[:1]


async def test_a_draft_is_not_seen_on_the_other_server_by_one_who_has_not_played(apart: Apart) -> None:
    frames = len(apart.b.frames)
    await apart.a.send(type="draft", turn="1W", moves=first_way(apart.a.view["mine"]["steps"])[:1])
    await asyncio.sleep(0.5)
    assert [frame for frame in apart.b.frames[frames:] if frame["type"] != "ping"] == []


async def test_the_same_play_sent_to_both_servers_is_one(apart: Apart) -> None:
    """CASES D2, D3. Resent elsewhere with its id, it is answered as the first time."""
    async with at(apart.two, apart.anna) as anna, anna.display(apart.match_id) as second:
        await second.until(lambda: second.view)
        for _ in range(6):
            turn = apart.a.view["turn"]
            if owes(apart.a.view):
                way = first_way(apart.a.view["mine"]["steps"])
                answers = await asyncio.gather(
                    apart.a.play(way, turn, id=f"p{turn}"), second.play(way, turn, id=f"p{turn}")
                )
                assert [answer["type"] for answer in answers] == ["accepted", "accepted"]
            if owes(apart.b.view) and apart.b.view["turn"] == turn:
                await apart.b.play_something()
            for display in (apart.a, apart.b, second):
                await display.until_view(lambda v, turn=turn: v["turn"] != turn)
    rows = await apart.one.services.matches._store.matches.events(apart.match_id)
    ids = [row.command_id for row in rows if row.command_id]
    assert len(ids) == len(set(ids))


async def test_a_whole_match_in_which_both_send_every_play_to_both_servers(apart: Apart) -> None:
    """CASES D1, D2, D3: four messages in one moment are two plays, each answered twice, and one new roll."""
    async with at(apart.two, apart.anna) as anna, at(apart.one, apart.boris) as boris:
        async with anna.display(apart.match_id) as a2, boris.display(apart.match_id) as b2:
            everyone, sent = (apart.a, a2, apart.b, b2), 0
            for display in everyone:
                await display.until(lambda d=display: d.view)
            while not all(display.view["stage"] == "over" for display in everyone):
                turn = max((display.view["turn"] for display in everyone), key=_order)
                for display in everyone:
                    await display.until_view(lambda v, turn=turn: _order(v["turn"]) >= _order(turn), 10)
                sending = [
                    display.play(first_way(display.view["mine"]["steps"]), turn, id=f"p{turn}")
                    for display in everyone
                    if display.view["turn"] == turn and owes(display.view)
                ]
                answers = await asyncio.gather(*sending)
                assert [answer["type"] for answer in answers] == ["accepted"] * len(sending)
                sent += len(sending)
                for display in everyone:
                    await display.until_view(
                        lambda v, turn=turn: v["turn"] != turn or v["stage"] == "over", 10
                    )
    found = await history_of(apart.one.services.matches._store, apart.match_id)
    assert found.score is not None
    assert sent > 80


def _order(turn: str) -> tuple[int, str]:
    return int(turn[:-1]), {"W": "a", "K": "b"}[turn[-1]]


async def test_who_is_connected_elsewhere_is_not_gone(apart: Apart) -> None:
    async with at(apart.two, apart.anna) as anna, anna.display(apart.match_id) as second:
        await second.until(lambda: second.view)
        await apart.a.connection.close()
        await asyncio.sleep(0.4)
        assert apart.b.view["seats"]["A"]["connected"]
    view = await apart.b.until_view(lambda v: not v["seats"]["A"]["connected"])
    assert view["seats"]["A"]["away_until"]


async def test_a_joined_match_starts_on_the_page_that_waits_elsewhere(apart: Apart) -> None:
    async with at(apart.two, apart.anna) as elsewhere:
        made = await apart.anna.post("/api/matches", {"ruleset": QUICK})
        async with elsewhere.display(made["id"]) as waiting:
            await waiting.until(lambda: waiting.info)
            async with at(apart.one, apart.boris) as boris:
                await boris.post(f"/api/invites/{made['code']}/join")
            await waiting.until(lambda: waiting.info["state"] == "playing")
            await waiting.until(lambda: waiting.view)


async def test_a_link_renewed_at_one_server_closes_what_the_old_one_opened_at_another(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        one = await enter(running_server(migrated_postgres_url, tmp_path / "one"))
        two = await enter(running_server(migrated_postgres_url, tmp_path / "two"))
        admin = await enter(an_owner(one))
        await admin.post("{e}/open-entry")
        (line,) = (await admin.take_in(b"name\nGleb\n"))["lines"]
        gleb, boris = await enter(person(two, None)), await enter(person(two, "Boris"))
        await gleb.post("/api/session/link", {"link": line["link"]})
        made = await gleb.post("/api/matches", {"opponent": "anyone", "ruleset": QUICK})
        await boris.post(f"/api/invites/{made['code']}/join")
        shown = [await enter(who.display(made["id"])) for who in (gleb, boris)]
        for display in shown:
            await display.until(lambda d=display: d.view)
        await admin.post("{e}/entrants/1/link", {})
        assert await shown[0].closed(patience=10) == 1008
        assert shown[0].frames[-1]["reason"] == "revoked"
        await shown[1].until_view(lambda v: not v["seats"]["A"]["connected"])
        assert (await gleb.get("/api/session"))["player"] is None


async def test_whoever_waits_at_one_server_is_told_of_words_that_came_to_another(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        enter = stack.enter_async_context
        one = await enter(running_server(migrated_postgres_url, tmp_path / "one"))
        two = await enter(running_server(migrated_postgres_url, tmp_path / "two"))
        owner = await enter(person(one, "Vera"))
        visitor = await enter(person(two, None))
        made = await owner.post("/api/admin/v1/events", {"title": {"en": "Cup"}})
        path = f"/api/competitions/{made['id']}"
        mark = (await visitor.get(path))["mark"]
        waits = asyncio.create_task(visitor.get(f"{path}/changes?mark={mark}"))
        waiting = two.services.competitions._waiting
        await until(lambda: made["id"] in waiting)
        answer = await owner.http.patch(f"/api/admin/v1/events/{made['id']}", json={"title": {"en": "Other"}})
        assert answer.status_code == 200
        assert (await waits)["mark"] != mark
        assert (await visitor.get(path))["competition"]["title"]["en"] == "Other"
